#include "runtime/cuda/plugin/matmul.h"

#include <algorithm>

namespace shw::runtime::cuda {
namespace {

constexpr size_t kMostWorkspace = 32u << 20;  // maximum workspace of an algorithm

CublasType cublas_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return kCudaF64;
    case Dtype::kF16:
      return kCudaF16;
    case Dtype::kBF16:
      return kCudaBF16;
    case Dtype::kC64:
      return kCudaC32;
    case Dtype::kF8E4M3:
      return kCudaF8E4M3;
    case Dtype::kF8E5M2:
      return kCudaF8E5M2;
    default:
      return kCudaF32;
  }
}

bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kMatmulAlignment == 0; }

// The number 1 in the scale type of each product: f32, f64, or a complex pair.
constexpr float kOne[2] = {1, 0}, kZero[2] = {0, 0};
constexpr double kOneF64 = 1, kZeroF64 = 0;

}  // namespace

bool can_multiply(Dtype a, Dtype b, Dtype c) {
  if (a != b) return false;
  if (a == Dtype::kF16 || a == Dtype::kBF16) return c == a || c == Dtype::kF32;
  return c == a && (a == Dtype::kF32 || a == Dtype::kF64 || a == Dtype::kC64);
}

Result<std::unique_ptr<Matmul>> Matmul::create(const Context& context, const MatmulShape& shape) {
  const Current current(context);
  std::unique_ptr<Matmul> matmul(new Matmul(context));
  SHW_RETURN_IF_ERROR(matmul->describe(shape));
  if (!matmul->is_float8_)
    SHW_RETURN_IF_ERROR(
        matmul->choose(static_cast<uint32_t>(dtype_size(shape.a.dtype)), matmul->any_));
  SHW_RETURN_IF_ERROR(matmul->choose(kMatmulAlignment, matmul->aligned_));
  return matmul;
}

Matmul::~Matmul() {
  const CublasLt& lt = context_.cublaslt();
  for (MatrixLayout l : {a_, b_, c_})
    if (l != nullptr) (void)lt.destroy_layout(l);
  if (matmul_ != nullptr) (void)lt.destroy_matmul(matmul_);
}

// cuBLASLt stores matrices by columns. A matrix stored by rows is the transpose of one stored by
// columns.
Status Matmul::layout(MatrixLayout& made, const MatrixPlace& place, int64_t rows, int64_t columns,
                      int64_t batch) {
  const CublasLt& lt = context_.cublaslt();
  const bool by_rows = place.column_stride == 1;
  const int64_t step = by_rows ? place.row_stride : place.column_stride;
  SHW_RETURN_IF_ERROR(
      lt.check(lt.create_layout(&made, cublas_type(place.dtype),
                                static_cast<uint64_t>(by_rows ? columns : rows),
                                static_cast<uint64_t>(by_rows ? rows : columns), step),
               "describing a matrix"));
  const auto count = static_cast<int32_t>(batch);
  SHW_RETURN_IF_ERROR(
      lt.check(lt.set_layout(made, kBatchCount, &count, sizeof count), "describing a matrix"));
  return lt.check(lt.set_layout(made, kBatchStride, &place.batch_stride, sizeof place.batch_stride),
                  "describing a matrix");
}

// c by rows is the transpose of c by columns: cᵀ = bᵀ · aᵀ, so b goes first.
Status Matmul::describe(const MatmulShape& s) {
  const CublasLt& lt = context_.cublaslt();
  is_f64_ = s.c.dtype == Dtype::kF64;
  is_float8_ = is_float8(s.a.dtype);
  SHW_RETURN_IF_ERROR(lt.check(lt.create_matmul(&matmul_, is_f64_ ? kCompute64F : kCompute32F,
                                                is_f64_                    ? kCudaF64
                                                : s.c.dtype == Dtype::kC64 ? kCudaC32
                                                                           : kCudaF32),
                               "describing a product of matrices"));
  const auto operation = [](const MatrixPlace& place) {
    return static_cast<int32_t>(place.column_stride == 1 ? kAsItIs : kTransposed);
  };
  const int32_t first = operation(s.b), second = operation(s.a);
  SHW_RETURN_IF_ERROR(lt.check(lt.set_matmul(matmul_, kTransposeA, &first, sizeof first),
                               "describing a product of matrices"));
  SHW_RETURN_IF_ERROR(lt.check(lt.set_matmul(matmul_, kTransposeB, &second, sizeof second),
                               "describing a product of matrices"));
  SHW_RETURN_IF_ERROR(layout(a_, s.a, s.m, s.k, s.batch));
  SHW_RETURN_IF_ERROR(layout(b_, s.b, s.k, s.n, s.batch));
  return layout(c_, s.c, s.m, s.n, s.batch);
}

Status Matmul::choose(uint32_t alignment, MatmulAlgorithm& algorithm) {
  const CublasLt& lt = context_.cublaslt();
  MatmulPreference preference = nullptr;
  SHW_RETURN_IF_ERROR(lt.check(lt.create_preference(&preference), "choosing a product"));
  CublasError error =
      lt.set_preference(preference, kMaxWorkspace, &kMostWorkspace, sizeof kMostWorkspace);
  for (PreferenceAttribute which : {kAlignmentA, kAlignmentB, kAlignmentC, kAlignmentD})
    if (error == 0) error = lt.set_preference(preference, which, &alignment, sizeof alignment);
  MatmulHeuristic found{};
  int count = 0;
  if (error == 0)
    error = lt.find_algorithm(context_.cublaslt_handle(), matmul_, b_, a_, c_, c_, preference, 1,
                              &found, &count);
  (void)lt.destroy_preference(preference);
  if (error != 0 || count == 0 || found.state != 0)
    return unimplemented("cuBLASLt knows no algorithm for this product (status " +
                         std::to_string(error) + "): run this plan on the CPU");
  algorithm = found.algorithm;
  workspace_bytes_ = std::max(workspace_bytes_, static_cast<int64_t>(found.workspace_bytes));
  return {};
}

Status Matmul::run(CudaStream& stream, const void* a, const void* b, void* c, void* workspace,
                   const MatmulScales& scales) const {
  const Current current(context_);
  const CublasLt& lt = context_.cublaslt();
  if (is_float8_) {  // b goes first
    SHW_RETURN_IF_ERROR(lt.check(lt.set_matmul(matmul_, kScaleOfA, &scales.b, sizeof scales.b),
                                 "scaling a product of matrices"));
    SHW_RETURN_IF_ERROR(lt.check(lt.set_matmul(matmul_, kScaleOfB, &scales.a, sizeof scales.a),
                                 "scaling a product of matrices"));
  }
  const bool aligned = is_aligned(a) && is_aligned(b) && is_aligned(c);
  const void* one = is_f64_ ? static_cast<const void*>(&kOneF64) : kOne;
  const void* zero = is_f64_ ? static_cast<const void*>(&kZeroF64) : kZero;
  return lt.check(
      lt.multiply(context_.cublaslt_handle(), matmul_, one, b, b_, a, a_, zero, c, c_, c, c_,
                  aligned ? &aligned_ : &any_, workspace, static_cast<size_t>(workspace_bytes_),
                  static_cast<StreamHandle>(stream.native())),
      "multiplying matrices");
}

}  // namespace shw::runtime::cuda
