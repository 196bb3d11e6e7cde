#include "compiler/repeat_choices.h"

#include <algorithm>

#include "recompute/cut.h"
#include "recompute/rules.h"

namespace shw {

Result<RepeatChoices> RepeatChoices::of(const Program& program, const Graph& graph,
                                        Monitor& monitor) {
  RepeatChoices choices(graph);
  SHW_ASSIGN_OR_RETURN(choices.joints_, halves(program));
  for (const Joint& joint : choices.joints_) {
    SHW_ASSIGN_OR_RETURN(Frontier f, Frontier::of(joint, graph, monitor));
    if (f.num_choices() > choices.count_) {
      choices.count_ = f.num_choices();
      choices.corners_ = f.corners();
    }
    choices.frontiers_.push_back(std::move(f));
  }
  return choices;
}

std::vector<Repeated> RepeatChoices::choice(uint32_t k, uint32_t parts) const {
  std::vector<Repeated> repeated;
  for (size_t h = 0; h < joints_.size(); ++h)
    repeated.push_back({&joints_[h], frontiers_[h].choice(choice_of(frontiers_[h], k), parts)});
  return repeated;
}

uint32_t RepeatChoices::choice_of(const Frontier& frontier, uint32_t k) const {
  if (count_ <= 1) return 0;
  return static_cast<uint32_t>(uint64_t{k} * (frontier.num_choices() - 1) / (count_ - 1));
}

uint32_t RepeatChoices::num_parts(uint32_t k) const {
  const bool any = frontiers_.size() == 1 && k + 1 < count_;
  return any ? frontiers_[0].num_parts(k) : 1;
}

uint64_t RepeatChoices::count_with_parts() const {
  uint64_t count = 0;
  for (uint32_t k = 0; k < count_; ++k) count += num_parts(k);
  return count;
}

uint32_t RepeatChoices::first_keeping(int64_t bytes) const {
  uint32_t low = 0, high = count_ - 1;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (kept_bytes(choice(middle)) <= bytes)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

Result<std::vector<Repeated>> RepeatChoices::by_policy(std::string_view name) const {
  SHW_ASSIGN_OR_RETURN(const RecomputePolicy policy, recompute_policy(name));
  std::vector<Repeated> repeated;
  for (const Joint& joint : joints_)
    repeated.push_back({&joint, storages_to_repeat(joint, step_rules(joint, *graph_, policy))});
  return repeated;
}

int64_t RepeatChoices::kept_bytes(const std::vector<Repeated>& repeated) const {
  int64_t bytes = 0;
  for (size_t h = 0; h < frontiers_.size(); ++h)
    bytes += frontiers_[h].cost_of(repeated[h].again).kept_bytes;
  return bytes;
}

double RepeatChoices::excess_us(const std::vector<Repeated>& repeated, int64_t unused) const {
  double us = 0;
  for (size_t h = 0; h < joints_.size(); ++h) {
    const Frontier::Cost cost = frontiers_[h].cost_of(repeated[h].again);
    us += std::max(cost.us - frontiers_[h].least_us(cost.kept_bytes + unused), 0.0);
  }
  return us;
}

}  // namespace shw
