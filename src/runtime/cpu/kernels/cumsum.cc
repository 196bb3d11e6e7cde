// cumsum: running sums along attrs.dim; reals add up in f64, integers in int64.
#include <algorithm>

#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kChunk = 256;

// T: what elements are loaded and stored as, Sum: what they add up to.
template <class T, class Sum>
class Cumsum final : public HostKernel {
 public:
  Cumsum(const TensorType& in, const TensorType& out, size_t dim, size_t output)
      : shape_(in.shape),
        count_(in.shape[dim]),
        in_stride_(in.strides[dim] * dtype_size(in.dtype)),
        out_stride_(out.strides[dim] * dtype_size(out.dtype)),
        strides_{leading_strides_bytes(in, in.shape.size()),
                 leading_strides_bytes(out, out.shape.size())},
        load_(load_row<T>(in.dtype)),
        store_(store_row<T>(out.dtype)),
        output_(output) {
    if (count_ > 0) shape_[dim] = 1;
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 2>& at) {
      T row[kChunk];
      Sum sum{};
      for (int64_t i = 0; i < count_; i += kChunk) {
        const int64_t n = std::min(kChunk, count_ - i);
        load_(in + at[0] + i * in_stride_, in_stride_, n, row);
        for (int64_t j = 0; j < n; ++j) {
          if constexpr (std::is_same_v<T, float>) {
            sum = sum + static_cast<Sum>(row[j]);
            row[j] = static_cast<T>(sum);
          } else {
            row[j] = sum = sum + row[j];
          }
        }
        store_(row, n, out + at[1] + i * out_stride_, out_stride_);
      }
    });
    return {};
  }

 private:
  Dims shape_;  // with 1 in place of the dim that is summed along
  int64_t count_, in_stride_, out_stride_;
  std::array<Dims, 2> strides_;
  LoadRow<T> load_;
  StoreRow<T> store_;
  size_t output_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  int64_t dim = args.attrs.get_int(AttrKey::kDim, 0);
  if (dim < 0) dim += in.rank();
  if (in.shape != out.shape || dim < 0 || dim >= in.rank())
    return bad_types("no running sums of " + to_string(in) + " in " + to_string(out));
  const auto d = static_cast<size_t>(dim);
  return with_compute_type(out.dtype, [&](auto t) -> Prepared {
    using T = decltype(t);
    using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;
    return make_kernel<Cumsum<T, Sum>>(in, out, d, args.inputs.size());
  });
}

}  // namespace

extern const Kernel kCumsum;
constinit const Kernel kCumsum = {"cumsum", prepare};

}  // namespace shw::runtime::cpu
