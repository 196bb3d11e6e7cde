// The steps of a group as the code generator sees them: what each step computes, and where its
// inputs come from.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "runtime/cuda/plugin/kernel.h"
#include "runtime/reduced_dims.h"

namespace shw::runtime::cuda {

inline constexpr int kFromMemory = -1;

struct FusedWindow {
  const TensorType* type = nullptr;  // null: absent
  int64_t memory = 0;
  int64_t begin = 0, end = 0;  // range of bytes that it covers
  int64_t place = -1;          // of its beginning, like
  bool is_aligned = false;     // like GroupOperand::is_aligned
  size_t buffer = 0;           // number of its buffer in a launch
  int writer = kFromMemory;    // inputs: the step of the group that computes it
};

// Whether windows of different storages overlap in memory.
inline bool lie_over_each_other(const FusedWindow& a, const FusedWindow& b) {
  return a.memory != b.memory && a.place >= 0 && b.place >= 0 &&
         a.place < b.place + b.end - b.begin && b.place < a.place + a.end - a.begin;
}

struct FusedStep {
  StepFormula formula;
  const KernelArgs* args = nullptr;
  std::vector<FusedWindow> inputs;
  FusedWindow output;
  bool is_temporary = false;  // only steps of the group read the output
  std::optional<ReducedDims> reduced;
  int last_reader = kFromMemory;  // the last step of the group that reads it

  bool by_blocks() const { return reduced.has_value() && formula.by_blocks; }
};

// The longest prefix of the steps that one generated kernel may compute. Each of these steps has a
// formula. It reads either memory that none of them writes, or the output of exactly one of them.
// No two of them write the same memory.
std::vector<FusedStep> read_fused_steps(const Context& context, std::span<const GroupStep> steps);

}  // namespace shw::runtime::cuda
