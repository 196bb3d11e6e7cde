// What the 32 threads of a warp do together: products on tensor cores, the moves between shared
// memory and registers that these need, and values passed between lanes. On a device this is
// inline PTX for compute capability 8.0 and newer; elsewhere tests/fakes/warp.h has the same
// functions in plain C++.
//
// A product is 16 × 16 by 16 × 8, added to 16 × 8 (PTX: mma.m16n8k16). Lane l holds, with
// g = l / 4 and t = l % 4:
//   a[4]  rows g, g + 8, g, g + 8; columns 2t and 2t + 1, of a[2] and a[3] 8 further right
//   b[2]  rows 2t and 2t + 1 of column g, of b[1] 8 further down
//   c[4]  row g, columns 2t and 2t + 1; row g + 8, the same columns
#pragma once
#include "device.cuh"

// Stand before a loop. Arrays whose indices are known after unrolling live in registers.
#if defined(__CUDACC__)
#define SHW_PRAGMA(text) _Pragma(#text)
#define SHW_UNROLL _Pragma("unroll")
#define SHW_UNROLL_BY(times) SHW_PRAGMA(unroll times)
#else
#define SHW_UNROLL
#define SHW_UNROLL_BY(times)
#endif

namespace shw::runtime::cuda {

constexpr int kWarpThreads = 32;

#if defined(__CUDACC__)

struct BFloat16 {
  __device__ static float wide(unsigned short x) { return wider_bfloat(x); }
  __device__ static unsigned short narrow(float x) { return narrower_bfloat(x); }
  // Two elements side by side in memory, each the nearest.
  __device__ static unsigned pack(float low, float high) {
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }
  __device__ static void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                      unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

struct Float16 {
  __device__ static float wide(unsigned short x) { return wider_half(x); }
  __device__ static unsigned short narrow(float x) { return narrower_half(x); }
  __device__ static unsigned pack(float low, float high) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }
  __device__ static void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                      unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Four 8 × 8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8 in
// shared memory, aligned to 16 bytes, and gets of matrix i in part[i] row l / 4, columns
// 2 (l % 4) and one more.
__device__ inline void load_matrices(unsigned (&part)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(shared_address(row))
               : "memory");
}
// The same of the transposed matrices: rows 2 (l % 4) and one more of column l / 4.
__device__ inline void load_transposed(unsigned (&part)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(shared_address(row))
               : "memory");
}

// Begins to copy 16 bytes from global to shared memory, both aligned to as much; zeros if not
// `is_there`, in which case nothing is read.
__device__ inline void begin_copy(void* shared, const void* global, bool is_there) {
  const int bytes = is_there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes)
               : "memory");
}
// Waits for the copies that this thread has begun.
__device__ inline void finish_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ inline float from_lane_beside(float value, int distance) {
  return __shfl_xor_sync(0xffffffffu, value, distance);
}

// 2 to the power of x within two units in the last place, zero where that is less than 2^-126: one
// instruction, where exp2f is four.
__device__ inline float power_of_two(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

#endif

}  // namespace shw::runtime::cuda
#if !defined(__CUDACC__)
#include "fakes/warp.h"
#endif
