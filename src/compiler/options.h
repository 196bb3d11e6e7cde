// What a plan is asked for: the options of compile().
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/constraints.h"
#include "placement/overlap.h"
#include "recompute/policy.h"
#include "rewrite/expand_symbols.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

inline constexpr std::string_view kFreeLayout =
    "free";  // of an input or output: chosen by the planner

struct CompileOptions {
  std::string mesh{};             // "dp=8,tp=8"
  std::string hardware = "h100";  // a name or a description: cost/hardware_description.h
  Rules rules = Rules::kFull;
  // Entries to derive from a training graph (ops/entries.h: training_entries); empty: the graph's
  // own.
  std::vector<std::string> entries{};
  // Sizes to plan for, of symbols in the graph: rewrite/expand_symbols.h.
  std::vector<BucketSizes> buckets{};
  bool strided = false;        // offer strided shards (strategy/strided_rules.h)
  std::string input_layout{};  // "S(0)R"; empty, "free": free
  std::string output_layout{};
  // Individual inputs and outputs, overriding the two above: name, and layout or "free"; see
  // BoundaryLayout in placement/constraints.h.
  std::vector<std::pair<std::string, std::string>> inputs{}, outputs{};
  // Pattern and layouts: see Pin in placement/constraints.h.
  std::vector<std::pair<std::string, std::string>> pins{};
  std::string placements{};  // JSON of placement/saved_placements.h; empty: none
  ParameterBudget parameter_budget{};
  std::vector<std::string> without{};  // constraints to drop: PlacementConstraints::without
  std::optional<Dtype> grad_reduce_dtype{};
  bool einsum = true;      // rewrite view-mm-view
  bool keep_graph = true;  // store the graph in the plan, to verify and explain it later
  // Wall clock from start_clock(); when it expires, the best placement so far is taken. Later steps
  // (lowering, passes, writing) always run to completion.
  double time_limit_s = 0;  // 0: none
  solver::SolveOptions solver{};
  int64_t memory_limit_bytes = 0;  // for what a rank holds at any point of a step; 0: none
  double optimizer_factor = 0;     // see MemoryModel::of
  OverlapOptions overlap{};        // how much communication is charged: placement/overlap.h
  RecomputePolicy recompute{};     // what backward computes again: recompute/policy.h
  // Bounds on what starts early: Program::prefetch_bytes and prefetch_depth; 0: their defaults.
  int64_t prefetch_bytes = 0;
  uint32_t prefetch_depth = 0;

  // Call it at the start of the operation that the time limit applies to.
  void start_clock() { solver.deadline = Deadline::in(time_limit_s); }
};

}  // namespace shw
