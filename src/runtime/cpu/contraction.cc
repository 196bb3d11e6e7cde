#include "runtime/cpu/contraction.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/gemm.h"
#include "runtime/equation.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

// How one operand enters the product.
struct Access {
  bool packed = false;
  int64_t row_stride = 0, column_stride = 0;  // in elements of what is multiplied
  int64_t workspace_offset = 0;               // packed
  StridedCast pack;                           // to (operands) or from (result) the workspace
};

template <class T>
class ContractionKernel final : public HostKernel {
 public:
  ContractionKernel(Equation e, const KernelArgs& args, bool vectors_alone) {
    output_ = args.inputs.size();
    // The product writes rows without gaps: where the result's gapless dim is among the rows, the
    // transposed product is formed.
    const auto gapless = [](const Letters& letters) {
      return std::any_of(letters.begin(), letters.end(),
                         [](const Letter& l) { return l.size != 1 && l.stride[kResult] == 1; });
    };
    if (gapless(e.rows) && !gapless(e.columns)) {
      std::swap(e.rows, e.columns);
      std::swap(left_, right_);
    }
    sort_by(e.batch, kResult);
    sort_by(e.rows, kResult);
    sort_by(e.columns, kResult);
    sort_by(e.depth, left_);
    m_ = extent(e.rows);
    n_ = extent(e.columns);
    k_ = extent(e.depth);
    Dtype dtype[3] = {args.inputs[0]->dtype, args.inputs[1]->dtype, args.outputs[0]->dtype};
    prepare_operand(a_, e, left_, e.rows, e.depth, dtype[left_]);
    prepare_operand(b_, e, right_, e.depth, e.columns, dtype[right_]);
    prepare_operand(c_, e, kResult, e.rows, e.columns, dtype[kResult]);
    make_batch_loop(e);
    const int64_t scratch = vectors_alone ? 0 : gemm_scratch(product(nullptr, nullptr, nullptr));
    if (scratch > 0) scratch_offset_ = take_workspace(scratch * static_cast<int64_t>(sizeof(T)));
  }

  int64_t workspace_bytes() const override { return workspace_bytes_; }

  Status compute(void* const* buffers) noexcept override {
    auto* workspace = static_cast<std::byte*>(buffers[output_ + 1]);
    const auto address = [&](Access& access, void* buffer) -> std::byte* {
      return access.packed ? workspace + access.workspace_offset : static_cast<std::byte*>(buffer);
    };
    std::byte* a = address(a_, buffers[left_]);
    std::byte* b = address(b_, buffers[right_]);
    std::byte* c = address(c_, buffers[output_]);
    if (a_.packed) a_.pack.run(a, buffers[left_]);
    if (b_.packed) b_.pack.run(b, buffers[right_]);
    for_each_row(batch_, std::array{c, a, b}, [&](const std::array<std::byte*, 3>& p) {
      for (int64_t i = 0; i < batch_.row_size; ++i) {
        const auto at = [&](size_t o) { return p[o] + i * batch_.row_stride_bytes[o]; };
        Gemm<T> g = product(at(1), at(2), at(0));
        if (scratch_offset_ >= 0) g.scratch = reinterpret_cast<T*>(workspace + scratch_offset_);
        gemm<T>(g);
      }
    });
    if (c_.packed) c_.pack.run(buffers[output_], c);
    return {};
  }

 private:
  Gemm<T> product(const std::byte* a, const std::byte* b, std::byte* c) const {
    return {m_,
            n_,
            k_,
            {reinterpret_cast<const T*>(a), a_.row_stride, a_.column_stride},
            {reinterpret_cast<const T*>(b), b_.row_stride, b_.column_stride},
            {reinterpret_cast<T*>(c), c_.row_stride, c_.column_stride}};
  }

  // Where the next `bytes` of the workspace begin.
  int64_t take_workspace(int64_t bytes) {
    const int64_t begin = workspace_bytes_;
    workspace_bytes_ += workspace_aligned(bytes);
    return begin;
  }

  void prepare_operand(Access& access, const Equation& e, Operand which, const Letters& rows,
                       const Letters& columns, Dtype dtype) {
    const int64_t num_rows = extent(rows), num_columns = extent(columns);
    access.row_stride = joint_stride(rows, which);
    access.column_stride = joint_stride(columns, which);
    if (num_columns == 1) access.column_stride = 1;
    if (num_rows == 1) access.row_stride = access.column_stride == 1 ? num_columns : 1;
    const bool by_rows = access.column_stride == 1 && access.row_stride >= num_columns;
    const bool by_columns = access.row_stride == 1 && access.column_stride >= num_rows;
    if (stored_as_is<T>(dtype) && (by_rows || (by_columns && which != kResult))) return;
    access.packed = true;
    access.row_stride = num_columns;
    access.column_stride = 1;
    const TensorType lies = letters_type({&e.batch, &rows, &columns}, which, dtype);
    TensorType dense = row_major(compute_dtype(), lies.shape);
    access.pack = which == kResult ? StridedCast(lies, dense) : StridedCast(dense, lies);
    access.workspace_offset = take_workspace(dense.bytes());
  }

  void make_batch_loop(const Equation& e) {
    const int64_t element = sizeof(T);
    Dims shape;
    const auto batch_strides = [&](const Access& access, Operand which, int64_t matrix) {
      Dims strides;
      int64_t dense = matrix;
      for (auto it = e.batch.rbegin(); it != e.batch.rend(); ++it) {
        if (it->size == 1) continue;
        strides.insert(0, (access.packed ? dense : it->stride[which]) * element);
        dense *= it->size;
      }
      return strides;
    };
    for (const Letter& l : e.batch)
      if (l.size != 1) shape.push_back(l.size);
    const Dims strides[3] = {batch_strides(c_, kResult, m_ * n_), batch_strides(a_, left_, m_ * k_),
                             batch_strides(b_, right_, k_ * n_)};
    batch_ = make_loop(shape, strides);
  }

  static constexpr Dtype compute_dtype() {
    return std::is_same_v<T, float>    ? Dtype::kF32
           : std::is_same_v<T, double> ? Dtype::kF64
           : std::is_same_v<T, Int>    ? Dtype::kI64
                                       : Dtype::kC64;
  }

  Operand left_ = kLeft, right_ = kRight;  // what stands left of the product
  size_t output_ = 2;
  int64_t m_ = 1, n_ = 1, k_ = 1;
  Access a_, b_, c_;
  StridedLoop batch_;
  int64_t workspace_bytes_ = 0, scratch_offset_ = -1;  // -1: none
};

}  // namespace

[[gnu::cold]] Prepared prepare_contraction(const KernelArgs& args, std::string_view equation,
                                           bool vectors_alone) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(
      Equation e, parse_equation(equation, *args.inputs[0], *args.inputs[1], *args.outputs[0]));
  if (num_wide(e) > static_cast<size_t>(kMaxRank))
    return unimplemented("einsum '" + std::string(equation) + "' has more than " +
                         std::to_string(kMaxRank) + " letters");
  const int64_t batch = extent(e.batch), m = extent(e.rows), n = extent(e.columns),
                k = extent(e.depth);
  SHW_RETURN_IF_ERROR(check_size({batch, m, k}));
  SHW_RETURN_IF_ERROR(check_size({batch, k, n}));
  SHW_RETURN_IF_ERROR(check_size({batch, m, n}));
  return with_compute_type(args.outputs[0]->dtype, [&](auto t) -> Prepared {
    return make_kernel<ContractionKernel<decltype(t)>>(std::move(e), args, vectors_alone);
  });
}

}  // namespace shw::runtime::cpu
