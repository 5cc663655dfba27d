//===- Session.cpp - Steps on global arrays -------------------------------===//

#include "amsp/Run/Session.h"

#include "amsp/Run/Element.h"

#include "amsp/Runtime/DType.h"

#include "amsp/Runtime/RingModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstdlib>
#include <cstring>

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

static constexpr size_t bufferAlignment = 64;

Session::Session(const Manifest &manifest, bool poison,
                 runtime::Processes *processes)
    : manifest(manifest), poison(poison), processes(processes) {
  if (processes)
    localRanks.push_back(processes->rank());
  else
    append_range(localRanks, seq<int64_t>(manifest.world));
}

void Session::FreeDeleter::operator()(char *memory) const { std::free(memory); }

/// Makes the local buffers of values. Results that are state have none: their
/// values are in the arguments' buffers.
Error Session::bind(const std::vector<Value> &values, bool areResults,
                    std::vector<BoundValue> &bound) {
  for (const Value &value : values) {
    BoundValue entry{&value, cantFail(PieceLayout::of(value)), {}};
    size_t bytes = alignTo(entry.layout.localBytes() + 1, bufferAlignment);
    bool hasBuffers = !(areResults && value.partner);
    for (size_t local = 0; hasBuffers && local < localRanks.size(); ++local) {
      auto *memory =
          static_cast<char *>(std::aligned_alloc(bufferAlignment, bytes));
      if (!memory)
        return createStringError("no memory for " + value.describe() + " (" +
                                 Twine(bytes) + " bytes a rank)");
      std::memset(memory, 0, bytes);
      entry.buffers.emplace_back(memory);
    }
    bound.push_back(std::move(entry));
  }
  return Error::success();
}

static std::vector<runtime::CollectiveLabel>
labelsOf(const Manifest &manifest) {
  std::vector<runtime::CollectiveLabel> labels(manifest.collectives.size());
  for (const Collective &collective : manifest.collectives) {
    if (collective.id < 0 ||
        collective.id >= static_cast<int64_t>(labels.size()))
      continue;
    std::vector<int64_t> members(manifest.levels.size(), 1);
    runtime::addMembersByLevel(collective.digits, manifest.levels, members);
    runtime::CollectiveLabel &label = labels[collective.id];
    label.unit = collective.unit;
    for (auto [level, count] : enumerate(members))
      if (count > 1)
        label.level = static_cast<int64_t>(level);
  }
  return labels;
}

Expected<std::unique_ptr<Session>>
Session::create(const StepLibrary &library,
                const runtime::WorldOptions &options,
                runtime::Processes *processes) {
  const Manifest &manifest = library.manifest;
  std::unique_ptr<Session> session(
      new Session(manifest, options.poisonArena, processes));
  if (Error error =
          session->bind(manifest.arguments, false, session->arguments))
    return std::move(error);
  if (Error error = session->bind(manifest.results, true, session->results))
    return std::move(error);
  auto pointer = [](const BoundValue &value, size_t local) -> void * {
    return value.buffers.empty() ? nullptr : value.buffers[local].get();
  };
  for (size_t local = 0; local < session->localRanks.size(); ++local) {
    runtime::RankBuffers &own = session->rankBuffers.emplace_back();
    for (const BoundValue &argument : session->arguments)
      own.arguments.push_back(pointer(argument, local));
    for (const BoundValue &result : session->results)
      own.results.push_back(pointer(result, local));
  }
  std::vector<runtime::RankProgram> programs(
      session->localRanks.size(),
      {library.step, manifest.identity(), manifest.arenaBytes});
  runtime::WorldOptions labelled = options;
  labelled.labels = labelsOf(manifest);
  std::string message;
  session->ranks =
      runtime::World::create(programs, labelled, message, processes);
  if (!session->ranks)
    return createStringError(message);
  return session;
}

static Error checkArray(const NpzReader &file, const Value &value,
                        const NpyHeader &header) {
  if (ArrayRef(header.shape) != ArrayRef(value.shape))
    return createStringError(file.path() + ": " + value.describe() +
                             " has shape " + shapeText(header.shape) +
                             ", the step takes " + shapeText(value.shape));
  StringRef expected = npyDescr(value.dtype);
  if (header.descr == expected)
    return Error::success();
  std::string wanted = numpyTypeName(expected);
  if (value.dtype == AMSP_BF16)
    wanted += " (the bits of bfloat16)";
  return createStringError(file.path() + ": " + value.describe() +
                           " has type " + numpyTypeName(header.descr) +
                           ", the step takes " + wanted);
}

Error Session::checkInputs(const NpzReader &file, Needs needs) const {
  StringSet<> known;
  for (const BoundValue &argument : arguments) {
    const Value &value = *argument.value;
    Need need = needs(value);
    if (need == Need::Refused)
      continue;
    known.insert(value.id);
    bool isPresent = is_contained(file.names(), value.id);
    if (need == Need::Ignored && !isPresent)
      continue;
    if (!isPresent)
      return createStringError(file.path() + ": " + value.describe() +
                               " is missing: the step takes " +
                               numpyTypeName(npyDescr(value.dtype)) +
                               " of shape " + shapeText(value.shape));
    Expected<std::unique_ptr<NpzEntry>> entry = file.entry(value.id);
    if (!entry)
      return entry.takeError();
    if (Error error = checkArray(file, value, (*entry)->header()))
      return error;
  }
  for (const std::string &name : file.names())
    if (!known.contains(name))
      return createStringError(file.path() + ": the step takes no '" + name +
                               "' from this file");
  return Error::success();
}

Error Session::load(const NpzReader &file, BoundValue &argument) {
  Expected<std::unique_ptr<NpzEntry>> entry = file.entry(argument.value->id);
  if (!entry)
    return entry.takeError();
  std::vector<char> global(argument.layout.globalBytes());
  if (Error error = (*entry)->read(global))
    return error;
  if (Error error = (*entry)->finish())
    return error;
  for (auto [local, rank] : enumerate(localRanks))
    argument.layout.cut(rank, global, argument.local(local));
  return Error::success();
}

Error Session::loadInputs(const NpzReader &file, Needs needs) {
  if (Error error = checkInputs(file, needs))
    return error;
  for (BoundValue &argument : arguments)
    if (needs(*argument.value) == Need::Required)
      if (Error error = load(file, argument))
        return error;
  return Error::success();
}

void Session::poisonBuffers() {
  for (auto [local, rank] : enumerate(localRanks)) {
    for (BoundValue &argument : arguments)
      argument.layout.poisonPadding(rank, argument.local(local));
    for (BoundValue &result : results)
      if (!result.buffers.empty())
        fill(result.local(local), '\xFF');
  }
}

std::optional<runtime::RunError> Session::runStep() {
  if (poison)
    poisonBuffers();
  return ranks->runStep(rankBuffers);
}

std::vector<ScalarResult> Session::scalarResults() const {
  std::vector<ScalarResult> scalars;
  for (const BoundValue &result : results) {
    const Value &value = *result.value;
    bool isWhole = value.placement.kind == Placement::Kind::Replicated;
    if (!value.partner && value.shape.empty() && isFloat(value.dtype) &&
        isWhole)
      scalars.push_back(
          {value.id, readElement(value.dtype, result.local(0).data())});
  }
  return scalars;
}

const Session::BoundValue &Session::holderOf(const BoundValue &result) const {
  std::optional<int64_t> partner = result.value->partner;
  return partner ? arguments[*partner] : result;
}

/// Puts the pieces of a value together, on rank 0 where there are several
/// processes. False when the run failed.
bool Session::collect(const BoundValue &value,
                      MutableArrayRef<char> global) const {
  std::vector<int64_t> owners = value.layout.owners(manifest.world);
  if (!processes) {
    for (int64_t rank : owners)
      value.layout.paste(rank, value.local(rank), global);
    return true;
  }
  bool isWriter = processes->rank() == 0;
  std::vector<char> piece(isWriter ? value.layout.localBytes() : 0);
  for (int64_t rank : owners) {
    if (!processes->transfer(rank, 0, value.local(0).data(), piece.data(),
                             value.layout.localBytes()))
      return false;
    if (isWriter)
      value.layout.paste(rank, piece, global);
  }
  return true;
}

std::vector<char> Session::readResult(size_t index) const {
  const BoundValue &holder = holderOf(results[index]);
  std::vector<char> global(holder.layout.globalBytes());
  collect(holder, global);
  return global;
}

Error Session::writeArchive(NpzWriter &writer) const {
  for (const BoundValue &result : results) {
    const Value &value = *result.value;
    auto fill = [this,
                 &holder = holderOf(result)](MutableArrayRef<char> global) {
      return collect(holder, global);
    };
    if (Error error = writer.add(value.id, value.dtype, value.shape, fill))
      return error;
  }
  return writer.finish();
}

Error Session::writeOutputs(StringRef path) const {
  if (processes && processes->rank() != 0) {
    for (const BoundValue &result : results)
      if (!collect(holderOf(result), {}))
        return createStringError(processes->error()->str());
    return Error::success();
  }
  Expected<std::unique_ptr<NpzWriter>> writer = NpzWriter::create(path);
  return endWriting(writer ? writeArchive(**writer) : writer.takeError());
}

/// What rank 0 says after it wrote for all.
Error Session::endWriting(Error error) const {
  if (!error || !processes)
    return error;
  // The others wait to hand over their pieces, unless they know.
  std::string message = toString(std::move(error));
  processes->fail(message);
  return createStringError(processes->error()->message == message
                               ? message
                               : processes->error()->str());
}
