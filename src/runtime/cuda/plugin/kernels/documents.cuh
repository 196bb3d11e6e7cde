// Packed documents of attention: where the document of each position begins and ends. A thread a
// position, or an end that it checks.
#pragma once
#include "device.cuh"

namespace shw::runtime::cuda {

__device__ inline i64 document_end(const void* ends, const DocumentArguments& a, i64 b, i64 i) {
  return load<Int>(ends, b * a.stride[0] + i * a.stride[1], a.dtype).v;
}

// Position i: in the document between the last end up to it and the next one. Ends that are none
// give no place outside the sequence.
__device__ inline KeySpan document_of(const void* ends, const DocumentArguments& a, i64 b, i64 i) {
  i64 passed = 0, left = a.count;  // ends up to i
  while (left > 0) {
    const i64 half = left / 2;
    const bool is_passed = document_end(ends, a, b, passed + half) <= i;
    passed = is_passed ? passed + half + 1 : passed;
    left = is_passed ? left - half - 1 : half;
  }
  if (passed == 0 || passed == a.count) return {0, 0};
  const i64 begin = document_end(ends, a, b, passed - 1), end = document_end(ends, a, b, passed);
  return {begin < 0 ? 0 : begin, end < a.positions ? end : a.positions};
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_document_spans(shw::runtime::cuda::KeySpan* spans, const void* ends,
                              shw::runtime::cuda::DeviceError* error,
                              shw::runtime::cuda::DocumentArguments a) {
  using namespace shw::runtime::cuda;
  const i64 most = a.positions < a.count ? a.count : a.positions;
  for (i64 t = thread_number(); t < a.batch * most; t += num_threads()) {
    const i64 b = t / most, i = t % most;
    if (i < a.count) {  // they rise from 0 to at most the sequence's length
      const i64 end = document_end(ends, a, b, i);
      const i64 before = i == 0 ? 0 : document_end(ends, a, b, i - 1);
      if (end < before || end > (i == 0 ? 0 : a.positions)) report(error, a.step, end, a.positions);
    }
    if (i < a.positions) spans[b * a.positions + i] = document_of(ends, a, b, i);
  }
}
