// A plan as a person or a program wants to read it. Everything here comes from the plan alone.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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

// What the steps of a program cost in the model that chose them, one after another: the price of
// what was lowered, to hold beside the objective, which is the price of what was chosen. They
// differ: lowering joins collectives over several mesh dims, picks shard orders, and copies where a
// collective wants a contiguous block.
struct ProgramCost {
  double us = 0, collectives_us = 0;
};
ProgramCost program_cost(const Program& program);

// Bytes that one rank holds of the ports of one role, or of all. Only one bucket of an entry runs
// at a time, so the largest counts; an output that overwrites an input does not.
int64_t port_bytes(const Program& program, std::optional<PortRole> role = std::nullopt);

// Ports of a role by layout. Names that differ only in numbers stand together:
// "param.layers.*.attention.wq.weight".
struct PortGroup {
  std::string pattern, layout;
  uint32_t count = 0;
  int64_t bytes_per_rank = 0;
};
std::vector<PortGroup> group_ports(const Program& program, PortRole role);

std::string plan_text(const Plan& plan);  // tables
std::string plan_json(const Plan& plan, bool with_decisions);

std::string human_bytes(int64_t bytes);  // "1.50 GiB"

}  // namespace shw
