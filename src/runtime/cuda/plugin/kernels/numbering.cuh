// Elements that depend on their place: numbers in a row, and matrices of which one side of a
// diagonal is zero.
#pragma once
#include "math.cuh"
#include "table.cuh"

SHW_KERNEL shw_iota_f64(void* out, shw::runtime::cuda::IotaArguments a) {
  using namespace shw::runtime::cuda;
  for (i64 i = thread_number(); i < a.count; i += num_threads())
    store(a.start + a.step * static_cast<double>(i), out, i * a.stride, a.dtype);
}
SHW_KERNEL shw_iota_i64(void* out, shw::runtime::cuda::IotaArguments a) {
  using namespace shw::runtime::cuda;
  for (i64 i = thread_number(); i < a.count; i += num_threads())
    store(Int{a.integer_start} + Int{a.integer_step} * Int{i}, out, i * a.stride, a.dtype);
}

SHW_KERNEL shw_triangle(void* out, const void* in, shw::runtime::cuda::TriangleArguments a) {
  using namespace shw::runtime::cuda;
  for (i64 t = thread_number(); t < a.loops.total; t += num_threads()) {
    const i64 columns = a.loops.size[a.loops.rank - 1], rows = a.loops.size[a.loops.rank - 2];
    const i64 above = t % columns - t / columns % rows - a.shift;  // the diagonal
    const Offsets<2> at = offsets_at<2>(a.loops, a.stride, t);
    const bool stays = a.is_lower ? above <= 0 : above >= 0;
    copy_element(static_cast<char*>(out) + at.of[0],
                 stays ? static_cast<const char*>(in) + at.of[1] : nullptr, a.dtype);
  }
}
