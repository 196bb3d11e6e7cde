#include "runtime/cuda/plugin/bit_copy.h"

#include <bit>

#include "runtime/cuda/plugin/kernel.h"
#include "runtime/cuda/plugin/loops.h"

namespace shw::runtime::cuda {
namespace {

constexpr uintptr_t kLargestUnit = 16;  // bytes that a thread moves at once
// A matrix with fewer rows or columns leaves most of a tile empty.
constexpr int64_t kLeastTransposed = 8;

}  // namespace

BitCopy::BitCopy(const TensorType& to, const TensorType& from) {
  const Dims strides[2] = {strides_bytes(to), strides_bytes(from)};
  const int64_t element = dtype_size(to.dtype);
  DeviceLoops& loops = move_.loops;
  loops = device_loops(to.shape, strides, move_.stride);
  const int last = loops.rank - 1;
  i64 &to_step = move_.stride[0][last], &from_step = move_.stride[1][last];
  if (loops.size[last] == 1) to_step = from_step = element;
  for (int d = 0; d <= last; ++d) alike_ = alike_ && move_.stride[0][d] == move_.stride[1][d];
  run_bytes_ = element;
  if (to_step == element && from_step == element) {
    run_bytes_ *= loops.size[last];
    if (last == 0) kind_ = Kind::kBlock;
    loops.total = loops.size[last] == 0 ? 0 : loops.total / loops.size[last];
    loops.size[last] = 1;
  } else if (transpose(element)) {
    kind_ = Kind::kTransposed;
  }
  granularity_ = static_cast<uintptr_t>(run_bytes_) | kLargestUnit;
  for (const auto& stride : move_.stride)
    for (int d = 0; d < last; ++d) granularity_ |= static_cast<uintptr_t>(stride[d]);
}

// Whether neighbouring result elements are columns of matrices of which neighbouring operand
// elements are rows.
bool BitCopy::transpose(int64_t element) {
  const DeviceLoops& loops = move_.loops;
  const int columns = loops.rank - 1;
  int rows = 0;
  while (rows < columns && move_.stride[1][rows] != element) ++rows;
  if (rows == columns || move_.stride[0][columns] != element ||
      loops.size[rows] < kLeastTransposed || loops.size[columns] < kLeastTransposed)
    return false;
  TransposeArguments& t = transpose_;
  t.matrices.total = 1;
  for (int d = 0; d < columns; ++d) {
    if (d == rows) continue;
    const int at = t.matrices.rank++;
    t.matrices.size[at] = loops.size[d];
    t.matrices.total *= loops.size[d];
    for (int o = 0; o < 2; ++o) t.stride[o][at] = move_.stride[o][d];
  }
  t.rows = loops.size[rows];
  t.columns = loops.size[columns];
  t.to_row = move_.stride[0][rows];
  t.from_column = move_.stride[1][columns];
  t.unit = static_cast<int>(element);
  return true;
}

Status BitCopy::run(CudaStream& stream, void* to, const void* from) const {
  if (move_.loops.total == 0 || (alike_ && to == from)) return {};
  if (kind_ == Kind::kBlock) {
    const Current current(stream.context());
    return copy_on(stream.context().driver(), stream.handle(), to, from, run_bytes_,
                   CopyKind::kDeviceToDevice);
  }
  if (kind_ == Kind::kRuns) return run_units(stream, to, from);
  const int tile = transpose_.unit <= 2 ? kTransposeNarrow : kTransposeWide;
  const int64_t down = (transpose_.rows + tile - 1) / tile,
                across = (transpose_.columns + tile - 1) / tile;
  return launch_blocks(stream, DeviceKernel::shw_transpose,
                       transpose_.matrices.total * down * across, to, from, transpose_);
}

// The alignment of the addresses limits the size of a unit.
Status BitCopy::run_units(CudaStream& stream, void* to, const void* from) const {
  const uintptr_t all =
      granularity_ | reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  MoveArguments m = move_;
  m.unit = 1 << std::countr_zero(all);
  const int last = m.loops.rank - 1;
  if (const int64_t units = run_bytes_ / m.unit; units > 1) {
    m.loops.size[last] = units;
    m.loops.total *= units;
    m.stride[0][last] = m.stride[1][last] = m.unit;
  }
  return launch_elements(stream, DeviceKernel::shw_move, m.loops.total, to, from, m);
}

}  // namespace shw::runtime::cuda
