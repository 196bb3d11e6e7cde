// A description of what a step computes, from which a kernel for a group of steps can be generated.
#pragma once
#include <array>
#include <vector>

#include "runtime/cuda/plugin/kernels/arguments.h"
#include "tensor/dtype.h"

namespace shw::runtime::cuda {

// The type in which elements are computed.
enum class ComputeType { kF32, kF64, kI64, kC64 };
ComputeType compute_type(Dtype dtype);

struct StepFormula {
  enum class Kind { kPointwise, kReduction, kParts, kGather, kScatter };
  Kind kind = Kind::kPointwise;

  // Pointwise: the operands, as numbers of the step's inputs; -1: no operand, or the fixed number.
  ComputeType compute = ComputeType::kF32;
  PointwiseFormula pointwise = {};
  std::array<int, 3> inputs = {0, -1, -1};

  // Reduction of input 0. `by_blocks`: the threads of a block share the elements of one result.
  ReduceFormula reduction = {};
  bool by_blocks = false, is_integer = false;

  // Parts: concatenation along one dim of the result, without gaps.
  struct Part {
    int input;
    int64_t begin, count;  // range in the result's dim
    int64_t from;          // start in the input's dim
  };
  size_t dim = 0;  // also for gathers and scatters
  std::vector<Part> parts = {};

  // Gather from input 0, or scatter into it. Scatter writes input 2 if present, otherwise `fixed`.
  // In each line along `dim`, input 1 selects one position.
  TableRows rows = {};  // the rows of the table along `dim`
  i64 fixed = 0;        // bits of one element
  int kernel = 0;       // the step's kernel number, for errors
};

}  // namespace shw::runtime::cuda
