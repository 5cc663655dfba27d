//===- StatisticsTable.cpp - What the passes of a run counted -------------===//

#include "amsp/Support/StatisticsTable.h"
#include "amsp/Support/PassStatistic.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace amsp;

class StatisticsTable::Collector : public PassInstrumentation {
public:
  explicit Collector(StatisticsTable &table) : table(table) {}

  void runAfterPass(Pass *pass, Operation *op) override { table.add(pass); }

private:
  StatisticsTable &table;
};

StatisticsTable &StatisticsTable::operator=(const StatisticsTable &other) {
  rows = other.rows;
  return *this;
}

void StatisticsTable::collect(PassManager &passes) {
  passes.addInstrumentation(std::make_unique<Collector>(*this));
}

void StatisticsTable::add(Pass *pass) {
  SmallVector<PassStatistic *, 4> statistics = getStatistics(pass);
  std::lock_guard<std::mutex> lock(mutex);
  for (PassStatistic *statistic : statistics) {
    auto row = llvm::find_if(rows, [&](const Row &row) {
      return row.pass == pass->getArgument() &&
             row.name == statistic->getName();
    });
    if (row == rows.end())
      row = rows.insert(rows.end(),
                        {pass->getArgument().str(), statistic->getName().str(),
                         statistic->getDescription().str(), 0});
    uint64_t number = statistic->take();
    row->number = statistic->isStated() ? std::max(row->number, number)
                                        : row->number + number;
  }
}

void StatisticsTable::print(llvm::raw_ostream &os) const {
  os << llvm::formatv("{0,-32} {1,16}  {2,-20} {3}\n", "pass", "number",
                      "statistic", "what");
  for (const Row &row : rows)
    os << llvm::formatv("{0,-32} {1,16}  {2,-20} {3}\n", row.pass, row.number,
                        row.name, row.description);
}
