#include "runtime/cpu/cast.h"

#include <algorithm>

namespace shw::runtime::cpu {
namespace {
constexpr int64_t kChunk = 512;  // elements that are converted at a time, on the stack
}

template <class T>
void StridedCast::run_as(const StridedCast& self, void* to, const void* from) {
  // T holds every value of the source: the conversion to T is exact, and the result is rounded
  // once.
  const LoadRow<T> load = load_row<T>(self.from_);
  const StoreRow<T> store = store_row<T>(self.to_);
  const StridedLoop& loop = self.loop_;
  const int64_t to_stride = loop.row_stride_bytes[0], from_stride = loop.row_stride_bytes[1];
  auto* f = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  for_each_row(loop, std::array{static_cast<std::byte*>(to), f},
               [&](const std::array<std::byte*, 2>& p) {
                 Room<T, kChunk> values;
                 for (int64_t i = 0; i < loop.row_size; i += kChunk) {
                   const int64_t n = std::min(kChunk, loop.row_size - i);
                   load(p[1] + i * from_stride, from_stride, n, values);
                   store(values, n, p[0] + i * to_stride, to_stride);
                 }
               });
}

StridedCast::StridedCast(const TensorType& to, const TensorType& from)
    : to_(to.dtype), from_(from.dtype) {
  if (to_ == from_) {
    copy_ = StridedCopy(to.shape, dtype_size(to_), to.strides, from.strides);
    run_ = [](const StridedCast& self, void* t, const void* f) { self.copy_.run(t, f); };
    return;
  }
  const Dims strides[2] = {broadcast_strides_bytes(to, to.shape),
                           broadcast_strides_bytes(from, to.shape)};
  loop_ = make_loop(to.shape, strides);
  run_ = with_compute_type(from_, [](auto t) { return &run_as<decltype(t)>; });
}

}  // namespace shw::runtime::cpu
