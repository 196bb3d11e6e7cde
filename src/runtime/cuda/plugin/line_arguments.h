// Lines along one dim, as arguments of device code. All tensors but the first may be absent.
#pragma once
#include "runtime/cuda/plugin/loops.h"
#include "runtime/lines.h"

namespace shw::runtime::cuda {

template <size_t N>
LineArguments line_arguments(const Lines<N>& lines,
                             const std::array<const TensorType*, N>& tensors) {
  LineArguments a{};
  a.places = plain_loops(lines.places);
  a.count = lines.count[0];
  for (size_t o = 0; o < N; ++o) {
    if (tensors[o] == nullptr) continue;
    set_strides(lines.strides[o], a.stride[o]);
    a.step[o] = lines.step[o];
    a.dtype[o] = static_cast<int>(tensors[o]->dtype);
  }
  return a;
}

}  // namespace shw::runtime::cuda
