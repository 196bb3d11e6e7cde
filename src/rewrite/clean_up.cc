// clean_up: removes dead code, then no-op nodes, then what became dead.
//
//   %a = clone(%x) : f32[4]
//   %b = add(%a, %x) : f32[4]      ⇒      %b = add(%x, %x) : f32[4]
//
// A node is a no-op if it is an alias, a clone, a view, a convert_element_type or a power of one,
// and its type (including strides) equals its operand's. It is kept if an output would otherwise
// share memory with an input or with another output, which callers could observe. The rule is the
// reference planner's (its compiler's no-op removal); dtype_cast is opaque to that and is kept.
#include <algorithm>

#include "ops/op_def.h"
#include "rewrite/pass.h"
#include "rewrite/rebuild.h"

namespace shw {
namespace {

// For each value, the node whose memory it shares in the framework (views share their operand's),
// and whether it is lazily conjugated.
class Storage {
 public:
  explicit Storage(const Graph& g)
      : root_(g.num_nodes()),
        conjugate_(g.num_nodes(), 0),
        holds_input_(g.num_nodes(), 0),
        outputs_(g.num_nodes(), 0) {
    for (uint32_t i = 0; i < g.num_nodes(); ++i) {
      const NodeId n{i};
      const bool shares = shares_operand(g, n);
      root_[n] = shares ? root_[g.operands(n)[0]] : n;
      conjugate_[n] = (shares ? conjugate_[g.operands(n)[0]] : 0) ^ (g.op(n) == OpKind::kConj);
      holds_input_[n] = g.op(n) == OpKind::kInput;
    }
    for (const OutputInfo& out : g.outputs())
      if (out.node.valid()) outputs_[root_[out.node]] = 1;
  }
  NodeId root(NodeId n) const { return root_[n]; }
  bool is_conjugate(NodeId n) const { return conjugate_[n] != 0; }
  bool is_input(NodeId n) const { return holds_input_[root_[n]] != 0; }
  bool is_output(NodeId n) const { return outputs_[root_[n]] != 0; }

 private:
  static bool shares_operand(const Graph& g, NodeId n) {
    const OpKind op = g.op(n);
    return (op_def(op).is_view || op == OpKind::kConj) && op != OpKind::kInput &&
           op != OpKind::kGetItem;
  }
  IndexVec<NodeId, NodeId> root_;
  IndexVec<NodeId, uint8_t> conjugate_, holds_input_, outputs_;
};

bool changes_nothing(const Graph& g, NodeId n, const Storage& storage) {
  switch (g.op(n)) {
    case OpKind::kAlias:
    case OpKind::kClone:
    case OpKind::kView:
    case OpKind::kConvertElementType:
      break;
    case OpKind::kPow:
      if (g.attrs(n).get_number(AttrKey::kExponent, 0) != 1) return false;
      break;
    default:
      return false;
  }
  const NodeId source = g.operands(n)[0];
  return g.type(n) == g.type(source) && storage.is_conjugate(n) == storage.is_conjugate(source);
}

bool must_stay(const Graph& g, NodeId n, const Storage& storage, const UseCounts& uses) {
  const NodeId source = g.operands(n)[0];
  if (storage.root(n) != storage.root(source))  // a copy
    return storage.is_output(n) && (storage.is_input(source) || storage.is_output(source));
  return uses.is_output(n) && (g.op(source) == OpKind::kInput || uses.is_output(source));
}

Rewritten without_no_ops(const Graph& g) {
  const Storage storage(g);
  const UseCounts uses(g);
  Rebuilder next(g);
  bool removes = false;
  for (uint32_t i = 0; i < g.num_nodes(); ++i) {
    const NodeId n{i};
    if (changes_nothing(g, n, storage) && !must_stay(g, n, storage, uses)) {
      next.map(n, next.mapped(g.operands(n)[0]));
      removes = true;
    } else {
      next.copy(n);
    }
  }
  if (!removes) return {};
  Graph graph = without_dead_code(next.finish());
  const int64_t removed = int64_t{g.num_nodes()} - graph.num_nodes();
  return {std::move(graph), removed};
}

Result<Rewritten> run_clean_up(const Graph& g) {
  const auto num_dead = std::ranges::count(live_nodes(g), 0);
  if (num_dead == 0) return without_no_ops(g);
  Graph live = without_dead_code(g);
  Rewritten next = without_no_ops(live);
  if (next.changes == 0) next.graph = std::move(live);
  next.changes += num_dead;
  return next;
}

}  // namespace

extern const GraphPass kCleanUp;
constinit const GraphPass kCleanUp = {"clean_up", "remove dead code and nodes that change nothing",
                                      run_clean_up};

}  // namespace shw
