//===- PlanFile.h - Plans that people read, edit and keep -------*- C++ -*-===//
//
// The YAML of docs/formats.md#plan-files.
//
//===----------------------------------------------------------------------===//

#ifndef AMSP_PLANNER_PLANFILE_H
#define AMSP_PLANNER_PLANFILE_H

#include "amsp/Communication/LoopForms.h"
#include "amsp/Placement/Cluster.h"
#include "amsp/Placement/Strategy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace amsp {

/// A unit of a step and the elements of its parameters.
struct StepUnit {
  std::string name;
  int64_t elements = 0;
};

/// The units of an imported step, in the order of their first parameter.
std::vector<StepUnit> getStepUnits(mlir::func::FuncOp step);

/// What stands in a file, with its line for errors; 0 if that is not known.
struct PlanText {
  PlanText() = default;
  PlanText(std::string text, unsigned line = 0)
      : text(std::move(text)), line(line) {}

  std::string text;
  unsigned line = 0;
};

/// What a plan file says. Maps are in the order of their keys.
struct PlanFile {
  /// Elements of a unit's parameters.
  struct ModelUnit {
    std::string pattern;
    int64_t elements = 0;
    unsigned line = 0;
  };
  struct UnitStrategy {
    std::string pattern;
    PlanText strategy;
  };

  std::string name; // of the file, for errors
  std::string cluster;
  llvm::SmallVector<int64_t> levels;
  /// Elements by name or range of units; empty: of any model.
  std::vector<ModelUnit> model;
  std::string reduceType; // empty: not said
  /// The strategy of units that `units` does not name; may be empty.
  PlanText strategy;
  std::vector<UnitStrategy> units;
  /// Units that backward computes again, by pattern.
  std::vector<PlanText> recompute;
  /// Microbatches that the step's batch is split into.
  int64_t microbatches = 1;
  /// How loops are written; none: not said.
  std::optional<LoopForm> loops;
};

/// True for what `--strategy` takes as the name of a plan file: strategies have
/// neither dots nor slashes.
bool isPlanFileName(llvm::StringRef strategy);

/// Reads a file's content. Errors name the file and, where they are of form,
/// the line.
llvm::Expected<PlanFile> parsePlanFile(llvm::StringRef content,
                                       llvm::StringRef name);
llvm::Expected<PlanFile> readPlanFile(llvm::StringRef path);

/// The file that gives each unit its strategy: what most units have is its
/// `strategy`, the others are listed in ranges.
PlanFile makePlanFile(llvm::ArrayRef<StepUnit> units,
                      llvm::ArrayRef<Strategy> strategies,
                      const Cluster &cluster, llvm::StringRef reduceType,
                      llvm::ArrayRef<std::string> recompute = {});

/// `peeled`, `pipelined`: what is done to loops, as plans say it.
llvm::SmallVector<llvm::StringRef> getLoopWords(const LoopForm &loops);

/// The file's text. `comment`, of one line, stands above.
void printPlanFile(llvm::raw_ostream &os, const PlanFile &plan,
                   llvm::StringRef comment);

/// The strategy of each unit. Fails, with the first mismatch and its line, for
/// a plan of another model or cluster; for a unit that is named twice or not at
/// all; and for names that no unit has, with those there are.
llvm::Expected<std::vector<Strategy>>
resolvePlanFile(const PlanFile &plan, llvm::ArrayRef<StepUnit> units,
                const Cluster &cluster);

/// The units that backward computes again, in the step's order. Fails for a
/// name that no unit has.
llvm::Expected<std::vector<std::string>>
resolveRecompute(const PlanFile &plan, llvm::ArrayRef<StepUnit> units);

/// Writes strategies, one per unit, as `amsp.strategy` onto the arguments of an
/// imported step.
void setUnitStrategies(mlir::func::FuncOp step, llvm::ArrayRef<StepUnit> units,
                       llvm::ArrayRef<Strategy> strategies);

} // namespace amsp

#endif // AMSP_PLANNER_PLANFILE_H
