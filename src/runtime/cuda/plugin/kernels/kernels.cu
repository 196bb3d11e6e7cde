// All kernels, as one program: what NVRTC compiles at run time.
#include "attention.cuh"
#include "contraction.cuh"
#include "embedding.cuh"
#include "pointwise.cuh"
#include "reduction.cuh"
