// Reports a plan as text and as JSON. Uses only the plan itself.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace shw {

// Bytes that one rank sends in a step, counted for a ring of n members: all-gather and
// reduce-scatter (n−1)/n of the whole tensor, all-reduce twice that, all-to-all (n−1)/n of what a
// rank holds. 0: the step is not a collective.
int64_t wire_bytes(const Program& program, const ProgramStep& step);

// All steps of one kind of collective.
struct CollectiveTotal {
  uint64_t count = 0, wire_bytes = 0;
};
std::map<std::string, CollectiveTotal> collective_totals(const Program& program);

// The cost of a program's steps, one after another, in the cost model of the planner. This is the
// price of the lowered program; compare it with the objective, which is the price of the chosen
// strategies. They differ because lowering joins collectives over several mesh dims, picks shard
// orders, and adds copies where a collective needs a contiguous block.
struct ProgramCost {
  double us = 0, collectives_us = 0;
  std::array<double, kNumPriceBases> by_basis_us{};  // of `us`, by PriceBasis
};
std::string_view basis_name(PriceBasis basis);  // "measured"
ProgramCost program_cost(const Program& program);

// What is kept between the forward and the backward pass of one training step, in one entry or in
// two, and what is computed again.
struct Recomputation {
  int64_t kept_bytes = 0;  // scratch that forward steps write and backward steps read
  uint32_t steps = 0;      // number of steps that repeat forward steps
  double us = 0;
};
Recomputation recomputation(const Program& program);

// Bytes that one rank holds of the ports of one role, or of all. Only one bucket of an entry runs
// at a time, so the largest bucket counts. An output that overwrites an input does not count.
int64_t port_bytes(const Program& program, std::optional<PortRole> role = std::nullopt);

// Ports of a role by layout. Names that differ only in numbers are combined:
// "param.layers.*.attention.wq.weight".
struct PortGroup {
  std::string pattern, layout;
  uint32_t count = 0;
  int64_t bytes_per_rank = 0;
};
std::vector<PortGroup> group_ports(const Program& program, PortRole role);

// The summary of an entry's simulation; see simulate/entry_times.h.
struct QueueTime {
  std::string name;  // "compute"; the mesh dims of groups, in order of the mesh: "dp", "dp+tp"
  uint32_t num_steps = 0;
  double busy_us = 0, exposed_us = 0;
};
struct EntryTime {
  double us = 0, exposed_us = 0, lower_bound_us = 0, longest_chain_us = 0;
  double unavoidable_us = 0;      // part of exposed_us that no order of the steps hides
  int64_t device_peak_bytes = 0;  // ports, state, session and live scratch
  std::vector<QueueTime> queues;  // compute first
};

// `times`: by entry of the program.
std::string plan_text(const Plan& plan, std::span<const EntryTime> times);  // tables
std::string plan_json(const Plan& plan, std::span<const EntryTime> times, bool with_decisions);

std::string human_bytes(int64_t bytes);  // "1.50 GiB"

}  // namespace shw
