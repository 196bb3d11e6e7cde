// cuBLASLt multiplies 8-bit floats under these conditions: the summed dim is contiguous in both
// operands (its "TN"), its size and the number of columns are multiples of 16, addresses and rows
// are aligned to 16 bytes, and one operand is E4M3. It accumulates in f32. An operand with another
// layout is first packed into the workspace. cuBLASLt applies scales that are a single f32 each.
// Other scales, and a bias, are applied by separate kernels; the sum is then f32, in the workspace.
#include "runtime/cuda/plugin/float8_product.h"

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/cuda/plugin/matmul.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/wide_type.h"

namespace shw::runtime::cuda {
namespace {

constexpr int64_t kMultiple = 16;

// A matrix as cuBLASLt reads it.
struct PackedMatrix {
  MatrixPlace place;
  std::optional<Pointwise> pack;
  int64_t workspace_offset = 0;
};

class Float8Product final : public CudaKernel {
 public:
  Float8Product(const KernelArgs& args, std::unique_ptr<PreparedKernel> otherwise)
      : otherwise_(std::move(otherwise)), output_(args.inputs.size()) {}

  Status prepare(const Context& context, const KernelArgs& args);
  int64_t workspace_bytes() const override {
    return std::max(bytes_ + matmul_->workspace_bytes(), otherwise_->workspace_bytes());
  }
  std::unique_ptr<PreparedKernel> take_otherwise() { return std::move(otherwise_); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override;

 private:
  // Reserves part of the workspace and returns its offset.
  int64_t take(int64_t bytes) {
    const int64_t begin = bytes_;
    bytes_ += workspace_aligned(bytes);
    return begin;
  }
  // A matrix that is summed over dim `terms`.
  void place_operand(PackedMatrix& matrix, const TensorType& type, size_t terms);
  void finish_in_kernels(const KernelArgs& args, const TensorType& sum, bool scale);

  std::unique_ptr<PreparedKernel> otherwise_;
  const size_t output_;
  PackedMatrix a_, b_;
  std::unique_ptr<Matmul> matmul_;
  bool has_scales_ = false;            // cuBLASLt applies both scales
  std::optional<int64_t> sum_offset_;  // absent: the product is written to the result
  std::optional<Pointwise> scale_, add_;
  int64_t bytes_ = 0;
};

void Float8Product::place_operand(PackedMatrix& matrix, const TensorType& type, size_t terms) {
  const size_t lines = 1 - terms;
  const auto strides = [&](int64_t line) {
    return terms == 1 ? MatrixPlace{line, 1, 0, type.dtype} : MatrixPlace{1, line, 0, type.dtype};
  };
  const int64_t count = type.shape[terms], line = type.strides[lines];
  if (type.strides[terms] == 1 && line >= count && line % kMultiple == 0) {
    matrix.place = strides(line);
    return;
  }
  matrix.place = strides(count);
  TensorType dense{type.shape, {count, 1}, type.dtype};
  if (terms == 0) std::swap(dense.strides[0], dense.strides[1]);
  matrix.pack = make_copy(dense, type);
  matrix.workspace_offset = take(dense.bytes());
}

// Prepares kernels for what the product does not do: multiply by the scales, add the bias, convert
// to the result's dtype.
void Float8Product::finish_in_kernels(const KernelArgs& args, const TensorType& sum, bool scale) {
  const TensorType& out = *args.outputs[0];
  const TensorType* bias = args.inputs.size() > 4 ? args.inputs[4] : nullptr;
  const auto operand = [&](const TensorType& type) {
    return PointwiseOperand{&type, broadcast_strides_bytes(type, out.shape)};
  };
  if (scale)
    scale_.emplace(PointwiseOp::kMulThree, sum.dtype, bias != nullptr ? sum : out, operand(sum),
                   operand(*args.inputs[2]), operand(*args.inputs[3]));
  if (bias != nullptr)
    add_.emplace(PointwiseOp::kAdd, out.dtype, out, operand(sum), operand(*bias));
  else if (!scale)
    add_.emplace(make_copy(out, sum));
}

// UNIMPLEMENTED: cuBLASLt does not support the operands.
Status Float8Product::prepare(const Context& context, const KernelArgs& args) {
  const TensorType &a = *args.inputs[0], &b = *args.inputs[1], &out = *args.outputs[0];
  const int64_t m = out.shape[0], n = out.shape[1], k = a.shape[1];
  if (m == 0 || n == 0 || k == 0 || n % kMultiple != 0 || k % kMultiple != 0 ||
      (a.dtype == Dtype::kF8E5M2 && b.dtype == Dtype::kF8E5M2) || out.dtype == Dtype::kF64)
    return unimplemented("no product of cuBLASLt");
  const auto is_one_f32 = [](const TensorType& t) {
    return t.numel() == 1 && t.dtype == Dtype::kF32;
  };
  const bool has_bias = args.inputs.size() > 4 && args.inputs[4] != nullptr;
  has_scales_ = is_one_f32(*args.inputs[2]) && is_one_f32(*args.inputs[3]);
  place_operand(a_, a, 1);
  place_operand(b_, b, 0);
  const TensorType sum = row_major(Dtype::kF32, out.shape);
  const bool is_result = has_scales_ && !has_bias && out.contiguous() && !is_float8(out.dtype);
  if (!is_result) {
    sum_offset_ = take(sum.bytes());
    finish_in_kernels(args, sum, !has_scales_);
  }
  const MatrixPlace c{n, 1, 0, is_result ? out.dtype : sum.dtype};
  SHW_ASSIGN_OR_RETURN(matmul_, Matmul::create(context, {1, m, n, k, a_.place, b_.place, c}));
  return {};
}

Status Float8Product::enqueue(CudaStream& stream, void* const* buffers) {
  auto* workspace = static_cast<std::byte*>(buffers[output_ + 1]);
  const auto place = [&](const PackedMatrix& matrix, void* buffer) -> void* {
    return matrix.pack ? workspace + matrix.workspace_offset : buffer;
  };
  void* const result = buffers[output_];
  void *const a = place(a_, buffers[0]), *const b = place(b_, buffers[1]),
              *const c = sum_offset_ ? workspace + *sum_offset_ : result;
  for (const void* p : {a, b, c})
    if (reinterpret_cast<uintptr_t>(p) % kMatmulAlignment != 0) {
      otherwise_->origin = origin;
      otherwise_->launch(stream, buffers);
      return {};
    }
  if (a_.pack) SHW_RETURN_IF_ERROR(a_.pack->run(stream, a, buffers[0], nullptr));
  if (b_.pack) SHW_RETURN_IF_ERROR(b_.pack->run(stream, b, buffers[1], nullptr));
  MatmulScales scales;
  if (has_scales_) scales = {buffers[2], buffers[3]};
  SHW_RETURN_IF_ERROR(matmul_->run(stream, a, b, c, workspace + bytes_, scales));
  // In place each thread reads the element that it writes.
  if (scale_)
    SHW_RETURN_IF_ERROR(scale_->run(stream, add_ ? c : result, c, buffers[2], buffers[3]));
  if (!add_) return {};
  return add_->run(stream, result, c, output_ > 4 ? buffers[4] : nullptr);
}

}  // namespace

Prepared prepare_float8_product(const Context& context, const KernelArgs& args,
                                std::unique_ptr<PreparedKernel> otherwise) {
  auto product = std::make_unique<Float8Product>(args, std::move(otherwise));
  const Status status = product->prepare(context, args);
  if (status.ok()) return std::unique_ptr<PreparedKernel>(std::move(product));
  if (status.code() != Code::kUnimplemented) return status;
  return product->take_otherwise();
}

}  // namespace shw::runtime::cuda
