// One product of matrices by cuBLASLt, for one shape: descriptors and algorithms are chosen once.
#pragma once
#include <memory>

#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// A matrix in memory: rows lie next to each other (column_stride 1) or columns do (row_stride 1).
// Strides in elements; `batch_stride` from one product to the next.
struct MatrixPlace {
  int64_t row_stride = 0, column_stride = 0, batch_stride = 0;
  Dtype dtype = Dtype::kF32;
};
struct MatmulShape {
  int64_t batch = 1, m = 0, n = 0, k = 0;  // none is 0
  MatrixPlace a, b, c;  // c[m,n] = a[m,k] · b[k,n]; rows of c lie next to each other
};

// The cuBLASLt types of such a product; false: it has none. Of 8-bit floats: float8_product.h.
bool can_multiply(Dtype a, Dtype b, Dtype c);

constexpr uint32_t kMatmulAlignment =
    16;  // what tensor-core algorithms want of addresses, in bytes

// One f32 for each operand, in device memory, by which the product is multiplied; null: 1.
struct MatmulScales {
  const void *a = nullptr, *b = nullptr;
};

class Matmul {
 public:
  // `context` outlives it. UNIMPLEMENTED: cuBLASLt knows no algorithm.
  static Result<std::unique_ptr<Matmul>> create(const Context& context, const MatmulShape& shape);
  ~Matmul();

  int64_t workspace_bytes() const { return workspace_bytes_; }
  // Operands that are 8-bit floats are aligned to kMatmulAlignment; `scales` are of such alone.
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
