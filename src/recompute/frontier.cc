#include "recompute/frontier.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "recompute/cut.h"

namespace shw {
namespace {

// Prices at the two ends of the curve: almost only time counts at the first, almost only memory at
// the second.
constexpr double kMostBytesPerUs = 1e8, kLeastBytesPerUs = 1e2;
// Maximum number of lines of the curve; each costs a cut of the whole program, a millisecond for 32
// layers. A program of few blocks has few choices between corners, and needs more corners. For a
// program of many steps only some of the choices are built, so it may have all corners: 37 lines
// for 32 layers. For programs in between, every choice is built.
constexpr size_t kMaxLines = 16, kMaxLinesOfFewSteps = 32, kMaxLinesOfManySteps = 64;
constexpr uint32_t kFewSteps = 2000, kManySteps = 4000;

size_t max_lines(uint32_t num_steps) {
  if (num_steps > kManySteps) return kMaxLinesOfManySteps;
  return num_steps > kFewSteps ? kMaxLines : kMaxLinesOfFewSteps;
}

// If the schedule can hide the repetition of a parameter's gather behind compute, it is charged
// only this share of its price, for the load on the link. Hiding is not possible if the
// communicator would be busy for more than the share kNearly of the compute time.
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
      busy_us[links_of(step.collective.axes)] += (is_gather(i) ? 2 : 1) * step.cost_us;
  }
  for (uint32_t i = 0; i < joint.num_steps(); ++i)
    if (is_gather(i) && busy_us[links_of(joint.step(i).collective.axes)] < kNearly * compute_us)
      rules[i].price_bytes =
          std::llround(kChargedOfHidden * static_cast<double>(rules[i].price_bytes));
}

}  // namespace

Result<Frontier> Frontier::of(const Joint& joint, const Graph& graph, Monitor& monitor) {
  std::vector<StepRule> rules = step_rules(joint, graph, {.kind = RecomputePolicy::Kind::kAuto});
  charge_gathers(joint, rules);
  Frontier f(joint, std::move(rules));
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
  // Prices are rounded to whole bytes, so the minimum cut may be off by half a byte per step.
  lines_.push_back({bytes_per_us, static_cast<double>(cut.cost.kept_bytes) +
                                      bytes_per_us * cut.cost.us -
                                      0.5 * static_cast<double>(rules.size())});
  return cut;
}

// A cut at the price at which two corners cost the same shows whether there is another corner
// between them (Eisner and Severance 1976). The pairs between which the curve may bend most come
// first.
Status Frontier::find_cuts(Monitor& monitor) {
  cuts_.push_back(cut_at(kMostBytesPerUs));
  cuts_.push_back(cut_at(kLeastBytesPerUs));
  std::vector<uint8_t> straight(1, 0);  // by pair of neighbours: no corner lies between them
  while (lines_.size() < max_lines(joint_->num_steps())) {
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

void Frontier::find_changes() {
  corners_.push_back(0);
  for (uint32_t k = 1; k < cuts_.size(); ++k) {
    std::map<int32_t, std::vector<StorageId>> by_block;
    for (uint32_t s = 0; s < cuts_[k].again.size(); ++s)
      if (cuts_[k].again[s] != cuts_[k - 1].again[s])
        by_block[block_of(StorageId{s})].push_back(StorageId{s});
    for (const auto& [block, storages] : by_block) changes_.push_back(parts_of(storages));
    if (!by_block.empty()) corners_.push_back(static_cast<uint32_t>(changes_.size()));
  }
}

// Two storages belong to the same part if one step reads or writes both, or if their steps need the
// same storage, unless that one is available in the backward half anyway.
Frontier::Change Frontier::parts_of(const std::vector<StorageId>& of_block) const {
  std::map<StorageId, StorageId> front;  // union-find: an earlier storage of the same part
  const auto root = [&](StorageId s) {
    front.try_emplace(s, s);
    while (front[s] != s) s = front[s] = front[front[s]];
    return s;
  };
  const auto join = [&](StorageId a, StorageId b) {
    const StorageId of_a = root(a), of_b = root(b);
    front[std::max(of_a, of_b)] = std::min(of_a, of_b);
  };
  const std::set<StorageId> all(of_block.begin(), of_block.end());
  for (StorageId s : of_block) {
    const uint32_t writer = joint_->writer(s);
    joint_->for_outputs(writer, [&](StorageId other) { join(s, other); });
    joint_->for_inputs(writer, [&](StorageId other) {
      const bool is_there = !joint_->is_forward(other) || joint_->is_read_backward(other);
      if (!is_there || all.contains(other)) join(s, other);
    });
  }
  std::map<StorageId, Part> parts;
  for (StorageId s : of_block) parts[root(s)].push_back(s);
  Change change;
  for (auto& [first, part] : parts) change.push_back(std::move(part));
  return change;
}

std::vector<uint8_t> Frontier::choice(uint32_t k, uint32_t parts) const {
  std::vector<uint8_t> again = cuts_[0].again;
  const auto change_over = [&](const Part& part) {
    for (StorageId s : part) again[s.v] = !again[s.v];
  };
  for (uint32_t c = 0; c < k; ++c) std::ranges::for_each(changes_[c], change_over);
  for (uint32_t p = 0; p < parts; ++p) change_over(changes_[k][p]);
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
    joint_->for_inputs(i, [&](StorageId s) { needed[s.v] |= joint_->is_forward(s); });
  }
  for (uint32_t s = 0; s < again.size(); ++s)
    if (needed[s] && !again[s]) cost.kept_bytes += joint_->program().storages[StorageId{s}].bytes;
  return cost;
}

double Frontier::least_us(int64_t kept_bytes) const {
  double least = 0;
  for (const Line& line : lines_)
    least = std::max(least, (line.least - static_cast<double>(kept_bytes)) / line.bytes_per_us);
  return least;
}

}  // namespace shw
