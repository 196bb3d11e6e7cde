// scatter_add(x, indices, src): x, to which the elements of src are added where the indices point
// along attrs.dim, in row-major order.
#include "runtime/cpu/cast.h"
#include "runtime/cpu/lookup.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class ScatterAdd final : public HostKernel {
 public:
  ScatterAdd(const KernelArgs& args, const Lookup& lookup)
      : lookup_(lookup),
        ground_(*args.outputs[0], *args.inputs[0]),
        load_(load_row<T>(args.outputs[0]->dtype)),
        store_(store_row<T>(args.outputs[0]->dtype)),
        output_(args.inputs.size()) {}
  Status compute(void* const* buffers) override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    ground_.run(out, buffers[0]);
    return lookup_.for_each(buffers[1], [&](int64_t to, int64_t from) {
      if (to < 0) return;
      T sum, more;
      load_(out + to, 0, 1, &sum);
      load_(static_cast<const std::byte*>(buffers[2]) + from, 0, 1, &more);
      sum = sum + more;
      store_(&sum, 1, out + to, 0);
    });
  }

 private:
  Lookup lookup_;
  StridedCast ground_;
  LoadRow<T> load_;
  StoreRow<T> store_;
  size_t output_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  const TensorType &in = *args.inputs[0], &src = *args.inputs[2], &out = *args.outputs[0];
  if (in.shape != out.shape || in.dtype != out.dtype || src.dtype != out.dtype)
    return bad_types(to_string(src) + " is not added to " + to_string(in) + " in " +
                     to_string(out));
  SHW_ASSIGN_OR_RETURN(const Lookup lookup, lookup_elements(args, out, *args.inputs[1], src));
  return with_compute_type(out.dtype, [&](auto t) -> Prepared {
    return make_kernel<ScatterAdd<decltype(t)>>(args, lookup);
  });
}

}  // namespace

extern const Kernel kScatterAdd;
constinit const Kernel kScatterAdd = {"scatter_add", prepare};

}  // namespace shw::runtime::cpu
