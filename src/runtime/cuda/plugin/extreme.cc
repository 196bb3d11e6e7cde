#include "runtime/cuda/plugin/extreme.h"

#include "runtime/cuda/plugin/loops.h"
#include "runtime/search_dims.h"

namespace shw::runtime::cuda {
namespace {

class ExtremeKernel final : public CudaKernel {
 public:
  // Numbers of the results' buffers; -1: not one of them.
  ExtremeKernel(DeviceKernel kernel, const ExtremeArguments& arguments, int value, int place)
      : kernel_(kernel), arguments_(arguments), value_(value), place_(place) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const auto result = [&](int i) { return i < 0 ? nullptr : buffers[i]; };
    const void* in = buffers[0];
    return launch_blocks(stream, kernel_, arguments_.kept.total, result(value_), result(place_), in,
                         arguments_);
  }

 private:
  const DeviceKernel kernel_;
  const ExtremeArguments arguments_;
  const int value_, place_;
};

// Numbers of the results among the step's outputs; -1: absent.
Prepared extreme(const KernelArgs& args, bool largest, int value, int place) {
  const auto result = [&](int i) -> const TensorType* {
    return i < 0 ? nullptr : args.outputs[static_cast<size_t>(i)];
  };
  const std::array results{result(value), result(place)};
  SHW_ASSIGN_OR_RETURN(const Search search, search_of(args, results));
  const Dtype in = args.inputs[0]->dtype;
  if (is_complex(in)) return unimplemented("complex numbers have no order");
  ExtremeArguments a{};
  a.kept = plain_loops(search.kept);
  a.searched = plain_loops(search.searched);  // in this order, because the first occurrence counts
  for (size_t o = 0; o < 3; ++o) set_strides(search.kept_strides[o], a.kept_stride[o]);
  set_strides(search.searched_strides[0], a.searched_stride);
  a.dtype[0] = static_cast<int>(in);
  for (size_t r = 0; r < 2; ++r)
    if (results[r] != nullptr) a.dtype[r + 1] = static_cast<int>(results[r]->dtype);
  a.largest = largest ? 1 : 0;
  const DeviceKernel kernel =
      is_floating(in) ? DeviceKernel::shw_extreme_f64 : DeviceKernel::shw_extreme_i64;
  const auto buffer = [](int output) { return output < 0 ? -1 : 1 + output; };
  return make_kernel<ExtremeKernel>(kernel, a, buffer(value), buffer(place));
}

Prepared extreme_and_place(const KernelArgs& args, bool largest) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  if (args.inputs.size() != 1 || args.outputs.size() != 2 || !args.attrs.has(AttrKey::kDim))
    return bad_types("one tensor gives a value and a place, along a dim");
  return extreme(args, largest, 0, 1);
}
Prepared extreme_place(const KernelArgs& args, bool largest) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (args.inputs.size() != 1) return bad_types("one tensor gives a place");
  return extreme(args, largest, -1, 0);
}

}  // namespace

Prepared prepare_max(const Context&, const KernelArgs& args) {
  return extreme_and_place(args, true);
}
Prepared prepare_min(const Context&, const KernelArgs& args) {
  return extreme_and_place(args, false);
}
Prepared prepare_argmax(const Context&, const KernelArgs& args) {
  return extreme_place(args, true);
}
Prepared prepare_argmin(const Context&, const KernelArgs& args) {
  return extreme_place(args, false);
}

}  // namespace shw::runtime::cuda
