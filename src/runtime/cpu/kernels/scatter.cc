// scatter(x, indices, src?): a copy of x in which the elements that the indices select along
// attrs.dim are replaced by those of src, or by attrs.src. If several replace the same element, the
// last in row-major order wins.
#include <cstring>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/fill.h"
#include "runtime/cpu/lookup.h"
#include "runtime/index_shape.h"

namespace shw::runtime::cpu {
namespace {

class Scatter final : public HostKernel {
 public:
  Scatter(const KernelArgs& args, const Lookup& lookup, bool has_src)
      : lookup_(lookup),
        ground_(*args.outputs[0], *args.inputs[0]),
        has_src_(has_src),
        item_(static_cast<size_t>(dtype_size(args.outputs[0]->dtype))),
        output_(args.inputs.size()) {
    if (!has_src)
      number_ = element_of(args.outputs[0]->dtype, scalar_attr(args.attrs, AttrKey::kSrc, 0));
  }
  Status compute(void* const* buffers) override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    if (out != buffers[0]) ground_.run(out, buffers[0]);
    return lookup_.for_each(buffers[1], [&](int64_t to, int64_t from) {
      if (to < 0) return;
      const std::byte* element =
          has_src_ ? static_cast<const std::byte*>(buffers[2]) + from : number_.data();
      std::memcpy(out + to, element, item_);
    });
  }

 private:
  Lookup lookup_;
  StridedCast ground_;
  bool has_src_;
  StridedFill::Element number_{};
  size_t item_, output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const bool has_src = args.inputs.size() > 2 && args.inputs[2] != nullptr;
  const TensorType& beside = *args.inputs[has_src ? 2 : 1];
  SHW_RETURN_IF_ERROR(check_written(args, has_src ? &beside : nullptr));
  SHW_ASSIGN_OR_RETURN(const Lookup lookup,
                       lookup_elements(args, *args.outputs[0], *args.inputs[1], beside));
  return make_kernel<Scatter>(args, lookup, has_src);
}

}  // namespace

extern const Kernel kScatter;
constinit const Kernel kScatter = {"scatter", prepare};

}  // namespace shw::runtime::cpu
