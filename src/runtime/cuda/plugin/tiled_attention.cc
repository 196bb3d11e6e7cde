#include "runtime/cuda/plugin/tiled_attention.h"

#include <algorithm>

#include "runtime/cuda/plugin/kernel.h"
#include "tensor/dtype.h"

namespace shw::runtime::cuda {
namespace {

constexpr int kNarrow = 64, kWide = 128;  // columns of the kernels

i64 columns(const AttentionArguments& a) { return std::max(a.width, a.value_width); }

template <class... P>
Status launch_rows(CudaStream& stream, DeviceKernel kernel, i64 heads, i64 rows, i64 tile,
                   P... parameters) {
  void* pointers[] = {&parameters...};
  // At least one block: it fills the rows after the last query.
  return stream.launch(kernel, std::max<i64>(1, heads * ((rows + tile - 1) / tile)), kTiledThreads,
                       pointers);
}

}  // namespace

bool fits_tiled(const AttentionArguments& a) {
  return a.q.dtype != kDeviceF64 && columns(a) <= kWide;
}

Status launch_tiled(CudaStream& stream, const AttentionArguments& a, const AttentionBuffers& b,
                    const KeySpan* spans) {
  const bool is_narrow = columns(a) <= kNarrow;
  return launch_rows(stream, is_narrow ? DeviceKernel::shw_tiled_64 : DeviceKernel::shw_tiled_128,
                     a.batch * a.heads, a.queries, kTiledForwardRows, b.out, b.lse, b.q, b.k, b.v,
                     b.bias, spans, b.seed, a);
}

Status launch_tiled(CudaStream& stream, const AttentionBackwardArguments& p,
                    const AttentionGradients& b, const KeySpan* spans) {
  const AttentionArguments& a = p.forward;
  const bool is_narrow = columns(a) <= kNarrow;
  const i64 rows = is_narrow ? kTiledBackwardRows<kNarrow> : kTiledBackwardRows<kWide>;
  SHW_RETURN_IF_ERROR(launch_rows(
      stream, is_narrow ? DeviceKernel::shw_tiled_dq_64 : DeviceKernel::shw_tiled_dq_128,
      a.batch * a.heads, a.queries, rows, b.dq, b.dbias, b.deltas, b.grad, b.q, b.k, b.v, b.bias,
      b.out, b.lse, spans, b.seed, p));
  if (b.dk == nullptr && b.dv == nullptr) return {};
  return launch_rows(stream,
                     is_narrow ? DeviceKernel::shw_tiled_dkv_64 : DeviceKernel::shw_tiled_dkv_128,
                     a.batch * a.key_heads, a.keys, rows, b.dk, b.dv, b.deltas, b.grad, b.q, b.k,
                     b.v, b.bias, b.out, b.lse, spans, b.seed, p);
}

}  // namespace shw::runtime::cuda
