#include "runtime/cpu/reduction.h"

#include <algorithm>

#include "runtime/cpu/rows.h"
#include "runtime/simd.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kSums = 256;   // that advance side by side
constexpr int64_t kChunk = 512;  // elements of a row that are converted at a time
constexpr int64_t kLanes = 8;    // partial sums of a row, so that it vectorises

// The input's dims, those that stay with their strides in input and output.
struct Split {
  Dims kept, kept_in, kept_out;  // sizes; strides in bytes
  Dims reduced, reduced_in;
  int64_t count = 1;  // elements that make one result
};

Result<Split> split_dims(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const auto rank = static_cast<size_t>(in.rank());
  std::array<bool, kMaxRank> reduce{};
  for (int64_t d : args.attrs.get_ints(AttrKey::kDims)) {
    const int64_t at = d < 0 ? d + in.rank() : d;
    if (at < 0 || at >= in.rank())
      return invalid_argument("dim " + std::to_string(d) + " of " + to_string(in) +
                              " cannot be summed over");
    reduce[static_cast<size_t>(at)] = true;
  }
  if (args.attrs.get_ints(AttrKey::kDims).empty()) reduce.fill(true);
  const bool keepdim = args.attrs.get_bool(AttrKey::kKeepDim, false);
  Split s;
  Dims expected;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t stride = in.strides[d] * dtype_size(in.dtype);
    if (reduce[d]) {
      s.reduced.push_back(in.shape[d]);
      s.reduced_in.push_back(stride);
      s.count *= in.shape[d];
      if (keepdim) expected.push_back(1);
      continue;
    }
    const size_t at = expected.size();
    if (at < out.strides.size()) s.kept_out.push_back(out.strides[at] * dtype_size(out.dtype));
    s.kept.push_back(in.shape[d]);
    s.kept_in.push_back(stride);
    expected.push_back(in.shape[d]);
  }
  if (out.shape != expected) return bad_types(to_string(in) + " does not sum to " + to_string(out));
  return s;
}

// `Value` is what elements are loaded as, `Sum` what they add up to.
template <class Value, class Sum>
class ReductionKernel final : public HostKernel {
 public:
  ReductionKernel(const Split& split, Dtype in, Dtype out, Reduction reduction, size_t num_inputs)
      : load_(load_row<Value>(in)),
        store_(store_row<Sum>(out)),
        count_(reduction == Reduction::kMean ? split.count : -1),
        output_(num_inputs) {
    const Dims kept[2] = {split.kept_in, split.kept_out};
    kept_ = make_loop(split.kept, kept);
    const Dims reduced[1] = {split.reduced_in};
    reduced_ = make_loop(split.reduced, reduced);
    side_by_side_ = kept_.row_size > 1 && kept_.row_stride_bytes[0] < reduced_.row_stride_bytes[0];
  }

  Status compute(void* const* buffers) noexcept override {
    auto* in = static_cast<std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const int64_t in_stride = kept_.row_stride_bytes[0], out_stride = kept_.row_stride_bytes[1];
    for_each_row(kept_, std::array{in, out}, [&](const std::array<std::byte*, 2>& p) {
      for (int64_t j = 0; j < kept_.row_size; j += kSums) {
        const int64_t n = std::min(kSums, kept_.row_size - j);
        Sum sums[kSums] = {};
        std::byte* from = p[0] + j * in_stride;
        if (side_by_side_)
          add_rows(from, n, sums);
        else
          for (int64_t i = 0; i < n; ++i) sums[i] = sum_of(from + i * in_stride);
        if constexpr (std::is_same_v<Sum, double>)
          if (count_ >= 0)
            for (int64_t i = 0; i < n; ++i) sums[i] /= static_cast<double>(count_);
        store_(sums, n, p[1] + j * out_stride, out_stride);
      }
    });
    return {};
  }

 private:
  static Sum as_sum(Value v) { return static_cast<Sum>(v); }

  void add_rows(std::byte* from, int64_t n, Sum* sums) const {
    const int64_t step = reduced_.row_stride_bytes[0];
    for_each_row(reduced_, std::array{from}, [&](const std::array<std::byte*, 1>& p) {
      Value values[kSums];
      for (int64_t r = 0; r < reduced_.row_size; ++r) {
        load_(p[0] + r * step, kept_.row_stride_bytes[0], n, values);
        vector_loop(n, [&](int64_t i) { sums[i] = sums[i] + as_sum(values[i]); });
      }
    });
  }

  Sum sum_of(std::byte* from) const {
    const int64_t stride = reduced_.row_stride_bytes[0];
    Sum lanes[kLanes] = {};
    for_each_row(reduced_, std::array{from}, [&](const std::array<std::byte*, 1>& p) {
      Value values[kChunk];
      for (int64_t r = 0; r < reduced_.row_size; r += kChunk) {
        const int64_t n = std::min(kChunk, reduced_.row_size - r);
        load_(p[0] + r * stride, stride, n, values);
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes)
          for (int64_t l = 0; l < kLanes; ++l) lanes[l] = lanes[l] + as_sum(values[i + l]);
        for (int64_t l = 0; i < n; ++i, ++l) lanes[l] = lanes[l] + as_sum(values[i]);
      }
    });
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t l = 0; l < width; ++l) lanes[l] = lanes[l] + lanes[l + width];
    return lanes[0];
  }

  LoadRow<Value> load_;
  StoreRow<Sum> store_;
  int64_t count_;  // to divide by; -1: a sum
  size_t output_;
  StridedLoop kept_;     // input, output
  StridedLoop reduced_;  // input
  bool side_by_side_;
};

// A complex tensor as one of f32 with a last dim of 2.
Result<TensorType> as_real(const TensorType& type) {
  if (type.rank() == kMaxRank)
    return unimplemented("the sum of a complex tensor of rank " + std::to_string(kMaxRank));
  TensorType real = type;
  real.dtype = Dtype::kF32;
  for (int64_t& stride : real.strides) stride *= 2;
  real.shape.push_back(2);
  real.strides.push_back(1);
  return real;
}

Prepared prepare_complex(const KernelArgs& args, Reduction reduction) {
  SHW_ASSIGN_OR_RETURN(const TensorType in, as_real(*args.inputs[0]));
  SHW_ASSIGN_OR_RETURN(const TensorType out, as_real(*args.outputs[0]));
  std::vector<int64_t> dims = args.attrs.get_ints(AttrKey::kDims);
  const int64_t rank = args.inputs[0]->rank();
  for (int64_t& d : dims) d = d < 0 ? d + rank : d;
  if (dims.empty())
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
  if (dims.empty()) return unimplemented("the sum of one complex number");
  Attrs attrs = args.attrs;
  attrs.set(AttrKey::kDims, dims);
  const TensorType* inputs[1] = {&in};
  const TensorType* outputs[1] = {&out};
  return prepare_reduction({inputs, outputs, attrs, args.mesh, args.rank}, reduction);
}

}  // namespace

Prepared prepare_reduction(const KernelArgs& args, Reduction reduction) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const Dtype in = args.inputs[0]->dtype, out = args.outputs[0]->dtype;
  if (is_complex(in) && is_complex(out)) return prepare_complex(args, reduction);
  SHW_ASSIGN_OR_RETURN(const Split split, split_dims(args));
  const size_t n = args.inputs.size();
  if (is_floating(out)) {
    if (in == Dtype::kF64)
      return make_kernel<ReductionKernel<double, double>>(split, in, out, reduction, n);
    if (is_floating(in))
      return make_kernel<ReductionKernel<float, double>>(split, in, out, reduction, n);
  } else if (!is_complex(out) && !is_complex(in) && !is_floating(in) &&
             reduction == Reduction::kSum) {
    return make_kernel<ReductionKernel<Int, Int>>(split, in, out, reduction, n);
  }
  return unimplemented("a sum or mean of " + std::string(dtype_name(in)) + " in " +
                       std::string(dtype_name(out)));
}

}  // namespace shw::runtime::cpu
