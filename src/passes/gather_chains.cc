#include "passes/gather_chains.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "passes/step_uses.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// A copy within a rank that saves one collective may take at most this share of the chain's time.
constexpr double kMostOfChain = 0.1;

bool is_gather(const ProgramStep& s) { return s.collective.kind == CollectiveKind::kAllGather; }

// a = first(w); b = second(a)
struct Chain {
  uint32_t first = kNoStep, second = kNoStep;
  ValueId w, a, b;
  std::vector<uint8_t> axes = {};  // of both gathers, outermost first
  double us = 0;                   // of one gather in their place
};

class ChainFuser {
 public:
  ChainFuser(Program& program, const FusePrices& prices)
      : p_(program), prices_(prices), uses_(step_uses(program)) {}

  uint32_t run() {
    uint32_t fused = 0;
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      const std::optional<Chain> chain = chain_to(i);
      if (chain) fused += uses(chain->a).num_readers == 1 ? gather_late(*chain) : slice(*chain);
    }
    if (!slices_.empty()) put_slices();
    return fused;
  }

 private:
  StepUses& uses(ValueId v) { return uses_[p_.values[v].storage.v]; }
  const TensorType& type(ValueId v) const { return p_.values[v].type; }
  ValueId window(ValueId of, Dims shape) {
    const ProgramValue value = p_.values[of];
    return p_.values.push_back({row_major(value.type.dtype, shape), value.storage, 0});
  }

  // The chain whose second gather is step `i`. Its values must be whole storages, and no other step
  // may write the storage between the gathers.
  std::optional<Chain> chain_to(uint32_t i) {
    const ProgramStep& second = p_.steps[i];
    if (!is_gather(second) || !p_.lies_in(second.inputs[0], StorageKind::kArena)) return {};
    const StepUses& between = uses(second.inputs[0]);
    if (between.num_writers != 1) return {};
    const ProgramStep& first = p_.steps[between.last_writer];
    if (!is_gather(first) || !is_whole(p_, first.outputs[0]) || !is_whole(p_, second.inputs[0]) ||
        !is_whole(p_, second.outputs[0]))
      return {};
    Chain chain{.first = between.last_writer,
                .second = i,
                .w = first.inputs[0],
                .a = first.outputs[0],
                .b = second.outputs[0],
                .axes = second.collective.axes};
    const std::vector<uint8_t>& inner = first.collective.axes;
    chain.axes.insert(chain.axes.end(), inner.begin(), inner.end());
    // A combined group never costs more than its parts; see redistribution/redistributor.h.
    chain.us = std::min(prices_.collective_us(CollectiveKind::kAllGather, mask_of(chain.axes),
                                              type(chain.b).bytes()),
                        first.cost_us + second.cost_us);
    return chain;
  }

  // Replaces step `at`, one of the two gathers, by the combined gather.
  void gather(const Chain& chain, uint32_t at) {
    const ProgramStep &first = p_.steps[chain.first], &second = p_.steps[chain.second];
    Dims shape = type(chain.w).shape;
    shape.insert(0, type(chain.b).numel() / type(chain.w).numel());
    const bool recomputed = first.recomputed || second.recomputed;
    const PriceBasis basis = std::max(first.basis, second.basis);
    ProgramStep& step = p_.steps[at];
    step.inputs = {chain.w};
    step.outputs = {window(chain.b, shape)};
    step.collective.axes = chain.axes;
    step.cost_us = chain.us;
    step.recomputed = recomputed;
    step.basis = basis;
  }

  bool gather_late(const Chain& chain) {
    // An optimizer may have updated a parameter in place between the two.
    if (!uses(chain.w).keeps(chain.first, chain.second)) return false;
    gather(chain, chain.second);
    return true;
  }

  bool slice(const Chain& chain) {
    const ProgramStep &first = p_.steps[chain.first], &second = p_.steps[chain.second];
    const double copy_us = prices_.copy_us(type(chain.a).bytes());
    const double chain_us = first.cost_us + second.cost_us;
    if (chain.us + copy_us > (1 + kMostOfChain) * chain_us ||
        !p_.lies_in(chain.b, StorageKind::kArena))
      return false;
    // Otherwise b, which is larger than a, would be held from the forward to the backward pass.
    if (first.phase != second.phase) return false;
    const int64_t block = type(chain.a).numel(), blocks = type(chain.b).numel() / block;
    ProgramStep slice;
    slice.kernel = "local_slice";
    slice.inputs = {window(chain.b, {blocks, block})};
    slice.outputs = {window(chain.a, {1, block})};
    slice.attrs.set(AttrKey::kDim, int64_t{0});
    slice.attrs.set(AttrKey::kDims, std::vector<int64_t>(second.collective.axes.begin(),
                                                         second.collective.axes.end()));
    slice.node = first.node;
    slice.phase = first.phase;
    slice.recomputed = first.recomputed;
    slice.cost_us = copy_us;
    slice.basis = PriceBasis::kAnalytical;
    gather(chain, chain.first);
    slices_.push_back({chain.first, chain.second, std::move(slice)});
    uses(chain.a).num_writers = 0;  // no gather writes it any more
    uses(chain.b).last_writer = uses(chain.b).first_writer = chain.first;
    ++uses(chain.b).num_readers;  // the block of it
    return true;
  }

  // Places each slice behind its gather, which is in the same entry. Of several slices behind one
  // gather the one found last comes first, because the others are blocks of its result.
  void put_slices() {
    std::vector<uint8_t> is_gone(p_.steps.size(), 0);
    for (const Slice& s : slices_) is_gone[s.second] = 1;
    std::ranges::reverse(slices_);
    sort_stably(slices_, {}, &Slice::first);
    auto next = slices_.begin();
    std::vector<ProgramStep> steps;
    steps.reserve(p_.steps.size());
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      if (is_gone[i]) continue;
      steps.push_back(std::move(p_.steps[i]));
      for (; next != slices_.end() && next->first == i; ++next)
        steps.push_back(std::move(next->step));
    }
    p_.steps = std::move(steps);
  }

  struct Slice {
    uint32_t first, second;  // gathers of its chain
    ProgramStep step;
  };
  Program& p_;
  const FusePrices& prices_;
  std::vector<StepUses> uses_;  // by storage
  std::vector<Slice> slices_;
};

}  // namespace

uint32_t fuse_gather_chains(Program& p, const FusePrices& prices) {
  return ChainFuser(p, prices).run();
}

}  // namespace shw
