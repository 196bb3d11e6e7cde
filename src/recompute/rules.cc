// Four rules, the strongest first:
//
//   1. A step that might not give the same result again is never repeated (Joint::can_repeat), nor
//      is a region whose body is unknown.
//   2. Results that depend only on parameters, such as their casts and gathers, are never kept: a
//      kept gathered parameter would undo the sharding that the planner chose. But if the policy
//      says that parameters stay gathered, no gather is repeated. Under auto, either is possible.
//   3. A tag of the graph counts for the step that computes the tagged node. Redistributions of its
//      operands have no tag: keeping a product must not keep its gathered operand.
//   4. The policy. Blocks are the regions of the graph's tags, or else the modules with a number in
//      their path ("layers.3"). Results that leave a block are kept, so that no repetition reaches
//      into another block; a graph without blocks is one block. Results of steps in front of all
//      blocks that only one block reads, such as the embedded tokens, need not be kept.
#include "recompute/rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ops/op_def.h"

namespace shw {
namespace {

using Kind = RecomputePolicy::Kind;

// Kept bytes that are worth one microsecond of repetition. Cheap: 80 GB for 0.8 s of repetitions,
// so that a result is kept unless it is large relative to its cost. Wanted: only very small results
// are kept, such as the factors of a norm.
constexpr double kCheapBytesPerUs = 1e5, kWantedBytesPerUs = 1e3;
constexpr int32_t kNoBlock = -1;

class Rules {
 public:
  Rules(const Joint& joint, const Graph& graph, const RecomputePolicy& policy)
      : joint_(joint),
        graph_(graph),
        policy_(policy),
        rules_(joint.num_steps()),
        block_(joint.num_steps(), kNoBlock),
        behind_block_(joint.num_steps(), 0) {}

  std::vector<StepRule> run() {
    index_nodes();
    find_blocks();
    find_behind_blocks();
    for (uint32_t i = 0; i < joint_.num_steps(); ++i) {
      if (!joint_.is_backward(i)) rule(i);
      rules_[i].block = block_[i];
    }
    return std::move(rules_);
  }

 private:
  const ProgramStep& step(uint32_t i) const { return joint_.step(i); }

  // Steps refer to nodes of the caller's graph; rewrites may have replaced one of these by several.
  void index_nodes() {
    for (uint32_t n = 0; n < graph_.num_nodes(); ++n) {
      const uint32_t origin = graph_.origin(NodeId{n}).v;
      if (origin >= nodes_.size()) nodes_.resize(origin + 1);
      nodes_[origin].push_back(NodeId{n});
    }
  }
  std::span<const NodeId> nodes_of(uint32_t i) const {
    const uint32_t origin = step(i).node;
    return origin < nodes_.size() ? std::span<const NodeId>(nodes_[origin])
                                  : std::span<const NodeId>();
  }

  // "layers.3" of "layers.3.attention.wq"; empty: no number in the path.
  static std::string numbered_module(const std::string& path) {
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('.', begin), path.size());
      if (std::all_of(path.begin() + static_cast<ptrdiff_t>(begin),
                      path.begin() + static_cast<ptrdiff_t>(end),
                      [](char c) { return c >= '0' && c <= '9'; }))
        return path.substr(0, end);
      begin = end + 1;
    }
    return {};
  }

  void find_blocks() {
    std::map<std::string, int32_t> numbers;
    for (uint32_t i = 0; i < joint_.num_steps(); ++i) {
      const auto nodes = nodes_of(i);
      if (joint_.is_backward(i) || nodes.empty()) continue;
      const NodeMeta& meta = graph_.meta(nodes[0]);
      const std::string name = meta.ac_graph_id >= 0 ? "#" + std::to_string(meta.ac_graph_id)
                                                     : numbered_module(meta.module_path);
      if (!name.empty())
        block_[i] = numbers.emplace(name, static_cast<int32_t>(numbers.size())).first->second;
    }
    if (numbers.empty()) std::fill(block_.begin(), block_.end(), 0);
  }

  // Marks the steps of blocks, and the steps that depend on their results.
  void find_behind_blocks() {
    for (uint32_t i = 0; i < joint_.num_steps(); ++i) {
      if (joint_.is_backward(i)) continue;
      behind_block_[i] = block_[i] != kNoBlock;
      joint_.for_inputs(i, [&](StorageId s) {
        if (joint_.is_forward(s)) behind_block_[i] |= behind_block_[joint_.writer(s)];
      });
    }
  }

  // Whether the step's results leave its block and must be kept. A result from in front of all
  // blocks belongs to the block that reads it if there is only one; if several blocks read it, it
  // would be live throughout the backward pass anyway.
  bool leaves_block(uint32_t i) const {
    const bool in_front = !behind_block_[i];
    std::optional<int32_t> home;
    if (!in_front) home = block_[i];
    bool leaves = false;
    joint_.for_outputs(i, [&](StorageId s) {
      if (!joint_.is_forward(s)) return;
      for (uint32_t reader : joint_.forward_readers(s)) {
        if (in_front && !behind_block_[reader]) continue;
        if (!home) home = block_[reader];
        leaves |= block_[reader] != *home;
      }
    });
    return leaves;
  }

  // The op that the step computes; nullptr: it moves data between layouts.
  const OpDef* op_of(uint32_t i) const {
    if (step(i).collective.kind != CollectiveKind::kNone) return nullptr;
    const auto kind = op_from_name(step(i).kernel);
    return kind ? &op_def(*kind) : nullptr;
  }

  Recompute tag_of(uint32_t i) const {
    bool tagged = false;
    for (NodeId n : nodes_of(i)) {
      const Recompute tag = graph_.meta(n).recompute;
      if (op_name(graph_.op(n)) == step(i).kernel) return tag;
      tagged |= tag != Recompute::kUnset;
    }
    return tagged ? Recompute::kPreferRecompute : Recompute::kUnset;
  }

  void rule(uint32_t i) {
    const OpDef* op = op_of(i);
    const bool product = op != nullptr && op->flops != nullptr;
    if (!joint_.can_repeat(i) || (op != nullptr && op->opaque)) return;
    if (joint_.is_of_parameters(i)) return of_parameters(i);
    switch (tag_of(i)) {
      case Recompute::kMustRecompute:
        rules_[i] = {.may_repeat = true, .may_keep = false};
        break;
      case Recompute::kPreferRecompute:
        allow(i, policy_.kind == Kind::kAuto ? kAutoBytesPerUs : kWantedBytesPerUs);
        break;
      case Recompute::kUnset:
        by_policy(i, product);
        break;
      case Recompute::kMustSave:
      case Recompute::kPreferSave:
        break;
    }
  }

  void of_parameters(uint32_t i) {
    const bool gathers = step(i).collective.kind != CollectiveKind::kNone;
    if (policy_.kind == Kind::kAuto)
      may_repeat(i, kAutoBytesPerUs);
    else if (!policy_.keep_gathered)
      rules_[i] = {.may_repeat = true, .may_keep = false};
    else if (!gathers)
      allow(i, kCheapBytesPerUs);
  }

  void allow(uint32_t i, double bytes_per_us) {
    if (!leaves_block(i)) may_repeat(i, bytes_per_us);
  }
  void may_repeat(uint32_t i, double bytes_per_us) {
    rules_[i].may_repeat = true;
    rules_[i].price_bytes = std::llround(std::max(step(i).cost_us, 0.0) * bytes_per_us);
  }

  Kind policy_of_block(int32_t block) const {
    if (policy_.kind != Kind::kEvery) return policy_.kind;
    return static_cast<uint32_t>(block) % policy_.every == 0 ? Kind::kFull : Kind::kCheap;
  }

  void by_policy(uint32_t i, bool product) {
    if (policy_.kind == Kind::kAuto) return allow(i, kAutoBytesPerUs);
    if (policy_.keep_first_add && is_first_add(i)) return;
    const bool communicates = step(i).collective.kind != CollectiveKind::kNone;
    if (block_[i] == kNoBlock && policy_.kind != Kind::kCheap) {
      if (!product) allow(i, kWantedBytesPerUs);
      return;
    }
    switch (policy_of_block(block_[i])) {
      case Kind::kSelective:
        if (!is_kept_by_selective(i, product)) allow(i, kWantedBytesPerUs);
        break;
      case Kind::kFull:
        allow(i, kWantedBytesPerUs);
        rules_[i].may_keep = !rules_[i].may_repeat;
        break;
      default:
        if (!product && !communicates) allow(i, kCheapBytesPerUs);
    }
  }

  // Whether it is the first sum of its block with a result of another block, or of a step in front
  // of all blocks.
  bool is_first_add(uint32_t i) {
    if (block_[i] == kNoBlock || step(i).kernel != op_name(OpKind::kAdd)) return false;
    bool enters = false;
    joint_.for_inputs(i, [&](StorageId s) { enters |= enters_block(s, block_[i]); });
    return enters && has_first_add_.insert(block_[i]).second;
  }
  // Whether the storage is an input of the block, possibly after a change of layout or type, whose
  // steps belong to the block.
  bool enters_block(StorageId s, int32_t block) const {
    for (;;) {
      if (!joint_.is_forward(s)) return false;
      const uint32_t writer = joint_.writer(s);
      if (joint_.is_of_parameters(writer)) return false;
      if (block_[writer] != block) return true;
      const ProgramStep& w = step(writer);
      if (w.collective.kind == CollectiveKind::kNone && !is_copy(w) && !is_cast(w)) return false;
      joint_.for_inputs(writer, [&](StorageId input) { s = input; });
    }
  }

  // Whether kSelective keeps it: attention, reductions over ranks, and the first, third, … of the
  // other products of a block.
  bool is_kept_by_selective(uint32_t i, bool product) {
    if (step(i).collective.kind == CollectiveKind::kReduceScatter || step(i).kernel == "max")
      return true;
    if (!product) return false;
    return step(i).kernel == op_name(OpKind::kSdpa) || products_[block_[i]]++ % 2 == 0;
  }

  const Joint& joint_;
  const Graph& graph_;
  const RecomputePolicy& policy_;
  std::vector<StepRule> rules_;
  std::vector<int32_t> block_;              // by step; kNoBlock: none
  std::vector<uint8_t> behind_block_;       // by step
  std::vector<std::vector<NodeId>> nodes_;  // by node of the caller's graph
  std::map<int32_t, uint32_t> products_;    // by block: matrix products so far
  std::set<int32_t> has_first_add_;         // blocks
};

}  // namespace

std::vector<StepRule> step_rules(const Joint& joint, const Graph& graph,
                                 const RecomputePolicy& policy) {
  return Rules(joint, graph, policy).run();
}

}  // namespace shw
