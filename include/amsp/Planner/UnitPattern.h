//===- UnitPattern.h - Names of several units -------------------*- C++ -*-===//
//
// A pattern is the name of a unit, a range of numbered units (`h.0..11`), or a
// shell pattern (`h.*`, `h.[0-4]`).
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_UNITPATTERN_H
#define AMSP_PLANNER_UNITPATTERN_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace amsp {

class UnitPattern {
public:
  /// Fails for a range that falls and for a malformed shell pattern.
  static llvm::Expected<UnitPattern> parse(llvm::StringRef text);

  bool matches(llvm::StringRef unit) const;
  llvm::StringRef getText() const { return text; }

private:
  struct Range {
    std::string prefix;
    uint64_t first, last;
  };

  std::string text;
  std::optional<Range> range;
  bool isGlob = false;
};

/// A name or a range, and what the units have in common.
struct UnitRun {
  std::string pattern;
  size_t first, size; // of the list
};

/// Runs of units that follow each other in name and have equal values: `h.0`,
/// `h.1`, `h.2` of 5, 5, 7 become `h.0..1` and `h.2`. `values` may be empty.
std::vector<UnitRun> findRuns(llvm::ArrayRef<std::string> units,
                              llvm::ArrayRef<std::string> values);

/// `embeddings, h.0..11, rest`, for messages.
std::string formatUnits(llvm::ArrayRef<std::string> units);

} // namespace amsp

#endif // AMSP_PLANNER_UNITPATTERN_H
