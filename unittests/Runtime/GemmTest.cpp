//===- GemmTest.cpp - Contractions against a plain loop -------------------===//

#include "TestWorld.h"

#include <cmath>

using namespace amsp::runtime;

namespace {
struct Case {
  int64_t m, n, k;
  bool transposeA, transposeB, accumulate;
  int64_t pad; // between rows
};
} // namespace

template <typename T> static std::vector<T> numbers(size_t count, int seed) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>((i * 37 + seed * 11) % 23) / 8 - 1;
  return values;
}

template <typename T>
static void compareWithLoop(const Case &c, const std::vector<int64_t> &batch) {
  int64_t rowsA = c.transposeA ? c.k : c.m, rowsB = c.transposeB ? c.n : c.k;
  int64_t lda = (c.transposeA ? c.m : c.k) + c.pad;
  int64_t ldb = (c.transposeB ? c.k : c.n) + c.pad;
  int64_t ldc = c.n + c.pad;
  // The outermost batch dimension shares B (stride 0).
  std::vector<int64_t> stridesA, stridesB, stridesC;
  int64_t batches = 1;
  for (size_t i = batch.size(); i-- > 0;) {
    stridesA.insert(stridesA.begin(), batches * rowsA * lda);
    stridesB.insert(stridesB.begin(), i == 0 ? 0 : batches * rowsB * ldb);
    stridesC.insert(stridesC.begin(), batches * c.m * ldc);
    batches *= batch[i];
  }
  auto a = numbers<T>(batches * rowsA * lda + 1, 1);
  auto b = numbers<T>(batches * rowsB * ldb + 1, 2);
  auto out = numbers<T>(batches * c.m * ldc + 1, 3);
  std::vector<T> expected = out;
  for (int64_t index = 0; index < batches; ++index) {
    int64_t offsetA = 0, offsetB = 0, offsetC = 0, rest = index;
    for (size_t i = batch.size(); i-- > 0; rest /= batch[i]) {
      offsetA += rest % batch[i] * stridesA[i];
      offsetB += rest % batch[i] * stridesB[i];
      offsetC += rest % batch[i] * stridesC[i];
    }
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        T &cell = expected[offsetC + i * ldc + j];
        double sum = c.accumulate ? cell : 0;
        for (int64_t l = 0; l < c.k; ++l)
          sum +=
              double(a[offsetA + (c.transposeA ? l * lda + i : i * lda + l)]) *
              b[offsetB + (c.transposeB ? j * ldb + l : l * ldb + j)];
        cell = static_cast<T>(sum);
      }
  }
  amsp_gemm gemm = {sizeof(T) == 4 ? AMSP_F32 : AMSP_F64,
                    c.transposeA,
                    c.transposeB,
                    c.accumulate,
                    c.m,
                    c.n,
                    c.k,
                    lda,
                    ldb,
                    ldc,
                    static_cast<int32_t>(batch.size()),
                    batch.data(),
                    stridesA.data(),
                    stridesB.data(),
                    stridesC.data(),
                    "gemm"};
  std::optional<RunError> error = runOnRanks(1, [&](amsp_rank *rank) {
    amsp_gemm_run(rank, &gemm, a.data(), b.data(), out.data());
  });
  ASSERT_FALSE(error) << error->str();
  // The values between the rows must be untouched, so all are compared.
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(out[i], expected[i], 1e-4) << "element " << i;
}

TEST(GemmTest, EqualsThePlainLoop) {
  for (int64_t m : {0, 1, 5, 17})
    for (int64_t n : {0, 1, 4, 19})
      for (int64_t k : {0, 1, 7, 16})
        for (int flags = 0; flags < 8; ++flags)
          for (int64_t pad : {0, 3}) {
            Case c = {
                m,  n, k, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
                pad};
            SCOPED_TRACE(testing::Message()
                         << m << "x" << n << "x" << k << " flags " << flags);
            compareWithLoop<float>(c, {});
            compareWithLoop<double>(c, {});
          }
}

TEST(GemmTest, LargeMatrixTimesVector) {
  for (int flags = 0; flags < 8; ++flags)
    for (int64_t pad : {0, 3})
      for (bool isRow : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << "flags " << flags << " row " << isRow);
        Case c = {isRow ? 1 : 700,  isRow ? 700 : 1,  300, (flags & 1) != 0,
                  (flags & 2) != 0, (flags & 4) != 0, pad};
        compareWithLoop<float>(c, {});
        compareWithLoop<double>(c, {});
      }
}

TEST(GemmTest, BatchDimensions) {
  for (const std::vector<int64_t> &batch :
       {std::vector<int64_t>{3}, {2, 3}, {2, 1, 2}, {2, 0}})
    compareWithLoop<float>({4, 5, 6, false, true, true, 1}, batch);
}

TEST(GemmTest, RefusesOtherTypes) {
  amsp_gemm gemm = {};
  gemm.dtype = AMSP_BF16;
  gemm.m = gemm.n = gemm.k = gemm.lda = gemm.ldb = gemm.ldc = 1;
  gemm.name = "dot";
  float value = 0;
  std::optional<RunError> error = runOnRanks(1, [&](amsp_rank *rank) {
    amsp_gemm_run(rank, &gemm, &value, &value, &value);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->str(),
            "rank 0, step 1: gemm 'dot': element type 2 is not f32 or f64");
}
