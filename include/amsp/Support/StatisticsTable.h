//===- StatisticsTable.h - What the passes of a run counted -----*- C++ -*-===//

#ifndef AMSP_SUPPORT_STATISTICSTABLE_H
#define AMSP_SUPPORT_STATISTICSTABLE_H

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>
#include <string>
#include <vector>

namespace amsp {

/// The statistics of passes, in the order in which the passes ran first. The
/// runs of a pass, on several functions or at several places of a pipeline, are
/// one entry.
class StatisticsTable {
public:
  StatisticsTable() = default;
  StatisticsTable(const StatisticsTable &other) : rows(other.rows) {}
  StatisticsTable &operator=(const StatisticsTable &other);

  /// Lets the passes of a pipeline report to this table, which must outlive it.
  void collect(mlir::PassManager &passes);
  /// A line for each statistic: pass, number, name, description.
  void print(llvm::raw_ostream &os) const;

private:
  class Collector;

  struct Row {
    std::string pass, name, description;
    uint64_t number;
  };
  void add(mlir::Pass *pass);

  std::mutex mutex;
  std::vector<Row> rows;
};

} // namespace amsp

#endif // AMSP_SUPPORT_STATISTICSTABLE_H
