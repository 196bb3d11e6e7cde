#include "solver/local_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "solver/parameters.h"
#include "support/stable_sort.h"

namespace shw::solver {
namespace {

using namespace parameters::local_search;

constexpr double kCostRounding = 1e-12;  // relative to a region's cost

double rounding_of(double cost) { return kCostRounding * (std::abs(cost) + 1); }

std::vector<double> all_slacks(const BudgetRows& rows) {
  std::vector<double> slack;
  for (size_t r = 0; r < rows.size(); ++r) slack.push_back(rows.slack(r));
  return slack;
}

std::vector<double> prefix_sums(std::span<const double> values) {
  std::vector<double> sums{0};
  for (const double x : values) sums.push_back(sums.back() + x);
  return sums;
}

}  // namespace

LocalSearch::LocalSearch(const PlacementProblem& problem, const BudgetRows& rows)
    : problem_(problem),
      rows_(rows),
      price_before_(rows.size() + 1, 0),
      slack_(all_slacks(rows)),
      position_(problem.num_variables(), kNone) {
  const uint32_t n = problem.num_variables();
  first_arc_.assign(n + 1, 0);
  for (const auto& e : problem.edges()) ++first_arc_[e.a + 1], ++first_arc_[e.b + 1];
  for (uint32_t v = 0; v < n; ++v) first_arc_[v + 1] += first_arc_[v];
  arcs_.resize(first_arc_[n]);
  std::vector<uint32_t> next(first_arc_.begin(), first_arc_.end() - 1);
  for (const auto& e : problem.edges()) {
    const auto& m = problem.matrices()[e.matrix];
    const uint32_t step_a = e.transposed ? 1 : m.cols, step_b = e.transposed ? m.cols : 1;
    arcs_[next[e.a]++] = {e.b, step_a, step_b, m.costs};
    arcs_[next[e.b]++] = {e.a, step_b, step_a, m.costs};
  }
  for (uint32_t v = 0; v < n; ++v)
    if (!rows.uses(v).empty()) budgeted_.push_back(v);
}

void LocalSearch::start(std::span<const uint32_t> choice) {
  choice_.assign(choice.begin(), choice.end());
  best_choice_ = choice_;
  gained_ = best_gained_ = 0;
  slack_ = RangeSlack(all_slacks(rows_));
  for (const BudgetRows::Use& use : rows_.uses())
    slack_.add(use.first_row, use.end_row, -rows_.excess(use)[choice_[use.variable]]);
}

void LocalSearch::set_prices(std::span<const double> by_row) {
  price_before_ = prefix_sums(by_row);
}

void LocalSearch::set_focus(std::span<const double> by_variable) {
  focus_before_ = prefix_sums(by_variable);
}

// splitmix64 (Steele, Lea & Flood 2014).
uint64_t LocalSearch::random(uint64_t below) {
  uint64_t z = random_state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

uint32_t LocalSearch::random_seed() {
  const uint64_t n = problem_.num_variables();
  if (focus_before_.size() <= n || focus_before_.back() <= 0 || random(kUniformOneIn) == 0)
    return static_cast<uint32_t>(random(n));
  constexpr uint64_t kSteps = 1ull << 40;
  const double at =
      focus_before_.back() * (static_cast<double>(random(kSteps)) / static_cast<double>(kSteps));
  const auto after = std::ranges::upper_bound(focus_before_, at) - focus_before_.begin();
  return static_cast<uint32_t>(std::clamp<int64_t>(after - 1, 0, static_cast<int64_t>(n) - 1));
}

uint32_t LocalSearch::random_live_with(uint32_t variable) {
  constexpr int kMostDraws = 20;
  for (int i = 0; i < kMostDraws; ++i) {
    const uint32_t v = budgeted_[random(budgeted_.size())];
    for (const BudgetRows::Use& a : rows_.uses(variable))
      for (const BudgetRows::Use& b : rows_.uses(v))
        if (std::max(a.first_row, b.first_row) < std::min(a.end_row, b.end_row)) return v;
  }
  return budgeted_[random(budgeted_.size())];
}

void LocalSearch::clear_region() {
  for (const Member& m : members_) position_[m.variable] = kNone;
  members_.clear();
  frontier_.clear();
}

// Adds the variable unless it would close a cycle or join two trees.
void LocalSearch::add(uint32_t variable) {
  if (position_[variable] != kNone) return;
  const Arc* to_parent = nullptr;
  for (const Arc& arc : arcs(variable)) {
    if (position_[arc.other] == kNone) continue;
    if (to_parent != nullptr) return;
    to_parent = &arc;
  }
  position_[variable] = static_cast<uint32_t>(members_.size());
  members_.push_back({variable, to_parent == nullptr ? kNone : position_[to_parent->other],
                      problem_.num_labels(variable), 0, 0, to_parent});
  for (const Arc& arc : arcs(variable))
    if (position_[arc.other] == kNone) frontier_.push_back(arc.other);
}

void LocalSearch::grow(uint32_t size) {
  while (members_.size() < size && !frontier_.empty()) {
    uint32_t& at = frontier_[random(frontier_.size())];
    const uint32_t v = std::exchange(at, frontier_.back());
    frontier_.pop_back();
    add(v);
  }
}

void LocalSearch::grow_somewhere() {
  clear_region();
  const uint32_t trees = kTrees[random(std::size(kTrees))], seed = random_seed();
  add(seed);
  for (uint32_t t = 1; t < trees && !budgeted_.empty(); ++t) add(random_live_with(seed));
  grow(kSizes[random(std::size(kSizes))]);
}

// Sets the costs of the members' labels, including edges that leave the region, and their priced
// usage. Returns the cells of one pass over the region.
uint64_t LocalSearch::price_region() {
  uint64_t cells = 0;
  uint32_t entries = 0;
  base_.clear();
  price_.clear();
  for (Member& m : members_) {
    m.offset = static_cast<uint32_t>(base_.size());
    const auto unary = problem_.unary(m.variable);
    base_.insert(base_.end(), unary.begin(), unary.end());
    for (const Arc& arc : arcs(m.variable)) {
      if (position_[arc.other] != kNone) continue;
      const double* costs = arc.costs + size_t{arc.other_step} * choice_[arc.other];
      for (uint32_t x = 0; x < m.labels; ++x)
        base_[m.offset + x] += costs[size_t{x} * arc.own_step];
    }
    price_.resize(base_.size(), 0);
    for (const BudgetRows::Use& use : rows_.uses(m.variable)) {
      const double price = std::max(price_before_[use.end_row] - price_before_[use.first_row], 0.0);
      for (uint32_t x = 0; x < m.labels; ++x) price_[m.offset + x] += price * rows_.excess(use)[x];
    }
    m.best = entries;
    cells += m.labels * (arcs(m.variable).size() + 2);
    if (m.parent == kNone) continue;
    entries += members_[m.parent].labels;
    cells += uint64_t{m.labels} * members_[m.parent].labels;
  }
  argmin_.resize(entries);
  return cells;
}

void LocalSearch::measure(Corner& corner) const {
  corner.cost = corner.price = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    corner.cost += base_[m.offset + corner.label[i]];
    corner.price += price_[m.offset + corner.label[i]];
    if (m.parent == kNone) continue;
    const Arc& arc = *m.to_parent;
    corner.cost += arc.costs[size_t{arc.own_step} * corner.label[i] +
                             size_t{arc.other_step} * corner.label[m.parent]];
  }
}

LocalSearch::Corner LocalSearch::current_corner() const {
  Corner now;
  for (const Member& m : members_) now.label.push_back(choice_[m.variable]);
  measure(now);
  return now;
}

// Finds the cheapest labelling if usage costs `scale` times its price, by dynamic programming from
// the leaves to the roots and back.
void LocalSearch::solve_region(double scale, Corner& corner) {
  theta_.resize(base_.size());
  for (size_t i = 0; i < theta_.size(); ++i) theta_[i] = base_[i] + scale * price_[i];
  for (size_t i = members_.size(); i-- > 0;) {
    const Member& m = members_[i];
    if (m.parent == kNone) continue;
    const Member& parent = members_[m.parent];
    const double* own = theta_.data() + m.offset;
    for (uint32_t y = 0; y < parent.labels; ++y) {
      const double* costs = m.to_parent->costs + size_t{m.to_parent->other_step} * y;
      double least = kForbidden;
      for (uint32_t x = 0; x < m.labels; ++x) {
        const double cost = own[x] + costs[size_t{m.to_parent->own_step} * x];
        if (cost < least) least = cost, argmin_[m.best + y] = x;
      }
      theta_[parent.offset + y] += least;
    }
  }
  corner.label.resize(members_.size());
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    const double* own = theta_.data() + m.offset;
    corner.label[i] = m.parent == kNone
                          ? static_cast<uint32_t>(std::min_element(own, own + m.labels) - own)
                          : argmin_[m.best + corner.label[m.parent]];
  }
  measure(corner);
}

void LocalSearch::move(uint32_t variable, uint32_t from, uint32_t to) {
  for (const BudgetRows::Use& use : rows_.uses(variable)) {
    const double more = rows_.excess(use)[to] - rows_.excess(use)[from];
    if (more != 0) slack_.add(use.first_row, use.end_row, -more);
  }
}

// Adopts the labels of these members if they fit.
bool LocalSearch::adopt(const Corner& corner, std::span<const uint32_t> members) {
  const auto for_each_moved = [&](auto act) {
    for (const uint32_t i : members)
      if (uint32_t& now = choice_[members_[i].variable]; now != corner.label[i])
        act(members_[i].variable, now, corner.label[i]);
  };
  bool fits = true;
  for_each_moved([&](uint32_t v, uint32_t now, uint32_t then) { move(v, now, then); });
  for_each_moved([&](uint32_t v, uint32_t, uint32_t) {
    for (const BudgetRows::Use& use : rows_.uses(v))
      fits = fits && slack_.least(use.first_row, use.end_row) >= 0;
  });
  for_each_moved([&](uint32_t v, uint32_t& now, uint32_t then) {
    if (fits)
      now = then;
    else
      move(v, then, now);
  });
  return fits;
}

bool LocalSearch::adopt(const Corner& corner) {
  std::vector<uint32_t> all(members_.size());
  std::iota(all.begin(), all.end(), 0u);
  return adopt(corner, all);
}

// The subtrees in which another labelling differs. Each can be adopted alone.
std::vector<LocalSearch::Part> LocalSearch::parts(const Corner& other) const {
  std::vector<Part> result;
  std::vector<uint32_t> part(members_.size(), kNone);
  for (uint32_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    const uint32_t now = choice_[m.variable], then = other.label[i];
    const uint32_t above = m.parent == kNone ? kNone : part[m.parent];
    if (now != then) {
      part[i] = above != kNone ? above : static_cast<uint32_t>(result.size());
      if (above == kNone) result.emplace_back();
      result[part[i]].members.push_back(i);
      result[part[i]].cost += base_[m.offset + then] - base_[m.offset + now];
    }
    if (part[i] == kNone && above == kNone) continue;
    if (m.parent == kNone) continue;
    const Arc& arc = *m.to_parent;
    const uint32_t up = choice_[members_[m.parent].variable];
    const auto cost = [&](uint32_t x, uint32_t y) {
      return arc.costs[size_t{arc.own_step} * x + size_t{arc.other_step} * y];
    };
    result[part[i] != kNone ? part[i] : above].cost +=
        cost(then, other.label[m.parent]) - cost(now, up);
  }
  return result;
}

// Adopts the parts that reduce the cost and fit.
void LocalSearch::adopt_parts(const Corner& cheap) {
  std::vector<Part> all = parts(cheap);
  if (all.size() < 2) return;
  sort_stably(all, {}, &Part::cost);
  for (const Part& part : all)
    if (part.cost < 0 && adopt(cheap, part.members)) gained_ -= part.cost;
}

// Searches from the cheapest labelling, which does not fit, towards the current one, which does.
// Returns the work done, as save() does.
uint64_t LocalSearch::gain() {
  const uint64_t pass = price_region();
  uint64_t work = 3 * pass;
  Corner fits = current_corner(), cheap, next;
  solve_region(kThrift, cheap);
  const bool is_cheaper = cheap.cost < fits.cost - rounding_of(fits.cost);
  if (!is_cheaper && (cheap.cost > fits.cost || cheap.price >= fits.price)) return work;
  if (adopt(cheap)) {
    gained_ += fits.cost - cheap.cost;
    return work;
  }
  for (int i = 0; i < kMaxCorners && is_cheaper && cheap.price > fits.price; ++i) {
    const double scale = (fits.cost - cheap.cost) / (cheap.price - fits.price);
    const double chord = fits.cost + scale * fits.price;
    solve_region(scale, next);
    work += pass;
    if (next.cost + scale * next.price > chord - rounding_of(chord)) break;
    if (next.cost < fits.cost && adopt(next)) {
      gained_ += fits.cost - next.cost;
      fits = next;
    } else if (next.price < cheap.price && next.price > fits.price) {
      cheap = next;
    } else {
      break;
    }
  }
  adopt_parts(cheap);
  return work + pass;
}

uint64_t LocalSearch::save() {
  const uint64_t pass = price_region();
  const Corner now = current_corner();
  Corner next;
  // A random scale between 1/4 and 4.
  solve_region(std::exp2(static_cast<double>(random(1024)) / 256 - 2), next);
  const double gain = now.cost - next.cost;
  if (gain == 0 && next.price >= now.price) return 2 * pass;
  if (gained_ + gain < best_gained_ - allowance_) return 2 * pass;
  if (gain < 0 && gained_ > best_gained_) {
    best_choice_ = choice_;
    best_gained_ = gained_;
  }
  if (adopt(next)) gained_ += gain;
  return 3 * pass;
}

Status LocalSearch::improve(uint64_t cells, double tolerance, Watch& watch) {
  for (uint64_t done = 0; done < cells && !watch.expired();) {
    const auto phase = static_cast<double>(work_ % kPeriod) / static_cast<double>(kPeriod);
    allowance_ = tolerance * (1 - phase);
    grow_somewhere();
    const uint64_t work =
        kWorkPerRegion + 20 * members_.size() + (random(kSaveOneIn) == 0 ? save() : gain());
    SHW_RETURN_IF_ERROR(watch.poll(work));
    done += work;
    work_ += work;
  }
  if (gained_ > best_gained_) {
    best_choice_ = choice_;
    best_gained_ = gained_;
  }
  return {};
}

}  // namespace shw::solver
