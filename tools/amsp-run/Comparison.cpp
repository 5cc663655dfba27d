//===- Comparison.cpp - Two builds of a step, side by side ----------------===//

#include "Comparison.h"

#include "amsp/Run/Element.h"
#include "amsp/Run/Npy.h"
#include "amsp/Runtime/DType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace amsp;
using namespace amsp::run;
using namespace llvm;

static Error compareValues(StringRef path, ArrayRef<Value> values,
                           ArrayRef<Value> references, StringRef kind) {
  if (values.size() != references.size())
    return createStringError("--compare " + path + ": has " +
                             Twine(references.size()) + " " + kind +
                             "s, the step has " + Twine(values.size()));
  for (auto [value, other] : zip_equal(values, references)) {
    if (value.dtype == other.dtype && value.shape == other.shape &&
        value.partner == other.partner)
      continue;
    auto text = [](const Value &value) {
      return std::string(runtime::nameOf(value.dtype)) + " of shape " +
             shapeText(value.shape) + (value.partner ? ", state" : "");
    };
    return createStringError("--compare " + path + ": " + value.describe() +
                             " is " + text(other) + ", the step has " +
                             text(value));
  }
  return Error::success();
}

Expected<std::unique_ptr<Comparison>>
Comparison::create(const Options &options, const StepLibrary &step) {
  Expected<StepLibrary> library = StepLibrary::load(options.compare);
  if (!library)
    return library.takeError();
  if (Error error = compareValues(options.compare, step.manifest.arguments,
                                  library->manifest.arguments, "argument"))
    return std::move(error);
  if (Error error = compareValues(options.compare, step.manifest.results,
                                  library->manifest.results, "result"))
    return std::move(error);
  std::unique_ptr<Comparison> comparison(
      new Comparison(options, std::move(*library)));
  // Faults, traces and links are of the step that is compared.
  runtime::WorldOptions world;
  world.stallLimit = options.world.stallLimit;
  world.poisonArena = options.world.poisonArena;
  Expected<std::unique_ptr<Session>> session =
      Session::create(comparison->library, world);
  if (!session)
    return session.takeError();
  comparison->reference = std::move(*session);
  return comparison;
}

/// `[1, 4]`, or nothing for a scalar.
static std::string indexText(int64_t position, ArrayRef<int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim])
    index[dim] = position % shape[dim];
  if (index.empty())
    return "";
  return formatv("[{0:$[, ]}]", make_range(index.begin(), index.end()));
}

/// Relative to the value's largest element: sums in another order differ by a
/// share of that, however small an element is.
Error Comparison::compare(int64_t step, const Session &session, size_t result) {
  const Value &value = library.manifest.results[result];
  std::vector<char> found = session.readResult(result);
  std::vector<char> expected = reference->readResult(result);
  if (found == expected)
    return Error::success();
  int64_t bytes = runtime::bytesOf(value.dtype);
  auto count = static_cast<int64_t>(found.size()) / bytes;
  auto at = [&](const std::vector<char> &data, int64_t position) {
    return readElement(value.dtype, data.data() + position * bytes);
  };
  double scale = 0;
  for (int64_t i = 0; i < count; ++i)
    if (double size = std::fabs(at(expected, i)); std::isfinite(size))
      scale = std::max(scale, size);
  double worst = 0;
  int64_t worstAt = 0;
  for (int64_t i = 0; i < count; ++i) {
    double left = at(found, i), right = at(expected, i);
    if (left == right || (std::isnan(left) && std::isnan(right)))
      continue;
    double difference = std::fabs(left - right) / (scale > 0 ? scale : 1);
    if (!isFloat(value.dtype) || !std::isfinite(difference))
      difference = HUGE_VAL;
    if (difference > worst) {
      worst = difference;
      worstAt = i;
    }
  }
  const Value &named =
      value.partner ? library.manifest.arguments[*value.partner] : value;
  std::string where;
  raw_string_ostream(where)
      << "step " << step << ": " << value.id
      << (named.name.empty() ? "" : " ('" + named.name + "')")
      << indexText(worstAt, value.shape);
  if (worst > options.tolerance) {
    std::string message;
    raw_string_ostream(message)
        << "--compare: " << where
        << " diverges: " << format("%.9g", at(found, worstAt)) << " in "
        << options.step << ", " << format("%.9g", at(expected, worstAt))
        << " in " << options.compare
        << format(" (%.1e of the value's largest element; --tolerance %.1e)",
                  worst, options.tolerance);
    return createStringError(message);
  }
  if (worst > largest) {
    largest = worst;
    largestAt = where;
  }
  return Error::success();
}

Error Comparison::runStep(int64_t step, const Session &session) {
  if (std::optional<runtime::RunError> error = reference->runStep())
    return createStringError("--compare " + options.compare + ": " +
                             error->str());
  for (size_t result = 0; result < library.manifest.results.size(); ++result)
    if (Error error = compare(step, session, result))
      return error;
  return Error::success();
}

void Comparison::printSummary() const {
  outs() << "compared with " << options.compare << ": ";
  if (largestAt.empty())
    outs() << "all results have the same bits\n";
  else
    outs() << format("largest difference %.1e", largest)
           << " of a value's largest element, at " << largestAt << "\n";
}
