//===- GemmShape.cpp - A contraction as a BLAS call -----------------------===//

#include "GemmShape.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace amsp;

namespace {
/// A loop, or several that walk memory as one: strides in A, B and C, zero
/// where the operand does not depend on it.
struct Loop {
  int64_t size;
  std::array<int64_t, 3> strides;
};

struct LoopGroups {
  SmallVector<Loop> batch, m, n, k;
};
} // namespace

ContractionDim amsp::classifyDim(ContractOp op, unsigned dim) {
  bool a = op.getMap(0).isFunctionOfDim(dim);
  bool b = op.getMap(1).isFunctionOfDim(dim);
  bool c = op.getMap(2).isFunctionOfDim(dim);
  if (a && b)
    return c ? ContractionDim::Batch : ContractionDim::K;
  return a ? ContractionDim::M : ContractionDim::N;
}

/// Joins loops that walk all operands as one loop does, outermost first.
static void joinLoops(SmallVector<Loop> &loops, unsigned orderBy) {
  llvm::sort(loops, [&](const Loop &x, const Loop &y) {
    return std::tie(x.strides[orderBy], x.strides, x.size) >
           std::tie(y.strides[orderBy], y.strides, y.size);
  });
  SmallVector<Loop> joined;
  for (const Loop &inner : loops) {
    bool isContinued =
        !joined.empty() && llvm::all_of(llvm::seq(3), [&](int operand) {
          return joined.back().strides[operand] ==
                 inner.strides[operand] * inner.size;
        });
    if (isContinued)
      joined.back() = {joined.back().size * inner.size, inner.strides};
    else
      joined.push_back(inner);
  }
  loops = std::move(joined);
}

/// The loops of a contraction by kind, those of size 1 dropped.
static std::optional<LoopGroups> getLoops(ContractOp op) {
  unsigned numDims = op.getMap(0).getNumDims();
  SmallVector<Loop> loops(numDims, Loop{1, {0, 0, 0}});
  for (auto [operand, value] : llvm::enumerate(op.getOperands())) {
    auto type = cast<MemRefType>(value.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return std::nullopt;
    for (auto [position, stride] : llvm::enumerate(strides)) {
      Loop &loop = loops[op.getMap(operand).getDimPosition(position)];
      loop.size = type.getDimSize(position);
      loop.strides[operand] = stride;
    }
  }
  LoopGroups groups;
  for (auto [dim, loop] : llvm::enumerate(loops)) {
    if (loop.size == 1)
      continue;
    switch (classifyDim(op, dim)) {
    case ContractionDim::Batch:
      groups.batch.push_back(loop);
      break;
    case ContractionDim::M:
      groups.m.push_back(loop);
      break;
    case ContractionDim::N:
      groups.n.push_back(loop);
      break;
    case ContractionDim::K:
      groups.k.push_back(loop);
      break;
    }
  }
  joinLoops(groups.batch, /*orderBy=*/2);
  joinLoops(groups.m, /*orderBy=*/2);
  joinLoops(groups.n, /*orderBy=*/2);
  joinLoops(groups.k, /*orderBy=*/0);
  return groups;
}

/// Describes a matrix whose rows and columns have these strides, as row-major
/// or transposed with a leading dimension. False if neither stride is 1.
static bool describeMatrix(int64_t rows, int64_t rowStride, int64_t columns,
                           int64_t columnStride, bool &transposed,
                           int64_t &leading) {
  if (columns == 1 || columnStride == 1) {
    transposed = false;
    // A stride between rows has no meaning if there is one row.
    leading = rows == 1 ? columns : rowStride;
    return leading >= columns;
  }
  if (rows == 1 || rowStride == 1) {
    transposed = true;
    leading = columnStride;
    return leading >= rows;
  }
  return false;
}

/// The call with `m` and `n` as matrix dimensions, without its batch.
static std::optional<GemmShape> matchMatrices(const Loop &m, const Loop &n,
                                              const Loop &k) {
  GemmShape shape;
  shape.m = m.size;
  shape.n = n.size;
  shape.k = k.size;
  bool transposedC;
  if (!describeMatrix(m.size, m.strides[0], k.size, k.strides[0],
                      shape.transposeA, shape.lda) ||
      !describeMatrix(k.size, k.strides[1], n.size, n.strides[1],
                      shape.transposeB, shape.ldb) ||
      !describeMatrix(m.size, m.strides[2], n.size, n.strides[2], transposedC,
                      shape.ldc))
    return std::nullopt;
  if (!transposedC)
    return shape;
  shape.swapOperands = true;
  std::swap(shape.m, shape.n);
  std::swap(shape.lda, shape.ldb);
  std::swap(shape.transposeA, shape.transposeB);
  shape.transposeA = !shape.transposeA;
  shape.transposeB = !shape.transposeB;
  return shape;
}

static void addBatchDim(GemmShape &shape, const Loop &loop) {
  shape.batchSizes.push_back(loop.size);
  shape.batchStridesA.push_back(loop.strides[shape.swapOperands ? 1 : 0]);
  shape.batchStridesB.push_back(loop.strides[shape.swapOperands ? 0 : 1]);
  shape.batchStridesC.push_back(loop.strides[2]);
}

/// The largest loop; one of size 1 if there is none.
static size_t getLargest(ArrayRef<Loop> loops) {
  return std::distance(
      loops.begin(), llvm::max_element(loops, [](const Loop &x, const Loop &y) {
        return x.size < y.size;
      }));
}

std::optional<GemmShape> amsp::matchGemm(ContractOp op) {
  std::optional<LoopGroups> groups = getLoops(op);
  if (!groups || groups->k.size() > 1)
    return std::nullopt;
  for (SmallVector<Loop> *loops : {&groups->m, &groups->n, &groups->k})
    if (loops->empty())
      loops->push_back(Loop{1, {0, 0, 0}});
  // The largest free dimensions form the matrices; the others are batch
  // dimensions along which one of the operands does not move.
  size_t m = getLargest(groups->m), n = getLargest(groups->n);
  std::optional<GemmShape> shape =
      matchMatrices(groups->m[m], groups->n[n], groups->k[0]);
  if (!shape)
    return std::nullopt;
  shape->accumulate = op.getAccumulate();
  for (const Loop &loop : groups->batch)
    addBatchDim(*shape, loop);
  for (auto [index, loop] : llvm::enumerate(groups->m))
    if (index != m)
      addBatchDim(*shape, loop);
  for (auto [index, loop] : llvm::enumerate(groups->n))
    if (index != n)
      addBatchDim(*shape, loop);
  return shape;
}
