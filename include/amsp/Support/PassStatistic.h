//===- PassStatistic.h - Numbers that a pass counts -------------*- C++ -*-===//

#ifndef AMSP_SUPPORT_PASSSTATISTIC_H
#define AMSP_SUPPORT_PASSSTATISTIC_H

#include "mlir/Pass/Pass.h"
#include <atomic>

namespace amsp {

/// A statistic that a pass declares in its .td file. MLIR's own count nothing
/// in an LLVM that was built without statistics, as packaged ones are; so
/// add_amsp_passes lets the declarations make these.
class PassStatistic : public mlir::Pass::Statistic {
public:
  PassStatistic(mlir::Pass *owner, const char *name, const char *description);
  ~PassStatistic();
  PassStatistic(const PassStatistic &) = delete;
  PassStatistic &operator=(const PassStatistic &) = delete;

  /// Counts: several runs add up.
  PassStatistic &operator+=(uint64_t number);
  PassStatistic &operator++() { return *this += 1; }
  /// States a number of this run: of several runs, the largest counts.
  PassStatistic &operator=(uint64_t number);

  llvm::StringRef getName() const { return name; }
  llvm::StringRef getDescription() const { return description; }
  bool isStated() const { return stated; }
  /// The number, which is 0 from then on.
  uint64_t take() { return value.exchange(0); }

private:
  mlir::Pass *owner;
  const char *name, *description;
  std::atomic<uint64_t> value = 0;
  std::atomic<bool> stated = false;
};

/// The statistics of a pass, in the order of their declarations. None of a pass
/// that is not this project's.
llvm::SmallVector<PassStatistic *, 4> getStatistics(const mlir::Pass *pass);

} // namespace amsp

#endif // AMSP_SUPPORT_PASSSTATISTIC_H
