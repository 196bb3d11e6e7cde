// The part of cuBLASLt that is used, with our own declarations (tests/cuda compares them with the
// vendor's header).
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/plugin/driver.h"

struct cublasLtContext;

namespace shw::runtime::cuda {

using CublasError = int;  // cublasStatus_t
using CublasLtHandle = cublasLtContext*;

// Descriptors are opaque: cuBLASLt makes and destroys them.
using MatmulDescriptor = void*;
using MatrixLayout = void*;
using MatmulPreference = void*;

struct MatmulAlgorithm {
  uint64_t data[8];
};
struct MatmulHeuristic {
  MatmulAlgorithm algorithm;
  size_t workspace_bytes;
  CublasError state;
  float waves;
  int reserved[4];
};

enum CublasType : int {
  kCudaF32 = 0,
  kCudaF64 = 1,
  kCudaF16 = 2,
  kCudaC32 = 4,
  kCudaBF16 = 14,
  kCudaF8E4M3 = 28,
  kCudaF8E5M2 = 29
};
enum CublasCompute : int { kCompute32F = 68, kCompute64F = 70 };
enum MatmulAttribute : int { kTransposeA = 3, kTransposeB = 4, kScaleOfA = 17, kScaleOfB = 18 };
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMaxWorkspace = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8,
};
enum CublasOperation : int { kAsItIs = 0, kTransposed = 1 };

#define SHW_CUDA_CUBLASLT(X)                                                                 \
  X(size_t(), version, "cublasLtGetVersion")                                                 \
  X(CublasError(CublasLtHandle*), create, "cublasLtCreate")                                  \
  X(CublasError(CublasLtHandle), destroy, "cublasLtDestroy")                                 \
  X(CublasError(MatmulDescriptor*, CublasCompute, CublasType), create_matmul,                \
    "cublasLtMatmulDescCreate")                                                              \
  X(CublasError(MatmulDescriptor), destroy_matmul, "cublasLtMatmulDescDestroy")              \
  X(CublasError(MatmulDescriptor, MatmulAttribute, const void*, size_t), set_matmul,         \
    "cublasLtMatmulDescSetAttribute")                                                        \
  X(CublasError(MatrixLayout*, CublasType, uint64_t, uint64_t, int64_t), create_layout,      \
    "cublasLtMatrixLayoutCreate")                                                            \
  X(CublasError(MatrixLayout), destroy_layout, "cublasLtMatrixLayoutDestroy")                \
  X(CublasError(MatrixLayout, LayoutAttribute, const void*, size_t), set_layout,             \
    "cublasLtMatrixLayoutSetAttribute")                                                      \
  X(CublasError(MatmulPreference*), create_preference, "cublasLtMatmulPreferenceCreate")     \
  X(CublasError(MatmulPreference), destroy_preference, "cublasLtMatmulPreferenceDestroy")    \
  X(CublasError(MatmulPreference, PreferenceAttribute, const void*, size_t), set_preference, \
    "cublasLtMatmulPreferenceSetAttribute")                                                  \
  X(CublasError(CublasLtHandle, MatmulDescriptor, MatrixLayout, MatrixLayout, MatrixLayout,  \
                MatrixLayout, MatmulPreference, int, MatmulHeuristic*, int*),                \
    find_algorithm, "cublasLtMatmulAlgoGetHeuristic")                                        \
  X(CublasError(CublasLtHandle, MatmulDescriptor, const void*, const void*, MatrixLayout,    \
                const void*, MatrixLayout, const void*, const void*, MatrixLayout, void*,    \
                MatrixLayout, const MatmulAlgorithm*, void*, size_t, StreamHandle),          \
    multiply, "cublasLtMatmul")

struct CublasLt {
  SHW_CUDA_CUBLASLT(SHW_ENTRY_MEMBER)
  Status check(CublasError error, const char* what, SourceLoc loc = SourceLoc::current()) const;
};

Result<CublasLt> open_cublaslt(const std::string& folder);

}  // namespace shw::runtime::cuda
