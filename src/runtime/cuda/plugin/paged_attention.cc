#include "runtime/cuda/plugin/paged_attention.h"

#include <algorithm>

#include "runtime/cuda/plugin/loops.h"
#include "runtime/paged_shape.h"
#include "runtime/step_args.h"

namespace shw::runtime::cuda {
namespace {

class SdpaPaged final : public CudaKernel {
 public:
  SdpaPaged(const PagedAttentionArguments& arguments, bool is_f64)
      : arguments_(arguments), is_f64_(is_f64) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.pages.step.node = origin.node;
    const AttentionArguments& a = arguments_.attention;
    const DeviceKernel kernel =
        is_f64_ ? DeviceKernel::shw_attention_paged_f64 : DeviceKernel::shw_attention_paged_f32;
    return launch_blocks(stream, kernel, a.batch * a.heads * a.queries, buffers[5], buffers[0],
                         buffers[1], buffers[2], buffers[3], buffers[4], stream.errors(),
                         arguments_);
  }

 private:
  PagedAttentionArguments arguments_;
  const bool is_f64_;
};

HeadWindow rows_of_heads(const TensorType& type) {
  HeadWindow w{};
  set_strides(strides_bytes(type), w.stride);
  w.dtype = static_cast<int>(type.dtype);
  return w;
}
// Pages, heads, places in a page, elements.
HeadWindow rows_of_pages(const TensorType& type) {
  HeadWindow w = rows_of_heads(type);
  std::swap(w.stride[1], w.stride[2]);
  return w;
}

}  // namespace

Prepared prepare_sdpa_paged(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const PagedShape s, paged_shape(args));
  PagedAttentionArguments arguments{};
  AttentionArguments& a = arguments.attention;
  a.batch = s.batch;
  a.heads = s.heads;
  a.key_heads = std::max<int64_t>(1, s.key_heads);
  a.queries = s.queries;
  a.keys = s.capacity();
  a.width = s.width;
  a.value_width = s.value_width;
  a.scale = s.scale;
  a.left = s.window.left;
  a.right = s.window.right;
  a.q = rows_of_heads(*args.inputs[0]);
  a.k = rows_of_pages(*args.inputs[1]);
  a.v = rows_of_pages(*args.inputs[2]);
  a.out = rows_of_heads(*args.outputs[0]);
  PageArguments& p = arguments.pages;
  p.pages = s.pages;
  p.page_size = s.page_size;
  p.row_pages = s.row_pages;
  set_strides(strides_bytes(*args.inputs[3]), p.table_stride);
  set_strides(strides_bytes(*args.inputs[4]), &p.length_stride);
  p.table_dtype = static_cast<int>(args.inputs[3]->dtype);
  p.length_dtype = static_cast<int>(args.inputs[4]->dtype);
  p.step.kernel = kernel_number("sdpa_paged");
  return make_kernel<SdpaPaged>(arguments, args.inputs[0]->dtype == Dtype::kF64);
}

}  // namespace shw::runtime::cuda
