//===- PlanReport.h - A plan as text or JSON --------------------*- C++ -*-===//

#ifndef AMSP_TOOLS_AMSP_PLAN_PLANREPORT_H
#define AMSP_TOOLS_AMSP_PLAN_PLANREPORT_H

#include "amsp/Planner/Planner.h"
#include "amsp/Target/Manifest.h"

namespace amsp {

class PlanReport {
public:
  /// `shown`: the strategy that is shown in detail. `collectives`: those of its
  /// program, if they are to be listed. `top`: how many strategies are ranked.
  PlanReport(const Plan &plan, const Cluster &cluster, const Candidate &shown,
             std::optional<llvm::ArrayRef<CollectiveRecord>> collectives,
             size_t top)
      : plan(plan), cluster(cluster), shown(shown), collectives(collectives),
        top(top) {}

  void printTable(llvm::raw_ostream &os) const;
  void printJson(llvm::raw_ostream &os) const;

private:
  using Item = std::pair<const char *, double>;

  llvm::ArrayRef<Candidate> getTop() const;
  std::vector<Item> getMemoryItems(const Candidate &candidate) const;
  std::vector<Item> getTimeItems(const Candidate &candidate) const;
  /// Why a candidate is behind the best one.
  std::string getReason(const Candidate &candidate) const;
  std::string getLevelName(llvm::ArrayRef<int64_t> group) const;
  std::string getSlowLevel(const Candidate &candidate, bool isGather) const;
  void writeCollectives(llvm::json::OStream &json) const;
  void writeCandidate(llvm::json::OStream &json,
                      const Candidate &candidate) const;
  void printCollectives(llvm::raw_ostream &os) const;
  void printUnits(llvm::raw_ostream &os) const;

  const Plan &plan;
  const Cluster &cluster;
  const Candidate &shown;
  std::optional<llvm::ArrayRef<CollectiveRecord>> collectives;
  size_t top;
};

} // namespace amsp

#endif // AMSP_TOOLS_AMSP_PLAN_PLANREPORT_H
