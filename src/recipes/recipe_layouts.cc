#include "recipes/recipe_layouts.h"

#include <algorithm>

namespace shw::recipes {
namespace {

// A non-owning reference to a predicate on strategies, for the duration of a call.
class Test {
 public:
  template <class Holds>
  Test(const Holds& holds)  // NOLINT(google-explicit-constructor): lambdas stand for it
      : object_(&holds), call_([](const void* object, uint32_t s) {
          return (*static_cast<const Holds*>(object))(s);
        }) {}
  bool operator()(uint32_t strategy) const { return call_(object_, strategy); }

 private:
  const void* object_;
  bool (*call_)(const void*, uint32_t);
};

// The remaining strategies of one node.
class Left {
 public:
  explicit Left(uint32_t count) : allowed_(count, true) {}

  // Keeps the strategies that pass the test. If none passes, keeps all and returns false.
  bool keep(Test test) {
    std::vector<bool> kept(allowed_.size(), false);
    for (uint32_t s = 0; s < allowed_.size(); ++s) kept[s] = allowed_[s] && test(s);
    if (std::ranges::find(kept, true) == kept.end()) return false;
    allowed_ = std::move(kept);
    return true;
  }
  bool is_all() const { return std::ranges::find(allowed_, false) == allowed_.end(); }
  std::vector<bool> take() { return std::move(allowed_); }

 private:
  std::vector<bool> allowed_;
};

class Maker {
 public:
  Maker(const Recipe& recipe, const Graph& graph, const Mesh& mesh, const Strategies& strategies,
        const ModelParts& parts, const Cuts& cuts)
      : recipe_(recipe),
        graph_(graph),
        mesh_(mesh),
        strategies_(strategies),
        parts_(parts),
        batch_(cuts.batch),
        sequence_(recipe.inner == Duty::kContext ? cuts.context : cuts.residual) {}

  RecipeLayouts run() {
    RecipeLayouts out;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      const NodeId n{i};
      Left left(strategies_.of(n).count);
      bool obeys = true;
      if (is_parameter(n)) {
        state_parameter(n, left);
      } else {
        for (int m = 0; m < mesh_.rank(); ++m)
          if (mesh_.size(m) > 1) obeys &= state(n, m, left);
      }
      out.num_free += !obeys;
      if (!left.is_all())
        out.choices.push_back(
            {n, left.take(),
             "layout of " + graph_.name(n) + " in the recipe " + std::string(recipe_.name)});
    }
    return out;
  }

 private:
  Duty duty_along(int m) const { return duty(recipe_, mesh_, m); }

  bool is_parameter(NodeId n) const {
    const int32_t input = graph_.input_index(n);
    return input >= 0 && is_trained(graph_.inputs()[static_cast<size_t>(input)].role);
  }
  const Placement& result(NodeId n, uint32_t s, int m, size_t r = 0) const {
    return strategies_.result_layout(n, r, s)[m];
  }
  const Placement& operand(NodeId n, size_t k, uint32_t s, int m) const {
    return strategies_.operand_layout(n, k, s)[m];
  }

  // ---- parameters

  void state_parameter(NodeId n, Left& left) const {
    for (int m = 0; m < mesh_.rank(); ++m)
      if (cuts_weights(duty_along(m)) && mesh_.size(m) > 1) cut_weight(n, m, left);
    shard_parameter(n, left);
    for (int m = 0; m < mesh_.rank(); ++m)
      if (duty_along(m) == Duty::kReplicas)
        left.keep([&](uint32_t s) { return result(n, s, m).is_replicate(); });
  }

  // Cuts weights along any of their dims. Other parameters of one dim may be cut like the tensors
  // that they are added to.
  void cut_weight(NodeId n, int m, Left& left) const {
    if (parts_.is_weight[n.v])
      left.keep([&](uint32_t s) { return result(n, s, m).is_shard_like(); });
    else if (graph_.type(n).shape.size() != 1)
      left.keep([&](uint32_t s) { return result(n, s, m).is_replicate(); });
  }

  // Along the first dim that can be cut over all mesh dims that shard parameters; if there is none,
  // over as many of them as possible.
  void shard_parameter(NodeId n, Left& left) const {
    std::vector<int> over;
    for (int m = 0; m < mesh_.rank(); ++m)
      if (gathers_parameters(duty_along(m))) over.push_back(m);
    const int rank = static_cast<int>(graph_.type(n).shape.size());
    for (int d = 0; d < rank; ++d)
      if (left.keep([&](uint32_t s) {
            return std::ranges::all_of(over, [&](int m) { return result(n, s, m).is_shard(d); });
          }))
        return;
    for (const int m : over) {
      bool cut = false;
      for (int d = 0; d < rank && !cut; ++d)
        cut = left.keep([&](uint32_t s) { return result(n, s, m).is_shard(d); });
      if (!cut) left.keep([&](uint32_t s) { return result(n, s, m).is_replicate(); });
    }
  }

  // ---- all other nodes

  // False: the node has no strategy that follows the recipe.
  bool state(NodeId n, int m, Left& left) const {
    const Duty duty = duty_along(m);
    if (cuts_weights(duty)) return cut_products(n, m, duty, left);
    const ShardFlow& flow = duty == Duty::kContext ? sequence_ : batch_;
    return left.keep([&](uint32_t s) {
      return follows_results(flow, n, s, m) && follows_operands(flow, n, s, m);
    }) || left.keep([&](uint32_t s) { return follows_results(flow, n, s, m); });
  }

  bool follows_results(const ShardFlow& flow, NodeId n, uint32_t s, int m) const {
    for (size_t r = 0; r < graph_.results(n).size(); ++r)
      if (strategies_.of(n).results[r].valid() && !follows(flow.result(n, r), result(n, s, m, r)))
        return false;
    return true;
  }
  bool follows_operands(const ShardFlow& flow, NodeId n, uint32_t s, int m) const {
    const auto operands = graph_.operands(n);
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid() && !follows(flow.operand(n, k), operand(n, k, s, m))) return false;
    return true;
  }
  static bool follows(const Placement& flow, const Placement& is) {
    return !flow.is_shard_like() || is == flow;
  }

  // If the flow cuts a dim in two ways at once (all tokens as one dim), only the dim counts.
  static bool cuts(const Placement& is, const Placement& flow) {
    return is.is_shard_like() && flow.is_shard_like(is.dim());
  }

  bool cut_products(NodeId n, int m, Duty duty, Left& left) const {
    const bool along_sequence = duty == Duty::kTensorAndSequence && !parts_.is_product[n.v];
    bool obeys = left.keep([&](uint32_t s) {
      return all_hold(batch_, n, s, m, &Maker::leaves_batch) &&
             (along_sequence || all_hold(sequence_, n, s, m, &Maker::leaves_sequence));
    });
    if (parts_.is_stream_side[n.v])
      obeys &= left.keep([&](uint32_t s) {
        return all_hold(sequence_, n, s, m,
                        duty == Duty::kTensor ? &Maker::is_whole : &Maker::is_whole_or_sequence);
      });
    if (parts_.is_stream[n.v])
      obeys &= left.keep([&](uint32_t s) {
        const Placement& p = result(n, s, m);
        if (!parts_.is_stream_side[n.v] && p.is_partial()) return true;  // a sum not yet reduced
        return duty == Duty::kTensor ? p.is_replicate() : p == sequence_.result(n);
      });
    return use_weights_in_parts(n, m, left) && obeys;
  }

  // Whether the test holds for the placement along `m` of every operand and every result.
  bool all_hold(const ShardFlow& flow, NodeId n, uint32_t s, int m,
                bool (Maker::*holds)(const Placement& is, const Placement& flow, const Dims& shape)
                    const) const {
    for (size_t r = 0; r < graph_.results(n).size(); ++r)
      if (const auto& type = graph_.results(n)[r];
          type && !(this->*holds)(result(n, s, m, r), flow.result(n, r), type->shape))
        return false;
    const auto operands = graph_.operands(n);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      const auto& type = graph_.results(operands[k])[element_of_operand(graph_, n)];
      if (!(this->*holds)(operand(n, k, s, m), flow.operand(n, k), type->shape)) return false;
    }
    return true;
  }

  // If the flow has lost the sequence (attention gathers it), its usual position identifies it.
  bool cuts_sequence(const Placement& is, const Placement& flow, const Dims& shape) const {
    return cuts(is, flow) || (is.is_shard(1) && shape.size() >= 2 && shape[0] == parts_.batch &&
                              shape[1] == parts_.sequence);
  }

  bool is_whole(const Placement& is, const Placement&, const Dims&) const {
    return !is.is_shard_like();
  }
  bool is_whole_or_sequence(const Placement& is, const Placement& flow, const Dims& shape) const {
    return !is.is_shard_like() || cuts_sequence(is, flow, shape);
  }
  bool leaves_batch(const Placement& is, const Placement& flow, const Dims&) const {
    return !cuts(is, flow);
  }
  bool leaves_sequence(const Placement& is, const Placement& flow, const Dims& shape) const {
    return !cuts_sequence(is, flow, shape);
  }

  bool use_weights_in_parts(NodeId n, int m, Left& left) const {
    if (!parts_.is_product[n.v] && graph_.op(n) != OpKind::kEmbedding) return true;
    const auto operands = graph_.operands(n);
    bool obeys = true;
    for (size_t k = 0; k < operands.size(); ++k) {
      const NodeId weight = operands[k].valid() ? parameter_behind(graph_, operands[k]) : kNoNode;
      if (weight.valid() && parts_.is_weight[weight.v])
        obeys &= left.keep([&](uint32_t s) { return operand(n, k, s, m).is_shard_like(); });
    }
    return obeys;
  }

  const Recipe& recipe_;
  const Graph& graph_;
  const Mesh& mesh_;
  const Strategies& strategies_;
  const ModelParts& parts_;
  const ShardFlow &batch_, &sequence_;
};

ShardFlow::Starts starts_at(const std::vector<NodeId>& nodes, int dim) {
  ShardFlow::Starts starts;
  for (const NodeId n : nodes) starts[n] = Placement::shard(dim);
  return starts;
}

ShardFlow::Starts stream_starts(const ModelParts& parts, const Graph& graph) {
  ShardFlow::Starts starts;
  for (uint32_t i = 0; i < graph.num_nodes() && parts.sequence > 0; ++i)
    if (parts.is_stream[i] && graph.type(NodeId{i}).shape.size() == 3)
      starts[NodeId{i}] = Placement::shard(1);
  return starts;
}

// The smallest number of ranks greater than one that divides `size`.
int64_t fewest_ranks(int64_t size) {
  for (int64_t ranks = 2; ranks * ranks <= size; ++ranks)
    if (size % ranks == 0) return ranks;
  return std::max<int64_t>(size, 2);
}

}  // namespace

Result<Cuts> Cuts::of(const Graph& graph, const ModelParts& parts, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(ShardFlow batch,
                       ShardFlow::create(graph, fewest_ranks(parts.batch), monitor));
  SHW_ASSIGN_OR_RETURN(ShardFlow sequence,
                       ShardFlow::create(graph, fewest_ranks(parts.sequence), monitor));
  Cuts cuts{std::move(batch), sequence, std::move(sequence)};
  cuts.batch.run(starts_at(parts.batch_inputs, 0));
  cuts.context.run(starts_at(parts.sequence_inputs, 1));
  cuts.residual.run(stream_starts(parts, graph));
  return cuts;
}

RecipeLayouts layouts_of(const Recipe& recipe, const Graph& graph, const Mesh& mesh,
                         const Strategies& strategies, const ModelParts& parts, const Cuts& cuts) {
  return Maker(recipe, graph, mesh, strategies, parts, cuts).run();
}

}  // namespace shw::recipes
