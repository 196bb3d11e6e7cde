// equal_nodes: replaces a node by an earlier one that computes the same value.
//
//   %a = cos(%x)                     %a = cos(%x)
//   %b = mul(%a, %y)                 %b = mul(%a, %y)
//   %c = cos(%x)               ⇒
//   %d = mul(%c, %z)                 %d = mul(%a, %z)
//
// A view that restores an earlier value is replaced by that value: with %s = squeeze(%x), %u =
// unsqueeze(%s) becomes %x. Consecutive permutes become a single permute.
//
// The program computes such values once in any case (passes/common_subexpressions.cc). Merging them
// here makes the planner price them only once, too. A returned node becomes an alias, since each
// output has its own storage. Nodes that draw random numbers or state layouts are kept.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ops/families.h"
#include "ops/op_def.h"
#include "rewrite/pass.h"
#include "rewrite/rebuild.h"
#include "support/hash.h"

namespace shw {
namespace {

class Merger {
 public:
  explicit Merger(const Graph& graph) : g_(graph), next_(graph), uses_(graph) {}

  Rewritten run() {
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      const NodeId n{i};
      const NodeId first = is_function_of_operands(n) ? first_equal(n) : n;
      if (first == n || !may_merge(n)) {
        next_.copy(n);
        continue;
      }
      const NodeId kept = next_.mapped(first);
      next_.map(n, kept);
      if (uses_.is_output(n)) returned_.push_back({n, alias_of(kept, n)});
      ++merged_;
    }
    for (const auto& [n, alias] : returned_) next_.map(n, alias);
    return {next_.finish(), merged_};
  }

 private:
  bool is_function_of_operands(NodeId n) const {
    const OpKind op = g_.op(n);
    const OpDef& def = op_def(op);
    return op != OpKind::kInput && op != OpKind::kAlias && !def.is_random(g_.attrs(n)) &&
           !def.opaque && def.sharding != Sharding::kDeclared;
  }

  // Values that are written in place need their own storage.
  bool may_merge(NodeId n) const {
    return !uses_.is_output(n) ||
           (!g_.is_tuple(n) && std::ranges::none_of(g_.outputs(), [&](const OutputInfo& out) {
             return out.node == n && out.in_place;
           }));
  }
  NodeId alias_of(NodeId kept, NodeId n) {
    return next_.add(n, OpKind::kAlias, std::string(g_.name(n)), {kept}, {}, g_.type(n),
                     g_.meta(n));
  }

  // Views that change the shape but keep the order of elements.
  static bool keeps_order(OpKind op) {
    return op == OpKind::kView || op == OpKind::kSqueeze || op == OpKind::kUnsqueeze;
  }

  // The earlier value that a chain of such views restores.
  NodeId first_of_views(NodeId n) const {
    for (NodeId from = n; keeps_order(g_.op(from));) {
      from = g_.operands(from)[0];
      if (!g_.is_tuple(from) && g_.type(from) == g_.type(n)) return from;
    }
    return n;
  }

  std::vector<int64_t> permuted_dims(NodeId n) const {
    std::vector<int64_t> dims = g_.attrs(n).get_ints(AttrKey::kDims);
    const auto rank = static_cast<int>(dims.size());
    for (int64_t& d : dims) d = static_cast<int64_t>(*ops::wrap_dim(d, rank));
    return dims;
  }

  NodeId first_permute(NodeId n) {
    std::vector<int64_t> dims = permuted_dims(n);
    NodeId of = g_.operands(n)[0];
    for (; g_.op(of) == OpKind::kPermute; of = g_.operands(of)[0]) {
      const std::vector<int64_t> inner = permuted_dims(of);
      for (int64_t& d : dims) d = inner[static_cast<size_t>(d)];
    }
    const NodeId first =
        permutes_.try_emplace({next_.mapped(of).v, std::move(dims)}, n).first->second;
    return g_.type(first) == g_.type(n) ? first : n;
  }

  NodeId first_equal(NodeId n) {
    if (const NodeId from = first_of_views(n); from != n) return from;
    if (g_.op(n) == OpKind::kPermute) return first_permute(n);
    const auto operands = next_.mapped(g_.operands(n));
    uint64_t hash = hash_combine(static_cast<uint64_t>(g_.op(n)), hash_of(g_.attrs(n)));
    for (NodeId o : operands) hash = hash_combine(hash, o.v);
    const auto [first, end] = by_hash_.equal_range(hash);
    for (auto it = first; it != end; ++it)
      if (same(it->second, n, operands)) return it->second;
    by_hash_.emplace(hash, n);
    return n;
  }

  bool same(NodeId a, NodeId b, std::span<const NodeId> operands_of_b) const {
    return g_.op(a) == g_.op(b) && g_.attrs(a) == g_.attrs(b) &&
           std::ranges::equal(g_.results(a), g_.results(b)) &&
           next_.mapped(g_.operands(a)) == operands_of_b;
  }

  const Graph& g_;
  Rebuilder next_;
  const UseCounts uses_;
  std::unordered_multimap<uint64_t, NodeId> by_hash_;  // of the old graph; look-up only
  // Key: the new node that is permuted, and the order of its dims.
  std::map<std::pair<uint32_t, std::vector<int64_t>>, NodeId> permutes_;
  std::vector<std::pair<NodeId, NodeId>> returned_;  // returned nodes and their aliases
  int64_t merged_ = 0;
};

Result<Rewritten> run_equal_nodes(const Graph& graph) { return Merger(graph).run(); }

}  // namespace

extern const GraphPass kEqualNodes;
constinit const GraphPass kEqualNodes = {"equal_nodes", "what is computed twice is computed once",
                                         run_equal_nodes};

}  // namespace shw
