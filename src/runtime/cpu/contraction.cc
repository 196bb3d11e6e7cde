#include "runtime/cpu/contraction.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/split_gemm.h"
#include "runtime/equation.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

// How the product accesses an operand.
struct Access {
  Dtype dtype = Dtype::kF32;              // in memory
  bool fits = false, by_columns = false;  // in memory: strides are supported; orientation
  bool packed = false;
  int64_t row_stride = 0, column_stride = 0;  // in elements, of the multiplied matrix
  int64_t workspace_offset = 0;               // packed
  StridedCast pack;                           // to (operands) or from (result) the workspace
};

template <class T>
class ContractionKernel final : public HostKernel {
 public:
  ContractionKernel(Equation e, const KernelArgs& args, bool vectors_alone) {
    output_ = args.inputs.size();
    // The product writes dense rows. If the result's contiguous dim is among its rows, the
    // transposed product is computed.
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
    a_ = access(e.rows, e.depth, left_, args.inputs[left_]->dtype);
    b_ = access(e.depth, e.columns, right_, args.inputs[right_]->dtype);
    c_ = access(e.rows, e.columns, kResult, args.outputs[0]->dtype);
    as_bf16_ = !vectors_alone && takes_bf16();
    if (!as_bf16_) {
      prepare_operand(a_, e, left_, e.rows, e.depth);
      prepare_operand(b_, e, right_, e.depth, e.columns);
    }
    prepare_operand(c_, e, kResult, e.rows, e.columns);
    make_batch_loop(e);
    const int64_t scratch = vectors_alone ? 0
                            : as_bf16_ ? bf16_gemm_scratch(bf16_product(nullptr, nullptr, nullptr))
                                       : gemm_scratch(product(nullptr, nullptr, nullptr));
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
        auto* const scratch =
            scratch_offset_ >= 0 ? reinterpret_cast<T*>(workspace + scratch_offset_) : nullptr;
        if (as_bf16_) {
          Bf16Gemm g = bf16_product(at(1), at(2), at(0));
          g.scratch = reinterpret_cast<float*>(scratch);
          bf16_gemm(g);
        } else {
          Gemm<T> g = product(at(1), at(2), at(0));
          g.scratch = scratch;
          gemm<T>(g);
        }
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

  Bf16Gemm bf16_product(const std::byte* a, const std::byte* b, std::byte* c) const {
    return {m_,
            n_,
            k_,
            {reinterpret_cast<const uint16_t*>(a), a_.row_stride, a_.column_stride},
            {reinterpret_cast<const uint16_t*>(b), b_.row_stride, b_.column_stride},
            {reinterpret_cast<float*>(c), c_.row_stride, c_.column_stride}};
  }
  // Whether both operands can be multiplied in place by a matrix unit for bf16.
  bool takes_bf16() const {
    return std::is_same_v<T, float> && a_.dtype == Dtype::kBF16 && b_.dtype == Dtype::kBF16 &&
           a_.fits && b_.fits && bf16_gemm_scratch(bf16_product(nullptr, nullptr, nullptr)) > 0;
  }

  // Reserves `bytes` of the workspace and returns their offset.
  int64_t take_workspace(int64_t bytes) {
    const int64_t begin = workspace_bytes_;
    workspace_bytes_ += workspace_aligned(bytes);
    return begin;
  }

  static Access access(const Letters& rows, const Letters& columns, Operand which, Dtype dtype) {
    Access access;
    access.dtype = dtype;
    const int64_t num_rows = extent(rows), num_columns = extent(columns);
    access.row_stride = joint_stride(rows, which);
    access.column_stride = joint_stride(columns, which);
    if (num_columns == 1) access.column_stride = 1;
    if (num_rows == 1) access.row_stride = access.column_stride == 1 ? num_columns : 1;
    const bool by_rows = access.column_stride == 1 && access.row_stride >= num_columns;
    access.by_columns =
        !by_rows && access.row_stride == 1 && access.column_stride >= num_rows && which != kResult;
    access.fits = by_rows || access.by_columns;
    return access;
  }

  void prepare_operand(Access& access, const Equation& e, Operand which, const Letters& rows,
                       const Letters& columns) {
    if (access.fits && stored_as_is<T>(access.dtype)) return;
    access.packed = true;
    // The copy has the same orientation as its source, so that both are accessed line by line.
    const bool across = access.by_columns;
    access.row_stride = across ? 1 : extent(columns);
    access.column_stride = across ? extent(rows) : 1;
    const TensorType lies = letters_type(
        {&e.batch, across ? &columns : &rows, across ? &rows : &columns}, which, access.dtype);
    TensorType dense = row_major(compute_dtype(), lies.shape);
    access.pack = which == kResult ? StridedCast(lies, dense) : StridedCast(dense, lies);
    access.workspace_offset = take_workspace(dense.bytes());
  }

  void make_batch_loop(const Equation& e) {
    Dims shape;
    const auto batch_strides = [&](const Access& access, Operand which, int64_t matrix) {
      Dims strides;
      int64_t dense = matrix;
      for (auto it = e.batch.rbegin(); it != e.batch.rend(); ++it) {
        if (it->size == 1) continue;
        strides.insert(0, access.packed ? dense * static_cast<int64_t>(sizeof(T))
                                        : it->stride[which] * dtype_size(access.dtype));
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

  Operand left_ = kLeft, right_ = kRight;  // the left operand of the product
  size_t output_ = 2;
  int64_t m_ = 1, n_ = 1, k_ = 1;
  Access a_, b_, c_;
  StridedLoop batch_;
  bool as_bf16_ = false;                               // the operands are multiplied as bf16
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
