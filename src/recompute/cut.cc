// The network. Nodes on the sink's side stand for results that are available in the backward half,
// and for steps that run again there.
//
//   source ─price→ step ─∞→ made(result)     a result is made again only if its step runs again
//   made(storage) ─bytes→ there(storage)     or else it is kept; ∞: it must not be
//   there(operand) ─∞→ step                  a step runs again only if its operands are there
//   there(storage) ─∞→ sink                  the backward half reads it
//   source ─∞→ step                          it must not run again
//
// A finite cut exists: a result that may not be kept can be repeated, and so can its operands,
// recursively, up to results that may be kept or are available anyway.
#include "recompute/cut.h"

#include "recompute/max_flow.h"

namespace shw {
namespace {

constexpr uint32_t kNoNode = UINT32_MAX;

class Network {
 public:
  Network(const Joint& joint, const std::vector<StepRule>& rules)
      : joint_(joint),
        rules_(rules),
        step_(joint.num_steps(), kNoNode),
        made_(joint.program().storages.size(), kNoNode) {}

  std::vector<uint8_t> run() {
    const uint32_t source = flow_.add_node(), sink = flow_.add_node();
    for (uint32_t s = 0; s < made_.size(); ++s) {
      const StorageId id{s};
      if (!joint_.is_forward(id) || !joint_.is_read_backward(id)) continue;
      want(id);
      flow_.add_edge(there(id), sink, MaxFlow::kInfinite);
    }
    for (size_t k = 0; k < wanted_.size(); ++k) add_step(wanted_[k], source);
    const std::vector<uint8_t> side = flow_.sink_side(source, sink);
    std::vector<uint8_t> again(made_.size(), 0);
    for (uint32_t s = 0; s < made_.size(); ++s) again[s] = made_[s] != kNoNode && side[made_[s]];
    return again;
  }

 private:
  uint32_t there(StorageId s) const { return made_[s.v] + 1; }

  // Adds the nodes of a storage and of the step that writes it, unless they exist.
  void want(StorageId s) {
    if (made_[s.v] != kNoNode) return;
    const uint32_t writer = joint_.writer(s);
    made_[s.v] = flow_.add_node();
    flow_.add_node();
    const bool may_keep = rules_[writer].may_keep;
    flow_.add_edge(made_[s.v], there(s),
                   may_keep ? joint_.program().storages[s].bytes : MaxFlow::kInfinite);
    if (step_[writer] == kNoNode) {
      step_[writer] = flow_.add_node();
      wanted_.push_back(writer);
    }
    flow_.add_edge(step_[writer], made_[s.v], MaxFlow::kInfinite);
  }

  void add_step(uint32_t i, uint32_t source) {
    const StepRule& rule = rules_[i];
    flow_.add_edge(source, step_[i], rule.may_repeat ? rule.price_bytes : MaxFlow::kInfinite);
    if (!rule.may_repeat) return;
    joint_.for_inputs(i, [&](StorageId s) {
      if (!joint_.is_forward(s)) return;
      want(s);
      flow_.add_edge(there(s), step_[i], MaxFlow::kInfinite);
    });
  }

  const Joint& joint_;
  const std::vector<StepRule>& rules_;
  MaxFlow flow_;
  std::vector<uint32_t> step_, made_;  // nodes, by step and by storage; there() follows made_
  std::vector<uint32_t> wanted_;       // steps still to be added
};

}  // namespace

std::vector<uint8_t> storages_to_repeat(const Joint& joint, const std::vector<StepRule>& rules) {
  return Network(joint, rules).run();
}

}  // namespace shw
