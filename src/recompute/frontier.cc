#include "recompute/frontier.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "recompute/cut.h"

namespace shw {
namespace {

// The ends of the curve: time is all that counts; memory is.
constexpr double kMostBytesPerUs = 1e8, kLeastBytesPerUs = 1e2;
// Of the curve; each costs a cut of the whole program. One of few blocks has few choices between
// corners, and needs more of those.
constexpr size_t kMaxLines = 16, kMaxLinesOfFewSteps = 32;
constexpr uint32_t kFewSteps = 2000;

// Each halves the interval of the logarithm of a price.
constexpr int kComputeCuts = 10;

// Of the price of a parameter's gather, what a repetition is charged where the schedule can hide it
// behind compute: the charge stands for what the link has to carry. It cannot where the
// communicator would be busy for nearly as long as compute.
constexpr double kChargedOfHidden = 1.0 / 16, kNearly = 0.9;

void charge_gathers(const Joint& joint, std::vector<StepRule>& rules) {
  double compute_us = 0;
  std::map<std::vector<uint8_t>, double> busy_us;  // by mesh dims, with all gathers repeated
  const auto is_gather = [&](uint32_t i) {
    return joint.step(i).collective.kind != CollectiveKind::kNone && !joint.is_backward(i) &&
           joint.is_of_parameters(i);
  };
  for (uint32_t i = 0; i < joint.num_steps(); ++i) {
    const ProgramStep& step = joint.step(i);
    if (step.collective.kind == CollectiveKind::kNone)
      compute_us += step.cost_us;
    else
      busy_us[step.collective.axes] += (is_gather(i) ? 2 : 1) * step.cost_us;
  }
  for (uint32_t i = 0; i < joint.num_steps(); ++i)
    if (is_gather(i) && busy_us[joint.step(i).collective.axes] < kNearly * compute_us)
      rules[i].price_bytes =
          std::llround(kChargedOfHidden * static_cast<double>(rules[i].price_bytes));
}

}  // namespace

Result<Frontier> Frontier::of(const Joint& joint, const Graph& graph, Monitor& monitor) {
  std::vector<StepRule> rules = step_rules(joint, graph, {.kind = RecomputePolicy::Kind::kAuto});
  charge_gathers(joint, rules);
  Frontier f(joint, std::move(rules));
  f.find_needed_forward();
  SHW_RETURN_IF_ERROR(f.find_cuts(monitor));
  f.find_changes();
  return f;
}

Frontier::Cut Frontier::cut_at(double bytes_per_us) {
  std::vector<StepRule> rules = rules_;
  for (StepRule& rule : rules)
    rule.price_bytes =
        std::llround(static_cast<double>(rule.price_bytes) * (bytes_per_us / kAutoBytesPerUs));
  Cut cut{storages_to_repeat(*joint_, rules), {}};
  cut.cost = cost_of(cut.again);
  // Prices are whole bytes: the smallest cut may be off by half a byte a step.
  lines_.push_back({bytes_per_us, static_cast<double>(cut.cost.kept_bytes) +
                                      bytes_per_us * cut.cost.us -
                                      0.5 * static_cast<double>(rules.size())});
  return cut;
}

// Between two corners, the price at which both are worth the same shows whether there is another
// one between them (Eisner and Severance 1976). Where the curve may bend most is looked at first.
Status Frontier::find_cuts(Monitor& monitor) {
  cuts_.push_back(cut_at(kMostBytesPerUs));
  cuts_.push_back(cut_at(kLeastBytesPerUs));
  std::vector<uint8_t> straight(1, 0);  // by pair of neighbours: no corner lies between them
  const size_t max_lines = joint_->num_steps() <= kFewSteps ? kMaxLinesOfFewSteps : kMaxLines;
  while (lines_.size() < max_lines) {
    SHW_RETURN_IF_ERROR(monitor.poll());
    size_t widest = straight.size();
    double most = 0;
    for (size_t i = 0; i < straight.size(); ++i) {
      const Cost &a = cuts_[i].cost, &b = cuts_[i + 1].cost;
      const double area = static_cast<double>(a.kept_bytes - b.kept_bytes) * (b.us - a.us);
      if (!straight[i] && area > most) most = area, widest = i;
    }
    if (widest == straight.size()) break;
    const Cost a = cuts_[widest].cost, b = cuts_[widest + 1].cost;
    Cut cut = cut_at(static_cast<double>(a.kept_bytes - b.kept_bytes) / (b.us - a.us));
    const bool is_new = cut.cost.kept_bytes < a.kept_bytes && cut.cost.kept_bytes > b.kept_bytes &&
                        cut.cost.us > a.us && cut.cost.us < b.us;
    straight[widest] = !is_new;
    if (!is_new) continue;
    const auto at = static_cast<ptrdiff_t>(widest) + 1;
    cuts_.insert(cuts_.begin() + at, std::move(cut));
    straight.insert(straight.begin() + at, 0);
  }
  return {};
}

void Frontier::find_needed_forward() {
  needed_forward_.assign(joint_->num_steps(), 0);
  std::vector<uint8_t> read(joint_->program().storages.size(), 0);
  for (uint32_t i = joint_->num_steps(); i-- > 0;) {
    if (joint_->is_backward(i)) continue;
    joint_->for_outputs(
        i, [&](StorageId s) { needed_forward_[i] |= !joint_->is_forward(s) || read[s.v]; });
    if (needed_forward_[i]) joint_->for_inputs(i, [&](StorageId s) { read[s.v] = 1; });
  }
}

void Frontier::find_changes() {
  for (uint32_t k = 1; k < cuts_.size(); ++k) {
    std::set<int32_t> blocks;
    for (uint32_t s = 0; s < cuts_[k].again.size(); ++s)
      if (cuts_[k].again[s] != cuts_[k - 1].again[s]) blocks.insert(block_of(StorageId{s}));
    for (int32_t block : blocks) changes_.push_back({k, block});
  }
}

std::vector<uint8_t> Frontier::choice(uint32_t k) const {
  std::map<int32_t, uint32_t> cut;  // by block; absent: the first
  for (uint32_t c = 0; c < k; ++c) cut[changes_[c].block] = changes_[c].cut;
  std::vector<uint8_t> again = cuts_[0].again;
  for (uint32_t s = 0; s < again.size(); ++s) {
    if (!joint_->is_forward(StorageId{s})) continue;
    const auto it = cut.find(block_of(StorageId{s}));
    if (it != cut.end()) again[s] = cuts_[it->second].again[s];
  }
  return again;
}

// Backwards: a step runs again only if something needs its results again.
Frontier::Cost Frontier::cost_of(const std::vector<uint8_t>& again) const {
  Cost cost;
  std::vector<uint8_t> needed(again.size(), 0);
  for (uint32_t s = 0; s < again.size(); ++s)
    needed[s] = joint_->is_forward(StorageId{s}) && joint_->is_read_backward(StorageId{s});
  for (uint32_t i = joint_->num_steps(); i-- > 0;) {
    if (joint_->is_backward(i)) continue;
    bool repeats = false;
    joint_->for_outputs(i, [&](StorageId s) { repeats |= needed[s.v] && again[s.v]; });
    if (!repeats) continue;
    cost.us += static_cast<double>(rules_[i].price_bytes) / kAutoBytesPerUs;
    if (needed_forward_[i] && joint_->step(i).collective.kind == CollectiveKind::kNone)
      cost.compute_us += std::max(joint_->step(i).cost_us, 0.0);
    joint_->for_inputs(i, [&](StorageId s) { needed[s.v] |= joint_->is_forward(s); });
  }
  for (uint32_t s = 0; s < again.size(); ++s)
    if (needed[s] && !again[s]) cost.kept_bytes += joint_->program().storages[StorageId{s}].bytes;
  return cost;
}

// The Lagrangian bound at the best of a few prices of memory: as a function of the price it has one
// top, and its slope there changes its sign from too much kept to too little.
double Frontier::least_compute_us(int64_t kept_bytes) const {
  std::vector<StepRule> rules = rules_;
  double least = 0, low = std::log(kLeastBytesPerUs), high = std::log(kMostBytesPerUs);
  for (int k = 0; k < kComputeCuts; ++k) {
    const double bytes_per_us = std::exp((low + high) / 2);
    double rounded = 0;  // prices are whole bytes
    for (uint32_t i = 0; i < rules.size(); ++i) {
      const bool computes = joint_->step(i).collective.kind == CollectiveKind::kNone;
      const bool counts = computes && needed_forward_[i];
      rules[i].price_bytes =
          counts ? std::llround(bytes_per_us * std::max(joint_->step(i).cost_us, 0.0)) : 0;
      // A collective for the backward half alone can wait until then, and need not be kept.
      rules[i].may_repeat |= !computes && !needed_forward_[i] && joint_->can_repeat(i);
      rounded += counts ? 0.5 : 0;
    }
    const Cost cost = cost_of(storages_to_repeat(*joint_, rules));
    const double excess = static_cast<double>(cost.kept_bytes - kept_bytes);
    least = std::max(least, cost.compute_us + (excess - rounded) / bytes_per_us);
    (excess > 0 ? high : low) = std::log(bytes_per_us);
  }
  return least;
}

double Frontier::least_us(int64_t kept_bytes) const {
  double least = 0;
  for (const Line& line : lines_)
    least = std::max(least, (line.least - static_cast<double>(kept_bytes)) / line.bytes_per_us);
  return least;
}

}  // namespace shw
