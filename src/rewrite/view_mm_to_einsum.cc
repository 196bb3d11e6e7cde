// view_mm_to_einsum: turns a matrix product between two views into one einsum on the unflattened
// tensors, so that batch and sequence can be sharded independently.
//
//   %v = view(%x, size=[b·s, k])                           (x: [b, s, k], w: [k, n])
//   %m = mm(%v, %w)                      ⇒   %einsum_default = einsum(%x, %w, "abk,kn->abn")
//   %y = view(%m, size=[b, s, n])
//
//   %v = view(%g, size=[b·s, n]);  %p = permute(%v, dims=[1,0])      (the gradient of a weight)
//   %u = view(%a, size=[b·s, k])
//   %m = mm(%p, %u)                      ⇒   %einsum_default = einsum(%g, %a, "abn,abk->kn")
//   %y = permute(%m, dims=[1,0])
//
// The conditions are exactly the reference planner's; at each mm the first form is tried first. The
// einsum takes the position of the mm. It has the metadata and type of the pattern's last node, but
// the sequence number, recompute tag and checkpoint region of the mm, so that forward and backward
// stay paired.
#include <algorithm>
#include <optional>

#include "rewrite/linear_patterns.h"
#include "rewrite/pass.h"
#include "rewrite/rebuild.h"

namespace shw {
namespace {

struct Match {
  NodeId lhs, rhs;  // operands of the einsum
  NodeId last;      // the node whose value the einsum replaces
  std::string equation;
};

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : g_(graph), uses_(graph), users_(graph) {}

  std::optional<Match> match(NodeId mm) const {
    const auto operands = g_.operands(mm);
    if (operands[0] == operands[1] || uses_[mm] != 1 || uses_.is_output(mm)) return std::nullopt;
    const NodeId user = users_.users(mm)[0];
    if (auto m = match_forward(mm, user)) return m;
    return match_weight_gradient(mm, user);
  }

 private:
  std::optional<Match> match_forward(NodeId mm, NodeId user) const {
    const NodeId x = unflattened(g_, g_.operands(mm)[0]), w = g_.operands(mm)[1];
    if (!x.valid() || g_.op(user) != OpKind::kView) return std::nullopt;
    const Dims &in = g_.type(x).shape, &out = g_.type(user).shape;
    if (out.size() < 3 || out.back() != g_.type(w).shape[1] ||
        !std::ranges::equal(batch_of(out), batch_of(in)))
      return std::nullopt;
    const std::string batch = batch_letters(in.size() - 1);
    return Match{x, w, user, batch + "k,kn->" + batch + "n"};
  }

  std::optional<Match> match_weight_gradient(NodeId mm, NodeId user) const {
    const NodeId transposed = g_.operands(mm)[0];
    if (!is_transpose(g_, transposed) || !is_transpose(g_, user)) return std::nullopt;
    const NodeId gradient = unflattened(g_, g_.operands(transposed)[0]);
    const NodeId a = unflattened(g_, g_.operands(mm)[1]);
    if (!gradient.valid() || !a.valid()) return std::nullopt;
    const Dims &gs = g_.type(gradient).shape, &as = g_.type(a).shape;
    if (!std::ranges::equal(batch_of(gs), batch_of(as))) return std::nullopt;
    const std::string batch = batch_letters(gs.size() - 1);
    return Match{gradient, a, user, batch + "n," + batch + "k->kn"};
  }

  const Graph& g_;
  UseCounts uses_;
  UserTable users_;
};

Result<Rewritten> run_view_mm_to_einsum(const Graph& g) {
  const Matcher matcher(g);
  Namer namer(g);
  Rebuilder next(g);
  int64_t changes = 0;
  for (uint32_t i = 0; i < g.num_nodes(); ++i) {
    const NodeId n{i};
    if (next.mapped(n).valid()) continue;  // the last node of a pattern
    const auto match = g.op(n) == OpKind::kMm ? matcher.match(n) : std::nullopt;
    if (!match) {
      next.copy(n);
      continue;
    }
    Attrs attrs;
    attrs.set(AttrKey::kEquation, match->equation);
    const NodeId einsum =
        next.add(n, OpKind::kEinsum, namer.fresh("einsum_default"),
                 {next.mapped(match->lhs), next.mapped(match->rhs)}, std::move(attrs),
                 g.type(match->last), joined_meta(g, n, match->last));
    next.map(match->last, einsum);  // the mm itself has no other user
    ++changes;
  }
  return Rewritten{without_dead_code(next.finish()), changes};
}

}  // namespace

extern const GraphPass kViewMmToEinsum;
constinit const GraphPass kViewMmToEinsum = {
    "view_mm_to_einsum", "a matrix product between views becomes an einsum on unflattened tensors",
    run_view_mm_to_einsum};

}  // namespace shw
