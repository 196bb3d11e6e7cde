#include "runtime/cuda/plugin/flash.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "runtime/cuda/plugin/kernel.h"
#include "tensor/dtype.h"

namespace shw::runtime::cuda {
namespace {

constexpr int64_t kMostColumns = 128;  // of the widest kernel
constexpr int64_t kChunk = 8;          // elements that are copied at a time
constexpr int64_t kChunkBytes = 16;
constexpr int64_t kMostStep = 1 << 24;  // maximum stride of the bias in bytes, times a tile

bool has_rows(const HeadWindow& w, int dtype) {
  return w.dtype == dtype && w.stride[3] == 2 &&
         std::all_of(w.stride, w.stride + 3, [](i64 s) { return s % kChunkBytes == 0; });
}
bool has_bias_rows(const HeadWindow& w, int dtype) {
  const auto is_near = [](i64 s) { return s >= 0 && s <= kMostStep; };
  return w.dtype == dtype && is_near(w.stride[2]) && is_near(w.stride[3]);
}
bool is_chunked(i64 columns) {
  return columns > 0 && columns <= kMostColumns && columns % kChunk == 0;
}
// The sum of two such numbers and a tile fits in an int.
bool is_small(i64 n) { return n <= std::numeric_limits<int>::max() / 4; }

// The window of an absent tensor has dtype 0.
bool fits_or_absent(const HeadWindow& w, int dtype) { return w.dtype == 0 || has_rows(w, dtype); }

bool are_aligned(std::initializer_list<const void*> pointers) {
  return std::ranges::all_of(
      pointers, [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kChunkBytes == 0; });
}

bool is_narrow(const AttentionArguments& a) { return std::max(a.width, a.value_width) <= 64; }
// Selects one of four kernels by type and columns: bf16, f16; 64 and 128 columns.
DeviceKernel pick(const AttentionArguments& a, DeviceKernel bf16_64, DeviceKernel bf16_128,
                  DeviceKernel f16_64, DeviceKernel f16_128) {
  if (a.q.dtype == kDeviceBF16) return is_narrow(a) ? bf16_64 : bf16_128;
  return is_narrow(a) ? f16_64 : f16_128;
}

// Blocks beyond the number of tiles do nothing.
template <class... P>
Status launch(CudaStream& stream, DeviceKernel kernel, i64 tiles, P... parameters) {
  void* pointers[] = {&parameters...};
  return stream.launch(kernel, std::max<i64>(1, tiles), kFlashThreads, pointers);
}
i64 head_tiles(i64 heads, i64 rows, i64 tile) { return heads * ((rows + tile - 1) / tile); }

}  // namespace

bool fits_flash(const AttentionArguments& a) {
  const int dtype = a.q.dtype;
  return (dtype == kDeviceBF16 || dtype == kDeviceF16) && is_chunked(a.width) &&
         is_chunked(a.value_width) && is_small(a.batch) && is_small(a.heads) &&
         is_small(a.queries) && is_small(a.keys) && has_rows(a.q, dtype) && has_rows(a.k, dtype) &&
         has_rows(a.v, dtype) && fits_or_absent(a.out, dtype) &&
         (a.has_bias == 0 || has_bias_rows(a.bias, dtype));
}

bool fits_flash(const AttentionBackwardArguments& p) {
  const int dtype = p.forward.q.dtype;
  return fits_flash(p.forward) && has_rows(p.grad, dtype) && fits_or_absent(p.dq, dtype) &&
         fits_or_absent(p.dk, dtype) && fits_or_absent(p.dv, dtype) &&
         (p.dbias.dtype == 0 || has_bias_rows(p.dbias, dtype));
}

bool fits_flash(const AttentionBuffers& b) { return are_aligned({b.q, b.k, b.v, b.out}); }
bool fits_flash(const AttentionGradients& b) {
  return are_aligned({b.grad, b.q, b.k, b.v, b.out, b.dq, b.dk, b.dv});
}

// Under a causal mask, blocks have different numbers of queries. Several blocks per multiprocessor
// balance the load. The number does not depend on the device, so that a sum has the same bits on
// every device.
int64_t flash_parts(const AttentionArguments& a) {
  constexpr int64_t kEnoughBlocks = 1024;
  const int64_t group = a.heads / a.key_heads;
  const int64_t rows = is_narrow(a) ? kFlashBackwardRows<64> : kFlashBackwardRows<128>;
  const int64_t blocks = head_tiles(a.batch * a.key_heads, a.keys, rows);
  int64_t parts = 1;
  while (parts < group && (group % parts != 0 || blocks * parts < kEnoughBlocks)) ++parts;
  return parts;
}
int64_t flash_part_bytes(const AttentionBackwardArguments& p) {
  const AttentionArguments& a = p.forward;
  if (p.parts <= 1) return 0;
  return p.parts * a.batch * a.key_heads * a.keys * (a.width + a.value_width) *
         int64_t{sizeof(float)};
}

Status launch_flash(CudaStream& stream, const AttentionArguments& a, const AttentionBuffers& b) {
  const DeviceKernel kernel =
      pick(a, DeviceKernel::shw_flash_bf16_64, DeviceKernel::shw_flash_bf16_128,
           DeviceKernel::shw_flash_f16_64, DeviceKernel::shw_flash_f16_128);
  return launch(stream, kernel, head_tiles(a.batch * a.heads, a.queries, kFlashForwardRows), b.out,
                b.lse, b.q, b.k, b.v, b.bias, a);
}

Status launch_flash(CudaStream& stream, const AttentionBackwardArguments& p,
                    const AttentionGradients& b) {
  const AttentionArguments& a = p.forward;
  const DeviceKernel dq =
      pick(a, DeviceKernel::shw_flash_dq_bf16_64, DeviceKernel::shw_flash_dq_bf16_128,
           DeviceKernel::shw_flash_dq_f16_64, DeviceKernel::shw_flash_dq_f16_128);
  const int rows = is_narrow(a) ? kFlashBackwardRows<64> : kFlashBackwardRows<128>;
  SHW_RETURN_IF_ERROR(launch(stream, dq, head_tiles(a.batch * a.heads, a.queries, rows), b.dq,
                             b.dbias, b.deltas, b.grad, b.q, b.k, b.v, b.bias, b.out, b.lse, p));
  if (b.dk == nullptr && b.dv == nullptr) return {};
  const DeviceKernel dkv =
      pick(a, DeviceKernel::shw_flash_dkv_bf16_64, DeviceKernel::shw_flash_dkv_bf16_128,
           DeviceKernel::shw_flash_dkv_f16_64, DeviceKernel::shw_flash_dkv_f16_128);
  SHW_RETURN_IF_ERROR(launch(stream, dkv, head_tiles(a.batch * a.key_heads * p.parts, a.keys, rows),
                             b.dk, b.dv, b.parts, b.deltas, b.grad, b.q, b.k, b.v, b.bias, b.out,
                             b.lse, p));
  if (p.parts == 1) return {};
  const int64_t elements = a.batch * a.key_heads * a.keys * (a.width + a.value_width);
  return launch_elements(stream, DeviceKernel::shw_flash_join, elements, b.dk, b.dv, b.parts, p);
}

}  // namespace shw::runtime::cuda
