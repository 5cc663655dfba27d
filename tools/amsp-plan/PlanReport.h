//===- PlanReport.h - A plan as text or JSON --------------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PLAN_PLANREPORT_H
#define AMSP_TOOLS_AMSP_PLAN_PLANREPORT_H

#include "amsp/Compile/BatchSize.h"
#include "amsp/Compile/Finalists.h"
#include "llvm/Support/JSON.h"

namespace amsp {

class PlanReport {
public:
  /// `shown`: the plan that is shown in detail, with its collectives if they
  /// are to be listed. `top`: how many strategies are ranked.
  PlanReport(const PlannedStep &planned, const Cluster &cluster,
             const Finalist &shown, BatchSize batch, bool listsCollectives,
             size_t top)
      : planned(planned), plan(planned.plan), cluster(cluster), shown(shown),
        candidate(findCandidate()), batch(batch),
        listsCollectives(listsCollectives), top(top) {}

  void printTable(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  using Item = std::pair<const char *, double>;

  /// What is shown, if all units have one strategy.
  const Candidate *findCandidate() const;
  llvm::ArrayRef<Candidate> getTop() const;
  std::vector<Item> getMemoryItems(const Candidate &candidate) const;
  static std::vector<Item> getMemoryItems(const MemoryProfile &memory);
  std::vector<Item> getTimeItems(const Candidate &candidate) const;
  /// What of the batch is done in a second.
  std::vector<Item> getSpeedItems(const Finalist &finalist) const;
  /// Why a candidate is behind the best one.
  std::string getReason(const Candidate &candidate) const;
  std::string getLevelName(llvm::ArrayRef<int64_t> group) const;
  std::string getSlowLevel(const Candidate &candidate, bool isGather) const;
  std::string describe(const Finalist &finalist) const;
  void writeCollectives(llvm::json::OStream &json) const;
  void writeCandidate(llvm::json::OStream &json,
                      const Candidate &candidate) const;
  void writeVariants(llvm::json::OStream &json) const;
  void writeFinalist(llvm::json::OStream &json, const Finalist &finalist) const;
  void printShown(llvm::raw_ostream &os) const;
  void printVariants(llvm::raw_ostream &os) const;
  void printFinalists(llvm::raw_ostream &os) const;
  void printCollectives(llvm::raw_ostream &os) const;

  const PlannedStep &planned;
  const Plan &plan;
  const Cluster &cluster;
  const Finalist &shown;
  const Candidate *candidate;
  BatchSize batch;
  bool listsCollectives;
  size_t top;
};

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_PLAN_PLANREPORT_H
