// run_time_seed: gives nodes that draw random numbers a seed that is an input of each run.
//
//                                            input seed.random: %run_seed : i64[2]
//   %r = rand(size=[4]) : f32[4]      ⇒      %r = rand(%run_seed, size=[4]) : f32[4]
//
// The input holds a seed and an offset; the caller increments the offset from step to step. If the
// graph already has an input of role seed and this type, that one is used. Entries that need it
// have it as their last input. A node with the attribute `seed` draws the same numbers in every
// run, so it is unchanged. If the graph changes, its inputs are moved before all other nodes.
#include <algorithm>

#include "ops/entries.h"
#include "ops/op_def.h"
#include "ops/signature.h"
#include "rewrite/pass.h"
#include "rewrite/rebuild.h"

namespace shw {
namespace {

constexpr const char* kInputName = "random";  // of port "seed.random"
constexpr const char* kNodeName = "run_seed";

// The number of operands before the seed, which is the last one.
size_t operands_before_seed(const OpDef& def) {
  return static_cast<size_t>(std::ranges::count_if(def.params, is_operand, &Param::kind)) - 1;
}

bool wants_seed(const Graph& g, NodeId n) {
  const OpDef& def = op_def(g.op(n));
  const Attrs& attrs = g.attrs(n);
  if (!def.is_random(attrs) || attrs.has(AttrKey::kSeed)) return false;
  const size_t place = operands_before_seed(def);
  return g.operands(n).size() <= place || !g.operands(n)[place].valid();
}

NodeId own_seed(const Graph& g) {
  for (const InputInfo& in : g.inputs())
    if (in.role == InputRole::kSeed && g.type(in.node) == row_major(Dtype::kI64, {2}))
      return in.node;
  return kNoNode;
}

// Puts inputs first, so that the seed is before its users and after the other inputs.
Graph with_seed(const Graph& g, NodeId first_user) {
  Rebuilder next(g);
  for (const InputInfo& in : g.inputs()) next.copy(in.node);
  const NodeId own = own_seed(g);
  const NodeId seed = own.valid() ? next.mapped(own)
                                  : next.add_input(first_user, Namer(g).fresh(kNodeName),
                                                   row_major(Dtype::kI64, {2}),
                                                   {.role = InputRole::kSeed, .name = kInputName});
  for (uint32_t i = 0; i < g.num_nodes(); ++i) {
    const NodeId n{i};
    if (g.op(n) == OpKind::kInput) continue;
    if (!wants_seed(g, n)) {
      next.copy(n);
      continue;
    }
    auto operands = next.mapped(g.operands(n));
    operands.resize(operands_before_seed(op_def(g.op(n))));
    operands.push_back(seed);
    next.copy(n, operands);
  }
  return next.finish();
}

// Every entry that reads the seed lists it.
void list_seed(Graph& g) {
  std::vector<EntryInfo> entries = g.given_entries();
  const auto nodes = nodes_of_entries(g);
  for (size_t e = 0; e < entries.size(); ++e)
    for (uint32_t i = 0; i < g.inputs().size(); ++i) {
      std::vector<uint32_t>& listed = entries[e].inputs;
      const InputInfo& in = g.inputs()[i];
      if (in.role != InputRole::kSeed || in.storage == InputStorage::kState) continue;
      const auto at = std::ranges::lower_bound(listed, i);
      if (nodes[e][in.node.v] && (at == listed.end() || *at != i)) listed.insert(at, i);
    }
  g.set_entries(std::move(entries));
}

Result<Rewritten> draw_by_run_time_seed(const Graph& g) {
  int64_t changes = 0;
  NodeId first_user;
  for (uint32_t i = g.num_nodes(); i-- > 0;)
    if (wants_seed(g, NodeId{i})) ++changes, first_user = NodeId{i};
  if (changes == 0) return Rewritten{};
  Rewritten next{with_seed(g, first_user), changes};
  list_seed(next.graph);
  return next;
}

}  // namespace

extern const GraphPass kRunTimeSeed;
constinit const GraphPass kRunTimeSeed = {"run_time_seed",
                                          "random numbers are drawn by a seed that each run brings",
                                          draw_by_run_time_seed};

}  // namespace shw
