//===- StateOf.cpp - The state that another step trains -------------------===//

#include "StateOf.h"
#include "StepArguments.h"
#include "amsp-c/Step.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <dlfcn.h>

using namespace mlir;
using namespace amsp;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

/// The manifest's text: the file's content, or what a compiled step says.
static llvm::Expected<std::string> readManifest(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError(path + ": " + file.getError().message());
  StringRef content = (*file)->getBuffer();
  if (content.ltrim().starts_with("{"))
    return content.str();
  SmallString<256> absolute = path;
  if (std::error_code code = llvm::sys::fs::make_absolute(absolute))
    return llvm::createStringError(path + ": " + code.message());
  // Lazily: the runtime that the step calls is not here.
  void *handle = dlopen(absolute.c_str(), RTLD_LAZY | RTLD_LOCAL);
  const auto *step =
      handle ? static_cast<const amsp_step *>(dlsym(handle, AMSP_STEP_SYMBOL))
             : nullptr;
  if (!step || step->abi_version != AMSP_STEP_ABI_VERSION)
    return llvm::createStringError(
        path + ": neither a compiled step of this version nor a manifest");
  return std::string(step->manifest);
}

static Type parseElementType(MLIRContext *context, StringRef text) {
  Builder builder(context);
  if (text == "f64")
    return builder.getF64Type();
  if (text == "f32")
    return builder.getF32Type();
  if (text == "f16")
    return builder.getF16Type();
  if (text == "bf16")
    return builder.getBF16Type();
  bool isUnsigned = text.consume_front("u");
  unsigned width;
  if ((!isUnsigned && !text.consume_front("i")) || text.getAsInteger(10, width))
    return {};
  return IntegerType::get(context, width,
                          isUnsigned ? IntegerType::Unsigned
                                     : IntegerType::Signless);
}

static std::optional<SmallVector<int64_t>>
readIntegers(const json::Array *array) {
  if (!array)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const json::Value &value : *array) {
    std::optional<int64_t> integer = value.getAsInteger();
    if (!integer)
      return std::nullopt;
    values.push_back(*integer);
  }
  return values;
}

static DictionaryAttr readStrategy(MLIRContext *context,
                                   const json::Object *factors, bool isFrozen) {
  if (!factors)
    return {};
  Builder builder(context);
  SmallVector<NamedAttribute> attributes;
  for (StringRef state : {"p", "g", "os"}) {
    auto list = readIntegers(factors->getArray(isFrozen ? "p" : state));
    if (!list)
      return {};
    attributes.emplace_back(state, builder.getDenseI64ArrayAttr(*list));
  }
  return builder.getDictionaryAttr(attributes);
}

/// Nothing if the manifest does not describe the value as it should.
static std::optional<TrainedValue> readValue(MLIRContext *context,
                                             const json::Object &argument,
                                             const json::Object &units,
                                             Role role) {
  TrainedValue value;
  value.role = role;
  value.name = argument.getString("name").value_or("").str();
  value.unit = argument.getString("unit").value_or("").str();
  Type element =
      parseElementType(context, argument.getString("dtype").value_or(""));
  auto shape = readIntegers(argument.getArray("shape"));
  if (!element || !shape)
    return std::nullopt;
  value.type = RankedTensorType::get(*shape, element);
  if (const json::Object *placement = argument.getObject("placement"))
    value.keep = placement->getInteger("keep").value_or(0);
  if (value.unit.empty())
    return value;
  bool isFrozen = !argument.getInteger("result");
  value.strategy = readStrategy(context, units.getObject(value.unit), isFrozen);
  if (!value.strategy)
    return std::nullopt;
  return value;
}

llvm::Expected<TrainedState> amsp::readTrainedState(StringRef path,
                                                    MLIRContext *context) {
  llvm::Expected<std::string> text = readManifest(path);
  if (!text)
    return text.takeError();
  auto bad = [&](const Twine &what) {
    return llvm::createStringError(path + ": the manifest " + what);
  };
  llvm::Expected<json::Value> parsed = json::parse(*text);
  if (!parsed)
    return bad("is no JSON: " + toString(parsed.takeError()));
  const json::Object *manifest = parsed->getAsObject();
  const json::Array *arguments =
      manifest ? manifest->getArray("arguments") : nullptr;
  const json::Object *units = manifest ? manifest->getObject("units") : nullptr;
  auto levels = readIntegers(manifest ? manifest->getArray("levels") : nullptr);
  if (!arguments || !units || !levels)
    return bad("has no arguments, units or levels");
  TrainedState state;
  state.levels = std::move(*levels);
  for (auto [index, entry] : llvm::enumerate(*arguments)) {
    const json::Object *argument = entry.getAsObject();
    std::optional<Role> role =
        argument ? symbolizeRole(argument->getString("role").value_or(""))
                 : std::nullopt;
    if (!role)
      return bad("does not describe argument " + Twine(index));
    if (*role != Role::Param && *role != Role::OptState && *role != Role::State)
      continue;
    std::optional<TrainedValue> value =
        readValue(context, *argument, *units, *role);
    if (!value)
      return bad("does not describe argument " + Twine(index));
    state.values.push_back(std::move(*value));
  }
  return state;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// A tree path without the tree's own name: `['h'][0].w`.
static StringRef getPath(StringRef name) {
  size_t begin = name.find_first_of("[.");
  return begin == StringRef::npos ? StringRef() : name.drop_front(begin);
}

FailureOr<SmallVector<const TrainedValue *>>
amsp::matchArguments(func::FuncOp step, const TrainedState &state) {
  SmallVector<const TrainedValue *> matched(step.getNumArguments());
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto loc = dyn_cast<NameLoc>(argument.getLoc());
    if (!loc)
      continue;
    StringRef name = loc.getName();
    SmallVector<const TrainedValue *> found;
    for (const TrainedValue &value : state.values)
      if (value.name == name)
        found.push_back(&value);
    if (found.size() == 1 && found.front()->type != argument.getType())
      return step.emitError("argument ")
             << index << " '" << name << "' is " << argument.getType()
             << ", the trained value is " << found.front()->type;
    if (found.empty() && !getPath(name).empty())
      for (const TrainedValue &value : state.values)
        if (value.role == Role::Param && getPath(value.name) == getPath(name) &&
            value.type == argument.getType())
          found.push_back(&value);
    if (found.size() > 1)
      return step.emitError("argument ")
             << index << " '" << name
             << "' may be each of several trained values, '" << found[0]->name
             << "' and '" << found[1]->name << "' at least";
    matched[index] = found.empty() ? nullptr : found.front();
  }
  return matched;
}

FailureOr<SmallVector<const TrainedValue *>>
amsp::matchResults(func::FuncOp step, const TrainedState &state) {
  SmallVector<const TrainedValue *> matched(step.getNumResults());
  for (auto [index, value] : llvm::enumerate(state.values)) {
    if (index < step.getNumResults() &&
        step.getResultTypes()[index] == value.type) {
      matched[index] = &value;
      continue;
    }
    InFlightDiagnostic error =
        step.emitError("neither an evaluation step, as no argument is a "
                       "trained value, nor an initialisation step: trained "
                       "value '")
        << value.name << "' is " << value.type << ", ";
    if (index < step.getNumResults())
      return error << "result " << index << " is "
                   << step.getResultTypes()[index];
    return error << "and there are " << step.getNumResults() << " results";
  }
  return matched;
}
