// constant_pad_nd(x): attrs.pad has two numbers per dim, last dim first: how many elements of
// attrs.value are added before and after it. Negative numbers remove elements.
#include "runtime/cpu/cast.h"
#include "runtime/cpu/fill.h"
#include "runtime/padded_windows.h"

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
  SHW_ASSIGN_OR_RETURN(const PaddedWindows w, padded_windows(args));
  return make_kernel<Pad>(args, w.from, w.to, w.from_bytes, w.to_bytes);
}

}  // namespace

extern const Kernel kPad;
constinit const Kernel kPad = {"constant_pad_nd", prepare};

}  // namespace shw::runtime::cpu
