// Plain C++ versions of the functions that runtime/cuda/plugin/kernels/warp.cuh implements in PTX.
// Each lane holds the same elements as on a device, and lanes read each other's values by
// exchange().
#pragma once
#include <cstring>

#include "fakes/block.h"
#include "runtime/cuda/plugin/kernels/device.cuh"

namespace shw::runtime::cuda {

// Computes one matrix product of tiles that the lanes of a warp hold together.
template <class E>
void multiply_add_of_warp(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  struct Operands {
    unsigned a[4], b[2];
  };
  const Operands mine{{a[0], a[1], a[2], a[3]}, {b0, b1}};
  const fakes::Shown* shown = fakes::exchange(&mine, sizeof mine);
  const auto of_lane = [&](unsigned lane) {
    Operands operands;
    std::memcpy(&operands, shown[lane].bytes, sizeof operands);
    return operands;
  };
  const auto element_of = [](unsigned pair, unsigned k) {
    return E::wide(static_cast<unsigned short>(pair >> k % 2 * 16));
  };
  const unsigned lane = threadIdx.x % fakes::kWarp;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned pair = of_lane(row % 8 * 4 + k % 8 / 2).a[row / 8 + k / 8 * 2];
      c[i] += element_of(pair, k) * element_of(of_lane(column * 4 + k % 8 / 2).b[k / 8], k);
    }
  }
}

struct BFloat16 {
  static float wide(unsigned short x) { return wider_bfloat(x); }
  static unsigned short narrow(float x) { return narrower_bfloat(x); }
  static unsigned pack(float low, float high) {
    return narrow(low) | static_cast<unsigned>(narrow(high)) << 16;
  }
  static void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    multiply_add_of_warp<BFloat16>(c, a, b0, b1);
  }
};

struct Float16 {
  static float wide(unsigned short x) { return wider_half(x); }
  static unsigned short narrow(float x) { return narrower_half(x); }
  static unsigned pack(float low, float high) {
    return narrow(low) | static_cast<unsigned>(narrow(high)) << 16;
  }
  static void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    multiply_add_of_warp<Float16>(c, a, b0, b1);
  }
};

// The row address that lane `lane` has passed in. The lanes' rows form the four matrices.
inline const unsigned short* row_of(const fakes::Shown* shown, unsigned lane) {
  const unsigned short* row;
  std::memcpy(&row, shown[lane].bytes, sizeof row);
  return row;
}
inline void load_matrices(unsigned (&part)[4], const void* row) {
  const fakes::Shown* shown = fakes::exchange(&row, sizeof row);
  const unsigned lane = threadIdx.x % fakes::kWarp;
  for (unsigned i = 0; i < 4; ++i)
    std::memcpy(&part[i], row_of(shown, i * 8 + lane / 4) + lane % 4 * 2, sizeof part[i]);
}
inline void load_transposed(unsigned (&part)[4], const void* row) {
  const fakes::Shown* shown = fakes::exchange(&row, sizeof row);
  const unsigned lane = threadIdx.x % fakes::kWarp;
  for (unsigned i = 0; i < 4; ++i)
    part[i] = row_of(shown, i * 8 + lane % 4 * 2)[lane / 4] |
              static_cast<unsigned>(row_of(shown, i * 8 + lane % 4 * 2 + 1)[lane / 4]) << 16;
}

inline void begin_copy(void* shared, const void* global, bool is_there) {
  fakes::copy_later(shared, is_there ? global : nullptr, 16);
}
inline void finish_copies() { fakes::finish_copies_of_thread(); }

inline float power_of_two(float x) { return std::exp2(x); }

inline float from_lane_beside(float value, int distance) {
  const fakes::Shown* shown = fakes::exchange(&value, sizeof value);
  float other;
  std::memcpy(&other, shown[threadIdx.x % fakes::kWarp ^ static_cast<unsigned>(distance)].bytes,
              sizeof other);
  return other;
}

}  // namespace shw::runtime::cuda
