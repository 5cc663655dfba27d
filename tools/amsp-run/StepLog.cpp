//===- StepLog.cpp - What a run tells of its steps ------------------------===//

#include "StepLog.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <numeric>

using namespace amsp::run;
using namespace llvm;

Error StepLog::open(StringRef logPath) {
  if (logPath.empty())
    return Error::success();
  path = logPath.str();
  std::error_code code;
  file = std::make_unique<raw_fd_ostream>(path, code);
  if (code)
    return createStringError(path + ": cannot be written: " + code.message());
  return Error::success();
}

Error StepLog::record(int64_t step, const std::vector<ScalarResult> &scalars,
                      double seconds) {
  stepSeconds.push_back(seconds);
  if (!quiet && !scalars.empty()) {
    outs() << "step " << step;
    for (const ScalarResult &scalar : scalars)
      outs() << "  " << scalar.id << " = " << format("%g", scalar.value);
    outs() << format("  (%.1f ms)\n", seconds * 1000);
    outs().flush();
  }
  if (!file)
    return Error::success();
  json::Object outputs;
  for (const ScalarResult &scalar : scalars)
    // JSON has no NaN and no infinity.
    outputs[scalar.id] = std::isfinite(scalar.value) ? json::Value(scalar.value)
                                                     : json::Value(nullptr);
  *file << json::Value(json::Object{{"step", step},
                                    {"outputs", std::move(outputs)},
                                    {"seconds", seconds}})
        << '\n';
  file->flush();
  if (!file->has_error())
    return Error::success();
  std::string message = file->error().message();
  file->clear_error();
  return createStringError(path + ": cannot be written: " + message);
}

void StepLog::printCommunication(const json::Object &summary) {
  auto print = [](const Twine &what, const json::Object &part) {
    outs() << what
           << format(": %.2f ms exposed of %.2f ms per step\n",
                     1e3 * part.getNumber("exposed_seconds").value_or(0),
                     1e3 * part.getNumber("transfer_seconds").value_or(0));
  };
  print("communication", summary);
  for (const json::Value &entry : *summary.getArray("levels")) {
    const json::Object &level = *entry.getAsObject();
    print("  level " + Twine(level.getInteger("level").value_or(-1)), level);
  }
}

void StepLog::printSummary(const Manifest &manifest) const {
  if (stepSeconds.empty())
    return;
  std::vector<double> sorted = stepSeconds;
  llvm::sort(sorted);
  double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) /
                static_cast<double>(sorted.size());
  size_t middle = sorted.size() / 2;
  double median = sorted.size() % 2 ? sorted[middle]
                                    : (sorted[middle - 1] + sorted[middle]) / 2;
  outs() << "ranks: " << manifest.world << ", peak arena "
         << manifest.arenaBytes << " bytes, state " << manifest.stateBytes
         << " bytes per rank\n"
         << "steps: " << stepSeconds.size()
         << format(", mean %.2f ms, median %.2f ms per step\n", mean * 1000,
                   median * 1000);
}
