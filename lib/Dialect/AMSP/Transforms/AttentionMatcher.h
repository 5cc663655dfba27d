//===- AttentionMatcher.h - Finds attention around a contraction -*- C++ -*-==//

#ifndef AMSP_LIB_DIALECT_AMSP_TRANSFORMS_ATTENTIONMATCHER_H
#define AMSP_LIB_DIALECT_AMSP_TRANSFORMS_ATTENTIONMATCHER_H

#include "ScoreAxes.h"
#include "SoftmaxAlgebra.h"
#include "amsp/Dialect/StableHLO/IR/StableHLOOps.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace amsp {

/// An attention, its gradients if there are any, and what they are in the
/// program. All axes are resolved.
struct AttentionMatch {
  llvm::SmallVector<Axis> batch, queries; // of more than one element
  Axis key, element, valueElement;
  PlacedValue q, k, v, mask, dResult;
  /// What is added to the scores.
  llvm::SmallVector<PlacedValue> biases;
  /// Weights are selected by all of these.
  llvm::SmallVector<PlacedValue> kept;
  double scale = 1;
  std::optional<double> maskedScore, keepScale;
  mlir::Type softmaxType;
  /// Results of contractions; null where there is none.
  PlacedValue result, dq, dk, dv;
  /// Results of sums, which are the gradients of biases.
  llvm::SmallVector<PlacedValue> dBiases;
  /// The ops between, which nothing else reads.
  llvm::SetVector<mlir::Operation *> ops;

  bool hasBackward() const { return dq || dk || dv || !dBiases.empty(); }
};

/// The dimensions of a contraction, by side.
struct DotDims {
  explicit DotDims(stablehlo::DotGeneralOp op);
  int64_t getRank(unsigned side);
  llvm::SmallVector<int64_t> getFree(unsigned side);
  /// The result with its axes; nothing if those of the operands do not fit.
  std::optional<PlacedValue> getResult(ScoreAxes &axes, const PlacedValue &lhs,
                                       const PlacedValue &rhs);

  stablehlo::DotGeneralOp op;
  llvm::ArrayRef<int64_t> batching[2], contracting[2];
};

/// Takes a contraction for the scores of an attention and follows what is
/// computed from it, as `SoftmaxExpression`s with the axes of their dimensions.
class AttentionMatcher {
public:
  explicit AttentionMatcher(stablehlo::DotGeneralOp scores);

  /// Nothing if something does not fit.
  std::optional<AttentionMatch> match();

  /// Says that these may read what is followed.
  void ignore(llvm::DenseSet<mlir::Operation *> readers) {
    ignored = std::move(readers);
  }
  bool isFollowed(mlir::Value value) const { return values.contains(value); }

  ScoreAxes &getAxes() { return axes; }
  /// Whether there is a softmax of the contraction at all, over its batching
  /// dimensions.
  bool hasSoftmax() const { return exponential && !batch.empty(); }
  mlir::Operation *getSoftmax() const { return exponential; }
  /// The first op that does not fit.
  mlir::Operation *getMisfit() const { return misfit; }

private:
  /// What the scores are, as multiples and sums of the contraction.
  struct ScoreForm {
    double scale = 1;
    llvm::SmallVector<PlacedValue, 1> biases;
    PlacedValue mask;
    std::optional<double> maskedScore;
    unsigned bits;
  };
  /// A value that is followed.
  struct Followed {
    enum Kind { Score, RowMaximum, Shifted, Softmax } kind;
    /// Of all but softmaxes: which form of the scores.
    unsigned form = 0;
    SoftmaxExpression expression;
    llvm::SmallVector<Axis> axes;
  };
  using Result = std::optional<Followed>;
  /// A reduction of one followed value from the combiner's identity on.
  struct Reduction {
    Followed kept; // the operand, with the axes of the result
    llvm::SmallVector<Axis> reduced;
    bool isSum;
  };

  void follow(mlir::Value value, Followed followed);
  bool visit(mlir::Operation *op);
  /// The followed form of a value; a gradient of the probabilities is found
  /// here, by being read.
  Followed *lookup(mlir::Value value);
  bool followGradient(mlir::Value value);

  Result evaluate(mlir::Operation *op);
  Result evaluateUnary(mlir::Operation *op, const Followed &operand);
  Result evaluateBinary(mlir::Operation *op);
  Result evaluateWithConstant(mlir::Operation *op, const Followed &operand,
                              double number, bool isRight);
  Result addBias(mlir::Operation *op, const Followed &scores, mlir::Value bias);
  Result evaluateSelect(stablehlo::SelectOp op);
  /// A value of the softmax times `number` where a predicate holds, zero
  /// elsewhere.
  Result applyPredicate(const Followed &operand, const PlacedValue &predicate,
                        double number);
  std::optional<Reduction> getReduction(stablehlo::ReduceOp op);
  Result evaluateReduce(stablehlo::ReduceOp op);
  /// A sum of the gradient of scores, over other dimensions than keys alone, is
  /// the gradient of a bias. There is a dimension of rows, heads or queries
  /// over which all are summed.
  bool matchBiasGradient(stablehlo::ReduceOp op);
  /// A score of another form than the operand's.
  Followed createForm(const Followed &operand, ScoreForm form);
  bool isSame(const PlacedValue &known, const PlacedValue &value);
  /// The bit of a predicate: that of the scores' mask, or one of those that
  /// weights are selected by.
  unsigned getPredicate(const PlacedValue &predicate);
  unsigned getMask() const {
    return forms[*finalForm].mask ? kMask : kNoPredicate;
  }
  /// Says by which predicates weights are selected, and what they are
  /// multiplied by; false if that is not so for all.
  bool setWeights(unsigned predicates, double number);
  bool setKey(Axis axis);

  bool visitDot(stablehlo::DotGeneralOp op);
  /// A contraction of the weights gives the result or the gradient of values,
  /// one of the scores' gradient those of queries or keys.
  bool matchContraction(stablehlo::DotGeneralOp op, unsigned side,
                        const Followed &own, bool isOfWeights);
  /// Reads the contraction of the gradient of the result with the values.
  bool resolveGradient();
  bool finish(AttentionMatch &match);

  stablehlo::DotGeneralOp scores;
  ScoreAxes axes;
  llvm::SmallVector<Axis> batch, queries;
  Axis key = kNoAxis, element = kNoAxis, valueElement = kNoAxis;
  /// Of the contraction: free axes by side; operands with theirs.
  llvm::SmallVector<Axis> freeAxes[2];
  PlacedValue operands[2];
  PlacedValue q, k, v, dResult, result, dq, dk, dv;
  llvm::SmallVector<PlacedValue> dBiases;
  llvm::SmallVector<PlacedValue> selections; // predicates, but the mask
  unsigned kept = kNoPredicate;
  std::optional<double> keepScale; // 1 without dropout

  struct IsBefore {
    bool operator()(mlir::Operation *first, mlir::Operation *second) const {
      return first->isBeforeInBlock(second);
    }
  };
  std::set<mlir::Operation *, IsBefore> pending;
  llvm::SetVector<mlir::Operation *> done;
  llvm::DenseSet<mlir::Operation *> ignored;
  llvm::DenseMap<mlir::Value, Followed> values;
  llvm::SmallVector<ScoreForm> forms;
  std::optional<unsigned> finalForm;
  mlir::Operation *exponential = nullptr;
  stablehlo::DotGeneralOp gradient; // of the probabilities
  mlir::Operation *misfit = nullptr;
};

} // namespace amsp

#endif // AMSP_LIB_DIALECT_AMSP_TRANSFORMS_ATTENTIONMATCHER_H
