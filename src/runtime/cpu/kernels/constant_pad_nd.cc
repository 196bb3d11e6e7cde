// constant_pad_nd(x): attrs.pad, from the last dim on, says how many elements of attrs.value go in
// front of and behind each dim; negative ones cut off.
#include <algorithm>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
namespace {

class Pad final : public HostKernel {
 public:
  Pad(const KernelArgs& args, const TensorType& from, const TensorType& to, int64_t from_bytes,
      int64_t to_bytes)
      : fill_(*args.outputs[0],
              element_of(args.outputs[0]->dtype, scalar_attr(args.attrs, AttrKey::kValue, 0))),
        copy_(to, from),
        from_bytes_(from_bytes),
        to_bytes_(to_bytes),
        output_(args.inputs.size()) {}
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    fill_.run(out);
    copy_.run(out + to_bytes_, static_cast<const std::byte*>(buffers[0]) + from_bytes_);
    return {};
  }

 private:
  StridedFill fill_;
  StridedCast copy_;
  int64_t from_bytes_, to_bytes_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const std::vector<int64_t>& pad = args.attrs.get_ints(AttrKey::kPad);
  bool fits = pad.size() % 2 == 0 && pad.size() / 2 <= in.shape.size() &&
              in.shape.size() == out.shape.size();
  TensorType from = in, to = out;                    // what the two have in common
  const auto padding = [&](size_t d, size_t side) {  // before dim d or behind it
    const size_t i = 2 * (in.shape.size() - 1 - d);
    return i < pad.size() ? pad[i + side] : 0;
  };
  for (size_t d = 0; fits && d < in.shape.size(); ++d) {
    const int64_t before = padding(d, 0), behind = padding(d, 1), n = in.shape[d];
    fits = before >= -n && behind >= -n && before <= out.shape[d] && behind <= out.shape[d] &&
           n + before + behind == out.shape[d];
    from.shape[d] = to.shape[d] = n + std::min<int64_t>(before, 0) + std::min<int64_t>(behind, 0);
    fits = fits && to.shape[d] >= 0;
  }
  if (!fits) return bad_types(to_string(in) + " is not padded to " + to_string(out));
  int64_t from_bytes = 0, to_bytes = 0;
  // Where they have nothing in common, other dims may be of any size.
  for (size_t d = 0; to.numel() > 0 && d < in.shape.size(); ++d) {
    from_bytes += std::max<int64_t>(-padding(d, 0), 0) * in.strides[d] * dtype_size(in.dtype);
    to_bytes += std::max<int64_t>(padding(d, 0), 0) * out.strides[d] * dtype_size(out.dtype);
  }
  return make_kernel<Pad>(args, from, to, from_bytes, to_bytes);
}

}  // namespace

extern const Kernel kPad;
constinit const Kernel kPad = {"constant_pad_nd", prepare};

}  // namespace shw::runtime::cpu
