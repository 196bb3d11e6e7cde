#include "solver/warm_messages.h"

#include <algorithm>
#include <utility>

namespace shw::solver {

bool WarmMessages::is_before(const Into& a, const Into& b) {
  return std::pair(a.from, a.to) < std::pair(b.from, b.to);
}

WarmMessages::WarmMessages(const PlacementProblem& root, const Postsolve& undo, Trws& trws) {
  const std::vector<Trws::Message> messages = trws.messages();
  into_.reserve(messages.size());
  uint64_t size = 0;
  for (const Trws::Message& m : messages) {
    const uint32_t to = undo.original_variable(m.to), from = undo.original_variable(m.from);
    into_.push_back({from, to, root.num_labels(to), size});
    size += root.num_labels(to);
  }
  costs_.assign(size, 0);
  for (size_t k = 0; k < messages.size(); ++k) {
    const Trws::Message& m = messages[k];
    const auto labels = undo.original_labels(m.to);
    for (size_t i = 0; i < m.costs.size(); ++i)
      costs_[into_[k].first + labels[trws.labels(m.to)[i]]] = static_cast<float>(m.costs[i]);
  }
  std::ranges::sort(into_, is_before);
}

double WarmMessages::give(const PlacementProblem& root, const Postsolve& undo, Trws& trws) const {
  size_t all = 0, unknown = 0;
  for (const Trws::Message& m : trws.messages()) {
    const Into wanted{undo.original_variable(m.from), undo.original_variable(m.to), 0, 0};
    const auto known = std::ranges::lower_bound(into_, wanted, is_before);
    ++all;
    if (known == into_.end() || is_before(wanted, *known) ||
        known->labels != root.num_labels(wanted.to)) {
      ++unknown;
      continue;
    }
    const auto labels = undo.original_labels(m.to);
    for (size_t i = 0; i < m.costs.size(); ++i)
      m.costs[i] = static_cast<double>(costs_[known->first + labels[trws.labels(m.to)[i]]]);
  }
  return 1 - static_cast<double>(unknown) / std::max(static_cast<double>(all), 1.0);
}

}  // namespace shw::solver
