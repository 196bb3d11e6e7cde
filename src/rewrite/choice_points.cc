// choice_points: inserts an alias after each value with several users, and before each output.
//
//   %a = mm(%x, %w)                  %a = mm(%x, %w)
//   %b = relu(%a)                    %alias_default = alias(%a)
//   %c = neg(%a)              ⇒      %b = relu(%alias_default)
//   return output.0 = %c             %c = neg(%alias_default)
//                                    %alias_default_1 = alias(%c)
//                                    return output.0 = %alias_default_1
//
// At an alias the planner chooses one layout for all users. An alias is never partial, so values
// with several users and outputs are reduced only once. The insertion equals the reference
// planner's: first the values with at least two users (all outputs count as one user), numbered in
// graph order, each alias directly before the first user; then the outputs, numbered in output
// order, each alias directly after the value or after its alias from the first step. Tuples get
// none.
#include "rewrite/pass.h"
#include "rewrite/rebuild.h"

namespace shw {
namespace {

class ChoicePoints {
 public:
  explicit ChoicePoints(const Graph& graph)
      : g_(graph),
        next_(graph),
        multi_use_(graph.num_nodes()),
        output_(graph.num_nodes()),
        before_(graph.num_nodes()) {}

  Rewritten run() {
    name_multi_uses();
    name_outputs();
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      const NodeId n{i};
      for (NodeId source : before_[n]) {
        insert(source, multi_use_[source]);
        if (!output_[source].empty()) insert(source, output_[source]);
      }
      next_.copy(n);
      if (!output_[n].empty() && multi_use_[n].empty()) insert(n, output_[n]);
    }
    return {next_.finish(), inserted_};
  }

 private:
  void name_multi_uses() {
    Namer& namer = namer_;
    const UseCounts uses(g_);
    IndexVec<NodeId, NodeId> first_user(g_.num_nodes(), kNoNode);
    for (uint32_t i = g_.num_nodes(); i-- > 0;)
      for (NodeId o : g_.operands(NodeId{i}))
        if (o.valid()) first_user[o] = NodeId{i};
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      const NodeId n{i};
      if (uses[n] < 2 || g_.is_tuple(n)) continue;
      multi_use_[n] = namer.fresh("alias_default");
      before_[first_user[n]].push_back(n);
    }
  }

  void name_outputs() {
    for (const OutputInfo& out : g_.outputs())
      if (out.node.valid() && output_[out.node].empty())
        output_[out.node] = namer_.fresh("alias_default");
  }

  // All later uses of `source` read the alias.
  void insert(NodeId source, const std::string& name) {
    const NodeId operand = next_.mapped(source);
    next_.map(source, next_.add(source, OpKind::kAlias, name, {operand}, {}, g_.type(source),
                                g_.meta(source)));
    ++inserted_;
  }

  const Graph& g_;
  Rebuilder next_;
  Namer namer_{g_};
  IndexVec<NodeId, std::string> multi_use_, output_;  // the alias's name; empty: none
  IndexVec<NodeId, std::vector<NodeId>> before_;      // values whose first user this node is
  int64_t inserted_ = 0;
};

Result<Rewritten> run_choice_points(const Graph& graph) { return ChoicePoints(graph).run(); }

}  // namespace

extern const GraphPass kChoicePoints;
constinit const GraphPass kChoicePoints = {
    "choice_points", "one alias behind each value with several uses and before each output",
    run_choice_points};

}  // namespace shw
