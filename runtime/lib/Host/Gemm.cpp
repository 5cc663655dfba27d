//===- Gemm.cpp - Contractions --------------------------------------------===//

#include "Gemm.h"

#include <algorithm>
#include <cblas.h>
#include <limits>

using namespace amsp::runtime;

// Some of the headers that offer cblas.h leave OpenBLAS's own functions out.
extern "C" void openblas_set_num_threads(int threads);

void amsp::runtime::useSingleThreadedBlas() { openblas_set_num_threads(1); }

static void callGemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n,
                     int k, const float *a, int lda, const float *b, int ldb,
                     float beta, float *c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, lda, b, ldb, beta, c,
              ldc);
}

static void callGemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n,
                     int k, const double *a, int lda, const double *b, int ldb,
                     double beta, double *c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c,
              ldc);
}

static void callGemv(CBLAS_TRANSPOSE transpose, int rows, int columns,
                     const float *a, int lda, const float *x, int incx,
                     float beta, float *y, int incy) {
  cblas_sgemv(CblasRowMajor, transpose, rows, columns, 1.0F, a, lda, x, incx,
              beta, y, incy);
}

static void callGemv(CBLAS_TRANSPOSE transpose, int rows, int columns,
                     const double *a, int lda, const double *x, int incx,
                     double beta, double *y, int incy) {
  cblas_dgemv(CblasRowMajor, transpose, rows, columns, 1.0, a, lda, x, incx,
              beta, y, incy);
}

/// From this many elements of the matrix on, a product with one vector is
/// faster as gemv: two to four times at 2048x512, the same at 512x512 (OpenBLAS
/// 0.3.21, one thread). Below, gemm is the faster one.
static constexpr int64_t minGemvElements = int64_t{1} << 17;

/// BLAS refuses a leading dimension below the row length, even where there is
/// only one row and the leading dimension means nothing.
static int leadingDimension(int64_t given, int64_t rows, int64_t columns) {
  return static_cast<int>(rows <= 1 ? std::max<int64_t>(columns, 1) : given);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AMSP_TELL_ACCESSES 1
// NOLINTBEGIN(readability-identifier-naming)
extern "C" void __tsan_read_range(void *address, unsigned long bytes);
extern "C" void __tsan_write_range(void *address, unsigned long bytes);
// NOLINTEND(readability-identifier-naming)
#endif
#endif

/// ThreadSanitizer does not see what BLAS touches, so it is told.
template <typename T>
static void
tellAccesses([[maybe_unused]] const T *matrix, [[maybe_unused]] int64_t rows,
             [[maybe_unused]] int64_t columns, [[maybe_unused]] int64_t stride,
             [[maybe_unused]] bool isWritten) {
#ifdef AMSP_TELL_ACCESSES
  auto access = isWritten ? __tsan_write_range : __tsan_read_range;
  for (int64_t row = 0; row < rows; ++row)
    access(const_cast<T *>(matrix + row * stride), columns * sizeof(T));
#endif
}

template <typename T>
static void multiply(const amsp_gemm &gemm, const T *a, const T *b, T *c) {
  if (gemm.k == 0) {
    for (int64_t row = 0; !gemm.accumulate && row < gemm.m; ++row)
      std::fill_n(c + row * gemm.ldc, gemm.n, T(0));
    return;
  }
  int64_t rowsA = gemm.transpose_a ? gemm.k : gemm.m;
  int64_t columnsA = gemm.transpose_a ? gemm.m : gemm.k;
  int64_t rowsB = gemm.transpose_b ? gemm.n : gemm.k;
  int64_t columnsB = gemm.transpose_b ? gemm.k : gemm.n;
  int lda = leadingDimension(gemm.lda, rowsA, columnsA);
  int ldb = leadingDimension(gemm.ldb, rowsB, columnsB);
  int ldc = leadingDimension(gemm.ldc, gemm.m, gemm.n);
  tellAccesses(a, rowsA, columnsA, lda, false);
  tellAccesses(b, rowsB, columnsB, ldb, false);
  tellAccesses(c, gemm.m, gemm.n, ldc, true);
  CBLAS_TRANSPOSE transposeA = gemm.transpose_a ? CblasTrans : CblasNoTrans;
  CBLAS_TRANSPOSE transposeB = gemm.transpose_b ? CblasTrans : CblasNoTrans;
  T beta = gemm.accumulate ? 1 : 0;
  if (gemm.n == 1 && gemm.m * gemm.k >= minGemvElements)
    // C, a column, is op(A) times B, a column (or, transposed, a row).
    return callGemv(transposeA, static_cast<int>(rowsA),
                    static_cast<int>(columnsA), a, lda, b,
                    gemm.transpose_b ? 1 : ldb, beta, c, ldc);
  if (gemm.m == 1 && gemm.n * gemm.k >= minGemvElements)
    // C, a row, is the transpose of op(B) times A.
    return callGemv(gemm.transpose_b ? CblasNoTrans : CblasTrans,
                    static_cast<int>(rowsB), static_cast<int>(columnsB), b, ldb,
                    a, gemm.transpose_a ? lda : 1, beta, c, 1);
  callGemm(transposeA, transposeB, static_cast<int>(gemm.m),
           static_cast<int>(gemm.n), static_cast<int>(gemm.k), a, lda, b, ldb,
           beta, c, ldc);
}

template <typename T>
static void multiplyBatches(const amsp_gemm &gemm, int32_t dimension,
                            const T *a, const T *b, T *c) {
  if (dimension == gemm.num_batch_dims)
    return multiply(gemm, a, b, c);
  for (int64_t i = 0; i < gemm.batch_sizes[dimension]; ++i)
    multiplyBatches(gemm, dimension + 1,
                    a + i * gemm.batch_strides_a[dimension],
                    b + i * gemm.batch_strides_b[dimension],
                    c + i * gemm.batch_strides_c[dimension]);
}

std::string amsp::runtime::runGemm(const amsp_gemm &gemm, const void *a,
                                   const void *b, void *c) {
  for (int64_t size : {gemm.m, gemm.n, gemm.k, gemm.lda, gemm.ldb, gemm.ldc})
    if (size < 0 || size > std::numeric_limits<int>::max())
      return "a dimension of " + std::to_string(size) +
             " is beyond what BLAS takes";
  if (gemm.m == 0 || gemm.n == 0)
    return {};
  if (gemm.dtype == AMSP_F32)
    multiplyBatches(gemm, 0, static_cast<const float *>(a),
                    static_cast<const float *>(b), static_cast<float *>(c));
  else if (gemm.dtype == AMSP_F64)
    multiplyBatches(gemm, 0, static_cast<const double *>(a),
                    static_cast<const double *>(b), static_cast<double *>(c));
  else
    return "element type " + std::to_string(gemm.dtype) + " is not f32 or f64";
  return {};
}
