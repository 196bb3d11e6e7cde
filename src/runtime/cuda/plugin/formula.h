// What a step computes, said so that a kernel that is generated for a group of steps can compute
// it, too.
#pragma once
#include <array>
#include <vector>

#include "runtime/cuda/plugin/kernels/arguments.h"
#include "tensor/dtype.h"

namespace shw::runtime::cuda {

// What elements are computed in.
enum class ComputeType { kF32, kF64, kI64, kC64 };
ComputeType compute_type(Dtype dtype);

struct StepFormula {
  enum class Kind { kPointwise, kReduction, kParts, kGather, kScatter };
  Kind kind = Kind::kPointwise;

  // Pointwise: of which inputs of the step; -1: none, or the fixed number.
  ComputeType compute = ComputeType::kF32;
  PointwiseFormula pointwise = {};
  std::array<int, 3> inputs = {0, -1, -1};

  // Reduction of input 0. By blocks: a block's threads take turns at the elements of a result.
  ReduceFormula reduction = {};
  bool by_blocks = false, is_integer = false;

  // Parts, along one dim of the result, without gaps.
  struct Part {
    int input;
    int64_t begin, count;  // of the result's dim
    int64_t from;          // of the input's
  };
  size_t dim = 0;  // of gathers and scatters, too
  std::vector<Part> parts = {};

  // Gather from input 0, scatter of input 2, if it is there, else of `fixed`, into input 0: at one
  // place of each line along `dim`, which input 1 says.
  TableRows rows = {};  // of the table along it
  i64 fixed = 0;        // an element's bits
  int kernel = 0;       // number of the step's kernel, for errors
};

}  // namespace shw::runtime::cuda
