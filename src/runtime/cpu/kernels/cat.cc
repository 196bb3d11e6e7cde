// cat: the inputs one after another along attrs.dim.
#include <algorithm>
#include <vector>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {
namespace {

class Cat final : public HostKernel {
 public:
  Cat(const KernelArgs& args, size_t dim) : output_(args.inputs.size()) {
    const TensorType& out = *args.outputs[0];
    int64_t offset = 0;
    for (const TensorType* in : args.inputs) {
      TensorType window = out;
      window.shape[dim] = in->shape[dim];
      parts_.push_back({StridedCast(window, *in), offset});
      offset += in->shape[dim] * out.strides[dim] * dtype_size(out.dtype);
    }
  }
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for (size_t i = 0; i < parts_.size(); ++i)
      parts_[i].copy.run(out + parts_[i].offset_bytes, buffers[i]);
    return {};
  }

 private:
  struct Part {
    StridedCast copy;
    int64_t offset_bytes;
  };
  std::vector<Part> parts_;
  size_t output_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(1, args.inputs.size())));
  const TensorType& out = *args.outputs[0];
  int64_t dim = args.attrs.get_int(AttrKey::kDim, 0);
  if (dim < 0) dim += out.rank();
  if (dim < 0 || dim >= out.rank()) return bad_types("no such dim in " + to_string(out));
  const auto d = static_cast<size_t>(dim);
  int64_t left = out.shape[d];
  for (const TensorType* in : args.inputs) {
    Dims shape = in->shape;
    if (shape.size() != out.shape.size())
      return bad_types(to_string(*in) + " in " + to_string(out));
    left -= shape[d];
    shape[d] = out.shape[d];
    if (shape != out.shape || left < 0)
      return bad_types(to_string(*in) + " is no part of " + to_string(out));
  }
  if (left != 0) return bad_types("the parts do not fill " + to_string(out));
  return make_kernel<Cat>(args, d);
}

}  // namespace

extern const Kernel kCat;
constinit const Kernel kCat = {"cat", prepare};

}  // namespace shw::runtime::cpu
