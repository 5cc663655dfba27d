//===- Manifest.cpp - What a compiled step says of itself -----------------===//

#include "amsp/Run/Manifest.h"

#include "amsp/Run/PieceLayout.h"
#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

// Found by argument-dependent lookup, so in amsp_digit's own namespace.
static bool fromJSON(const json::Value &from, amsp_digit &to, json::Path path) {
  const json::Array *pair = from.getAsArray();
  if (!pair || pair->size() != 2) {
    path.report("expected [stride, size]");
    return false;
  }
  return json::fromJSON((*pair)[0], to.stride, path.index(0)) &&
         json::fromJSON((*pair)[1], to.size, path.index(1));
}

static bool fromJSON(const json::Value &from, amsp_dtype &to, json::Path path) {
  std::optional<StringRef> text = from.getAsString();
  std::optional<amsp_dtype> dtype =
      text ? runtime::parseDType(*text) : std::nullopt;
  if (!dtype) {
    path.report("expected an element type");
    return false;
  }
  to = *dtype;
  return true;
}

namespace amsp::run {

static bool fromJSON(const json::Value &from, Placement &to, json::Path path) {
  json::ObjectMapper object(from, path);
  std::string kind;
  if (!object || !object.map("kind", kind))
    return false;
  if (kind == "replicated")
    return true;
  if (kind == "split") {
    to.kind = Placement::Kind::Split;
    return object.map("dim", to.dim) && object.map("digits", to.digits);
  }
  if (kind == "flat") {
    to.kind = Placement::Kind::Flat;
    return object.map("keep", to.keep) && object.map("digits", to.digits) &&
           object.map("piece", to.piece);
  }
  path.field("kind").report("expected replicated, split or flat");
  return false;
}

static bool fromJSON(const json::Value &from, Value &to, json::Path path) {
  json::ObjectMapper object(from, path);
  std::optional<std::string> name;
  std::optional<int64_t> argument, result;
  if (!object || !object.map("name", name) || !object.map("role", to.role) ||
      !object.map("dtype", to.dtype) || !object.map("shape", to.shape) ||
      !object.map("local_shape", to.localShape) ||
      !object.map("placement", to.placement) ||
      !object.map("argument", argument) || !object.map("result", result))
    return false;
  to.name = name.value_or("");
  to.partner = argument ? argument : result;
  return true;
}

static bool fromJSON(const json::Value &from, Collective &to, json::Path path) {
  json::ObjectMapper object(from, path);
  std::optional<std::string> unit;
  if (!object || !object.map("id", to.id) || !object.map("name", to.name) ||
      !object.map("digits", to.digits) || !object.map("unit", unit) ||
      !object.map("kind", to.kind) || !object.map("dtype", to.dtype) ||
      !object.map("bytes", to.bytes))
    return false;
  to.unit = unit.value_or("");
  return true;
}

static bool fromJSON(const json::Value &from, Manifest &to, json::Path path) {
  json::ObjectMapper object(from, path);
  int64_t version = 0;
  if (!object || !object.map("version", version))
    return false;
  if (version != 1) {
    path.field("version").report("expected version 1");
    return false;
  }
  return object.map("name", to.name) &&
         object.map("program_hash", to.programHash) &&
         object.map("levels", to.levels) && object.map("world", to.world) &&
         object.map("arena_bytes", to.arenaBytes) &&
         object.map("state_bytes", to.stateBytes) &&
         object.map("arguments", to.arguments) &&
         object.map("results", to.results) &&
         object.map("collectives", to.collectives);
}

} // namespace amsp::run

std::string Collective::describe() const {
  std::string text;
  raw_string_ostream stream(text);
  stream << "'" << name << "' (id " << id << ", " << kind << " of " << dtype
         << ", " << bytes << " bytes over [";
  interleaveComma(digits, stream, [&](const amsp_digit &digit) {
    stream << "[" << digit.stride << ", " << digit.size << "]";
  });
  stream << "])";
  return text;
}

runtime::ProgramIdentity Manifest::identity() const {
  runtime::ProgramIdentity identity;
  identity.hash = programHash;
  for (const Collective &collective : collectives)
    identity.collectives.push_back(collective.describe());
  return identity;
}

std::string Value::describe() const {
  return name.empty() ? id : id + " ('" + name + "')";
}

static Error manifestError(const Twine &message) {
  return createStringError("the manifest: " + message);
}

static Error checkValues(std::vector<Value> &values, StringRef prefix,
                         int64_t world) {
  for (auto [index, value] : enumerate(values)) {
    value.id = (prefix + Twine(index)).str();
    std::string problem = runtime::checkDigits(value.placement.digits, world);
    if (!problem.empty())
      return manifestError(value.describe() + ": " + problem);
    if (Expected<PieceLayout> layout = PieceLayout::of(value); !layout)
      return manifestError(toString(layout.takeError()));
  }
  return Error::success();
}

static bool placedAlike(const Value &left, const Value &right) {
  auto digitsEqual = [](const amsp_digit &a, const amsp_digit &b) {
    return a.stride == b.stride && a.size == b.size;
  };
  const Placement &a = left.placement, &b = right.placement;
  return left.dtype == right.dtype && left.shape == right.shape &&
         a.kind == b.kind && a.dim == b.dim && a.keep == b.keep &&
         a.piece == b.piece && llvm::equal(a.digits, b.digits, digitsEqual);
}

/// Each of `values` that has a partner must be its partner's, and be placed
/// as it is.
static Error checkPartners(const std::vector<Value> &values,
                           const std::vector<Value> &partners) {
  for (auto [index, value] : enumerate(values)) {
    if (!value.partner)
      continue;
    int64_t partner = *value.partner;
    if (partner < 0 || partner >= static_cast<int64_t>(partners.size()) ||
        partners[partner].partner != static_cast<int64_t>(index))
      return manifestError(value.describe() +
                           " is state, but is not paired with its value of "
                           "the next step");
    if (!placedAlike(value, partners[partner]))
      return manifestError(value.describe() +
                           " differs in type or placement "
                           "from " +
                           partners[partner].describe());
  }
  return Error::success();
}

int64_t Manifest::interfaceBytes() const {
  int64_t bytes = 0;
  for (const Value &argument : arguments)
    bytes += cantFail(PieceLayout::of(argument)).localBytes();
  for (const Value &result : results)
    if (!result.partner)
      bytes += cantFail(PieceLayout::of(result)).localBytes();
  return bytes;
}

Expected<Manifest> run::parseManifest(StringRef text) {
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return manifestError(toString(parsed.takeError()));
  Manifest manifest;
  json::Path::Root root("manifest");
  if (!fromJSON(*parsed, manifest, root))
    return root.getError();
  int64_t product = 1;
  for (int64_t level : manifest.levels)
    product *= level;
  if (manifest.world < 1 || product != manifest.world)
    return manifestError("the levels do not make a world of " +
                         Twine(manifest.world) + " ranks");
  if (manifest.arenaBytes < 0)
    return manifestError("arena_bytes is negative");
  if (Error error = checkValues(manifest.arguments, "arg", manifest.world))
    return std::move(error);
  if (Error error = checkValues(manifest.results, "out", manifest.world))
    return std::move(error);
  if (Error error = checkPartners(manifest.arguments, manifest.results))
    return std::move(error);
  if (Error error = checkPartners(manifest.results, manifest.arguments))
    return std::move(error);
  return manifest;
}
