// A matrix product of one shape by cuBLASLt. Descriptors and algorithms are chosen once.
#pragma once
#include <memory>

#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// A matrix in memory, with contiguous rows (column_stride 1) or columns (row_stride 1). Strides are
// in elements; `batch_stride` is the distance between matrices of a batch.
struct MatrixPlace {
  int64_t row_stride = 0, column_stride = 0, batch_stride = 0;
  Dtype dtype = Dtype::kF32;
};
struct MatmulShape {
  int64_t batch = 1, m = 0, n = 0, k = 0;  // all nonzero
  MatrixPlace a, b, c;                     // c[m,n] = a[m,k] · b[k,n]; rows of c are contiguous
};

// Whether cuBLASLt has types for such a product. For 8-bit floats see float8_product.h.
bool can_multiply(Dtype a, Dtype b, Dtype c);

constexpr uint32_t kMatmulAlignment =
    // Alignment in bytes that tensor-core algorithms require.
    16;

// One f32 per operand, in device memory; the product is multiplied by it. Null: 1.
struct MatmulScales {
  const void *a = nullptr, *b = nullptr;
};

class Matmul {
 public:
  // `context` must outlive the object. UNIMPLEMENTED: cuBLASLt has no algorithm.
  static Result<std::unique_ptr<Matmul>> create(const Context& context, const MatmulShape& shape);
  ~Matmul();

  int64_t workspace_bytes() const { return workspace_bytes_; }
  // 8-bit float operands must be aligned to kMatmulAlignment; only they may have `scales`.
  Status run(CudaStream& stream, const void* a, const void* b, void* c, void* workspace,
             const MatmulScales& scales = {}) const;

 private:
  explicit Matmul(const Context& context) : context_(context) {}
  Status describe(const MatmulShape& shape);
  Status choose(uint32_t alignment, MatmulAlgorithm& algorithm);
  Status layout(MatrixLayout& layout, const MatrixPlace& place, int64_t rows, int64_t columns,
                int64_t batch);

  const Context& context_;
  MatmulDescriptor matmul_ = nullptr;
  MatrixLayout a_ = nullptr, b_ = nullptr, c_ = nullptr;
  MatmulAlgorithm aligned_{}, any_{};  // for operands aligned to kMatmulAlignment, and for others
  int64_t workspace_bytes_ = 0;
  bool is_f64_ = false, is_float8_ = false;
};

}  // namespace shw::runtime::cuda
