// The steps of a group as generated code sees them: what each computes, and where what it reads
// comes from.
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
  int64_t begin = 0, end = 0;  // bytes that it touches
  int64_t place = -1;          // of its begin, as GroupOperand::place_bytes
  bool is_aligned = false;     // as GroupOperand::is_aligned
  size_t buffer = 0;           // its number among the buffers of a launch
  int writer = kFromMemory;    // of an input: the step of the group that computes it
};

// Whether other storages' elements lie there.
inline bool lie_over_each_other(const FusedWindow& a, const FusedWindow& b) {
  return a.memory != b.memory && a.place >= 0 && b.place >= 0 &&
         a.place < b.place + b.end - b.begin && b.place < a.place + a.end - a.begin;
}

struct FusedStep {
  StepFormula formula;
  const KernelArgs* args = nullptr;
  std::vector<FusedWindow> inputs;
  FusedWindow output;
  bool is_temporary = false;  // the group's steps alone read the output
  std::optional<ReducedDims> reduced;
  int last_reader = kFromMemory;  // the last step of the group that reads it

  bool by_blocks() const { return reduced.has_value() && formula.by_blocks; }
};

// The first of the steps, as many as one generated kernel may compute: each has a formula, reads
// either memory that none of them writes, or what exactly one of them computes, and writes what no
// other one writes.
std::vector<FusedStep> read_fused_steps(const Context& context, std::span<const GroupStep> steps);

}  // namespace shw::runtime::cuda
