//===- SessionState.cpp - Saves and loads the state of a session ----------===//

#include "amsp/Run/Session.h"

#include "amsp/Run/Npy.h"
#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

/// The exported program's name for an argument, where no other has it.
std::vector<std::pair<std::string, const Session::BoundValue *>>
Session::namedState() const {
  StringMap<unsigned> uses;
  for (const BoundValue &argument : arguments)
    if (argument.value->isState())
      ++uses[argument.value->name];
  std::vector<std::pair<std::string, const BoundValue *>> named;
  for (const BoundValue &argument : arguments) {
    const Value &value = *argument.value;
    if (!value.isState())
      continue;
    bool isNamed = !value.name.empty() && uses[value.name] == 1;
    named.emplace_back(isNamed ? value.name : value.id, &argument);
  }
  return named;
}

Error Session::load(const CheckpointReader &checkpoint, StringRef name,
                    const BoundValue &argument) {
  const Value &value = *argument.value;
  const SafetensorsEntry *entry = checkpoint.find(name);
  auto typeText = [](amsp_dtype dtype, ArrayRef<int64_t> shape) {
    return std::string(runtime::nameOf(dtype)) + " of shape " +
           shapeText(shape);
  };
  std::string wanted = typeText(value.dtype, value.shape);
  if (!entry)
    return createStringError(checkpoint.path() + ": has no '" + name +
                             "'; the step takes " + wanted);
  if (entry->dtype != value.dtype || entry->shape != value.shape)
    return createStringError(checkpoint.path() + ": '" + name + "' is " +
                             typeText(entry->dtype, entry->shape) +
                             ", the step takes " + wanted);
  Error error = Error::success();
  for (auto [local, rank] : enumerate(localRanks)) {
    MutableArrayRef<char> buffer = argument.local(local);
    argument.layout.forEachRow(
        rank, [&](int64_t from, int64_t to, int64_t bytes) {
          if (!error)
            error = checkpoint.read(name, from, buffer.slice(to, bytes));
        });
  }
  return error;
}

Error Session::loadState(const CheckpointReader &checkpoint) {
  for (const auto &[name, argument] : namedState())
    if (Error error = load(checkpoint, name, *argument))
      return error;
  return Error::success();
}

/// All ranks hand their pieces to the writer, which rank 0 has.
Error Session::writePieces(CheckpointWriter *writer) const {
  std::vector<char> received;
  for (const auto &[tensor, entry] : enumerate(namedState())) {
    const BoundValue &value = *entry.second;
    for (int64_t owner : value.layout.owners(manifest.world)) {
      ArrayRef<char> piece = value.local(processes ? 0 : owner);
      if (processes) {
        received.resize(writer ? piece.size() : 0);
        if (!processes->transfer(owner, 0, piece.data(), received.data(),
                                 static_cast<int64_t>(piece.size())))
          return createStringError(processes->error()->str());
        piece = received;
      }
      if (!writer)
        continue;
      Error error = Error::success();
      value.layout.forEachRow(
          owner, [&, number = tensor](int64_t to, int64_t from, int64_t bytes) {
            if (!error)
              error = writer->write(number, to, piece.slice(from, bytes));
          });
      if (error)
        return error;
    }
  }
  return writer ? writer->finish() : Error::success();
}

Error Session::saveState(StringRef directory, RunPosition position) const {
  if (processes && processes->rank() != 0)
    return writePieces(nullptr);
  std::vector<CheckpointTensor> tensors;
  for (const auto &[name, argument] : namedState())
    tensors.push_back({name, argument->value->dtype, argument->value->shape});
  Expected<std::unique_ptr<CheckpointWriter>> writer =
      CheckpointWriter::create(directory, tensors, position);
  return endWriting(writer ? writePieces(writer->get()) : writer.takeError());
}
