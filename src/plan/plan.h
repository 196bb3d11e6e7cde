// A plan: the compiled program of one graph on one mesh, with what the planner knows about it.
// Immutable.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/program.h"

namespace shw {

struct NodeDecision {  // one planner node
  std::string name, op;
  uint8_t phase = 0;
  std::string module_path;
  std::string operand_layouts;  // "S(0)R, RS(1)"
  std::string result_layout;    // "S(0)S(2)"; a tuple in parentheses
  double compute_us = 0, comm_us = 0, transition_us = 0;
};

struct MemoryShare {  // at the peak of a step
  std::string kind;   // "parameters", "activations", …: see MemoryKind in placement/memory.h
  std::string module_path;  // "layers.0.attention.wq"; empty: none
  int64_t bytes = 0;        // of one rank
};

struct PlanSummary {
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  double compute_us = 0, comm_us = 0, transition_us = 0;
  uint32_t num_nodes = 0;       // planner nodes
  uint64_t num_strategies = 0;  // summed over them
  std::string hardware, rules;  // "h100", "compat" or "full"
  uint64_t graph_hash = 0, options_hash = 0, mesh_hash = 0;
  std::vector<NodeDecision> decisions;
  // A rank's memory at the peak of a step, as counted by the planner, and the price of the limit.
  int64_t memory_limit_bytes = 0;  // 0: none
  int64_t memory_peak_bytes = 0;
  std::string memory_peak_node;
  double memory_price_per_gib = 0;     // µs saved if the limit were one GiB higher, at the margin
  int64_t memory_program_bytes = 0;    // of the program: ports, optimizer state, arena and session
  uint32_t memory_binding_points = 0;  // of the program, where the limit has a price
  std::vector<MemoryShare> memory_shares;  // the largest first; they add up to the peak
  std::string overlap;  // the rule by which costs omit hidden communication: "bounded"; empty:
                        // costs omit none
  // Bounds the loss by the choice of what is computed again: the step takes no longer than one in
  // which repeated steps take at most this much longer than in the best choice for the memory
  // limit. Negative: unknown.
  double recompute_excess_us = -1;
  // If a memory limit determined what is computed again: a lower bound on the step, over all
  // placements and all such choices within the limit. Negative: unknown.
  double step_bound_us = -1;
};

struct Plan {
  PlanSummary summary;
  Program program;
  std::vector<uint8_t> source_graph;  // bytes of the graph it was made from (SWGR), to verify and
                                      // explain; may be empty
  uint64_t checksum =
      0;  // of the bytes that it was read from; ranks compare it. 0: not read from bytes
};

// Serialises a plan by schemas/plan.fbs. The same plan gives the same bytes.
std::vector<uint8_t> write_plan(const Plan& plan);

// DATA_LOSS: the bytes are damaged (size, identifier, checksum, verifier, semantics).
// FAILED_PRECONDITION: they have another format version; the message names both versions. `bytes`
// may have any alignment and content.
Result<Plan> read_plan(std::span<const uint8_t> bytes);

}  // namespace shw
