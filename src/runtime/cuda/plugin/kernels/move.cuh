// Copies of bits between windows: a thread a unit of as many bytes as are side by side in both; and
// transpositions, tile by tile through shared memory, so that neighbouring threads read neighbours
// and write neighbours.
#pragma once
#include "vector.cuh"

namespace shw::runtime::cuda {

template <class E>
__device__ inline void move_units(void* to, const void* from, const MoveArguments& m) {
  for (i64 i = thread_number(); i < m.loops.total; i += num_threads()) {
    const Offsets<2> at = offsets_at<2>(m.loops, m.stride, i);
    *reinterpret_cast<E*>(static_cast<char*>(to) + at.of[0]) =
        *reinterpret_cast<const E*>(static_cast<const char*>(from) + at.of[1]);
  }
}

constexpr int kTransposeBytes = 8448;  // of a tile

template <class E>
__device__ inline void transpose_tiles(void* to, const void* from, const TransposeArguments& t,
                                       void* shared) {
  constexpr int kUnit = sizeof(E), kTile = kUnit <= 2 ? kTransposeNarrow : kTransposeWide;
  // From one line of a tile to the next: neighbours across lines are in different banks, too.
  constexpr int kPitch = kTile + (kUnit < 4 ? 4 / kUnit : 1);
  static_assert(kTile * kPitch * kUnit <= kTransposeBytes, "a tile does not fit");
  auto* tile = static_cast<E*>(shared);
  const int me = threadIdx.x, threads = blockDim.x;
  const i64 down = (t.rows + kTile - 1) / kTile, across = (t.columns + kTile - 1) / kTile;
  for (i64 b = blockIdx.x; b < t.matrices.total * down * across; b += gridDim.x) {
    const i64 rest = quotient(b, across), matrix = quotient(rest, down);
    const i64 column = (b - rest * across) * kTile, row = (rest - matrix * down) * kTile;
    const Offsets<2> at = offsets_at<2>(t.matrices, t.stride, matrix);
    const char* source =
        static_cast<const char*>(from) + at.of[1] + row * kUnit + column * t.from_column;
    char* target = static_cast<char*>(to) + at.of[0] + row * t.to_row + column * kUnit;
    for (int k = me; k < kTile * kTile; k += threads) {
      const int r = k % kTile, c = k / kTile;
      if (row + r < t.rows && column + c < t.columns)
        tile[c * kPitch + r] = element<E>(source + r * kUnit + c * t.from_column);
    }
    __syncthreads();
    for (int k = me; k < kTile * kTile; k += threads) {
      const int r = k / kTile, c = k % kTile;
      if (row + r < t.rows && column + c < t.columns)
        put(target + r * t.to_row + c * kUnit, tile[c * kPitch + r]);
    }
    __syncthreads();
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_move(void* to, const void* from, shw::runtime::cuda::MoveArguments arguments) {
  using namespace shw::runtime::cuda;
  switch (arguments.unit) {
    case 1:
      return move_units<unsigned char>(to, from, arguments);
    case 2:
      return move_units<unsigned short>(to, from, arguments);
    case 4:
      return move_units<unsigned>(to, from, arguments);
    case 8:
      return move_units<unsigned long long>(to, from, arguments);
    default:
      return move_units<Vector<unsigned, 4>>(to, from, arguments);
  }
}
SHW_KERNEL __launch_bounds__(shw::runtime::cuda::kMostBlockThreads, 4)
    shw_transpose(void* to, const void* from, shw::runtime::cuda::TransposeArguments arguments) {
  using namespace shw::runtime::cuda;
  __shared__ unsigned long long tile[kTransposeBytes / 8];
  switch (arguments.unit) {
    case 1:
      return transpose_tiles<unsigned char>(to, from, arguments, tile);
    case 2:
      return transpose_tiles<unsigned short>(to, from, arguments, tile);
    case 4:
      return transpose_tiles<unsigned>(to, from, arguments, tile);
    default:
      return transpose_tiles<unsigned long long>(to, from, arguments, tile);
  }
}
