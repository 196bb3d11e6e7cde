#include "solver/survey.h"

#include <algorithm>
#include <cmath>

#include "solver/kernels.h"
#include "solver/parameters.h"
#include "solver/rounded_table.h"
#include "support/large_memory.h"

namespace shw::solver {
namespace {

using namespace parameters::survey;

constexpr double kSurveyRounding = 1e-13;  // of the bound: plain sums of some thousand terms

// The cells of all edges, given the number of labels of each variable.
uint64_t cells_among(const PlacementProblem& problem, std::span<const uint64_t> labels) {
  uint64_t cells = 0;
  for (const auto& e : problem.edges()) cells += labels[e.a] * labels[e.b];
  return cells;
}

// An edge as seen from one of its ends.
struct Side {
  const double* table;  // row-major, rows × cols
  uint32_t rows, cols;
  bool is_rows;  // this end's labels are the rows
  uint32_t other;
  double *in, *out;  // messages: over this end's labels, over the other's
  uint32_t matrix;
};

class Surveyor {
 public:
  Surveyor(const PlacementProblem& problem, Watch& watch) : problem_(problem), watch_(watch) {
    build();
  }

  Result<Survey> run(const LikelyLabels* likely) {
    double stall_bound = -kForbidden, cost_below = kForbidden;
    Survey best;
    for (uint32_t sweep = 1; sweep <= kMaxSweeps; ++sweep) {
      if (likely != nullptr && sweep == kSweepsBeforeCore + 1) {
        const RestrictedProblem core = likely_part(problem_, found_.marginals, likely->cells);
        forget_rounded();  // the core needs memory, too
        SHW_RETURN_IF_ERROR(follow(core));
        SHW_ASSIGN_OR_RETURN(cost_below, likely->cost_below(core));
        stall_bound = -kForbidden;
      }
      const bool is_rounded =
          likely != nullptr && sweep <= kSweepsBeforeCore + kRoundedSweepsAfterCore;
      if (is_rounded)
        round_tables();
      else
        forget_rounded();
      SHW_ASSIGN_OR_RETURN(found_.bound, pass(/*forward=*/true));
      SHW_ASSIGN_OR_RETURN(const double back, pass(/*forward=*/false));
      found_.sweeps = sweep;
      if (cost_below < kForbidden) drop_labels(cost_below);
      if (found_.bound > best.bound) best = found_;  // it falls where the core's messages come in
      SHW_RETURN_IF_ERROR(watch_.report(best_cost_, std::min(best.bound, cost_below)));
      best.leaves_few = cost_below < kForbidden && leaves_few(best, cost_below);
      if (found_.bound == kForbidden || back == kForbidden || watch_.expired()) break;
      const bool stalls = back - stall_bound < kSurveyStallShare * std::abs(back);
      if (best.leaves_few || (stalls && !is_rounded)) break;
      stall_bound = back;
    }
    if (cost_below < kForbidden) forget_dropped(best, cost_below);
    best.sweeps = found_.sweeps;
    best.choice = std::move(found_.choice);
    return best;
  }

 private:
  uint64_t at(uint32_t v) const { return problem_.first_label(v); }
  const double* unary(uint32_t v) const { return unary_.data() + at(v); }

  void build() {
    const uint32_t n = problem_.num_variables();
    const uint64_t labels = problem_.first_label(n);
    uint32_t widest = 1;
    for (uint32_t v = 0; v < n; ++v) widest = std::max(widest, problem_.num_labels(v));
    for (uint32_t v = 0; v < n; ++v)
      unary_.insert(unary_.end(), problem_.unary(v).begin(), problem_.unary(v).end());
    found_.marginals.assign(labels, 0);
    decoded_.assign(n, 0);
    theta_.resize(widest);
    weighted_.resize(widest);
    sides_.resize(n);
    size_t doubles = 0;
    for (const auto& e : problem_.edges())
      doubles += problem_.num_labels(e.a) + problem_.num_labels(e.b);
    messages_.assign(doubles, 0);
    double* next = messages_.data();
    for (const auto& e : problem_.edges()) {
      const auto& m = problem_.matrices()[e.matrix];
      double* to_a = next;
      double* to_b = to_a + problem_.num_labels(e.a);
      next = to_b + problem_.num_labels(e.b);
      const double* table = problem_.costs(e.matrix);
      sides_[e.a].push_back({table, m.rows, m.cols, e.transposed == 0, e.b, to_a, to_b, e.matrix});
      sides_[e.b].push_back({table, m.rows, m.cols, e.transposed != 0, e.a, to_b, to_a, e.matrix});
    }
  }

  // Sweeps read costs rounded down to 16 bits, until forget_rounded(). Such sweeps take a fifth of
  // the time, and their bounds are valid, but end some units of rounding below those of exact
  // costs.
  void round_tables() {
    if (!rounded_.empty()) return;
    size_t cells = 0, widest = 0;
    for (const auto& m : problem_.matrices()) {
      cells += m.rows * rounded_stride(m.cols);
      widest = std::max({widest, rounded_stride(m.rows), rounded_stride(m.cols)});
    }
    rounded_cells_ = make_large_array<int16_t>(cells);
    rounded_scratch_ = make_large_array<int16_t>(2 * widest);
    int16_t* next = rounded_cells_.get();
    for (const auto& m : problem_.matrices()) {
      rounded_.push_back(round_down(m.costs, m.rows, m.cols, m.cols, next));
      next += m.rows * rounded_stride(m.cols);
    }
  }
  void forget_rounded() {
    rounded_.clear();
    rounded_cells_ = {};
  }

  // Labels that are in no labelling cheaper than `cost_below` are not looked at any more. So later
  // bounds hold for cheaper labellings only, until forget_dropped() lowers them to `cost_below`.
  void drop_labels(double cost_below) {
    for (size_t i = 0; i < unary_.size(); ++i)
      if (found_.bound + found_.marginals[i] >= cost_below) unary_[i] = kForbidden;
  }
  static void forget_dropped(Survey& swept, double cost_below) {
    swept.bound = std::min(swept.bound, cost_below);
    for (double& m : swept.marginals) m = std::min(m, cost_below - swept.bound);
  }

  // Sweeps over a part until it stalls, and continues from its messages. Infinite messages are not
  // taken, since a label without an allowed pair in the part may have one in the whole problem.
  Status follow(const RestrictedProblem& part) {
    const Watch::Part quiet(watch_);
    Surveyor inner(part.problem, watch_);
    SHW_RETURN_IF_ERROR(inner.run(nullptr).status());
    for (uint32_t v = 0; v < problem_.num_variables(); ++v) {
      const uint64_t first = part.problem.first_label(v);
      for (uint32_t i = 0; i < part.problem.num_labels(v); ++i)
        for (size_t e = 0; e < sides_[v].size(); ++e)
          if (const double m = inner.sides_[v][e].in[i]; m < kForbidden)
            sides_[v][e].in[part.label[first + i]] = m;
    }
    return {};
  }

  bool leaves_few(const Survey& swept, double cost_below) const {
    std::vector<uint64_t> left(problem_.num_variables());
    for (uint32_t v = 0; v < left.size(); ++v)
      for (uint32_t i = 0; i < problem_.num_labels(v); ++i)
        left[v] += swept.bound + swept.marginals[at(v) + i] < cost_below;
    return static_cast<double>(cells_among(problem_, left)) <=
           kFewCells * static_cast<double>(edge_cells(problem_));
  }

  // One sweep over all variables; returns the bound, kForbidden if nothing is allowed.
  Result<double> pass(bool forward) {
    const uint32_t n = problem_.num_variables();
    double bound = 0, cost = 0;
    for (uint32_t q = 0; q < n; ++q) {
      const uint32_t v = forward ? q : n - 1 - q;
      cost += decode(v, forward);
      const double least = gather(v);
      if (least == kForbidden) return kForbidden;
      bound += least;
      const uint32_t k = problem_.num_labels(v);
      for (uint32_t i = 0; i < k; ++i) theta_[i] -= least;
      if (!forward)
        std::copy_n(theta_.begin(), k, found_.marginals.begin() + static_cast<ptrdiff_t>(at(v)));
      SHW_ASSIGN_OR_RETURN(const double moved, send(v, forward));
      if (moved == kForbidden) return kForbidden;
      bound += moved;
    }
    if (cost < best_cost_) {
      best_cost_ = cost;
      found_.choice = decoded_;
    }
    return bound - kSurveyRounding * std::abs(bound);
  }

  // Chooses the cheapest label of v given those of the variables before it; returns its cost.
  double decode(uint32_t v, bool forward) {
    const uint32_t k = problem_.num_labels(v);
    std::copy_n(unary(v), k, theta_.begin());
    std::copy_n(theta_.begin(), k, weighted_.begin());  // costs without messages
    for (const Side& s : sides_[v]) {
      if ((s.other < v) != forward) {
        for (uint32_t i = 0; i < k; ++i) theta_[i] += s.in[i];
        continue;
      }
      const uint32_t x = decoded_[s.other];
      for (uint32_t i = 0; i < k; ++i) {
        const double c =
            s.is_rows ? s.table[size_t{i} * s.cols + x] : s.table[size_t{x} * s.cols + i];
        theta_[i] += c;
        weighted_[i] += c;
      }
    }
    const auto best = std::min_element(theta_.begin(), theta_.begin() + k) - theta_.begin();
    decoded_[v] = static_cast<uint32_t>(best);
    return weighted_[static_cast<size_t>(best)];
  }

  // Computes θ of v and its minimum.
  double gather(uint32_t v) {
    const uint32_t k = problem_.num_labels(v);
    std::copy_n(unary(v), k, theta_.begin());
    for (const Side& s : sides_[v])
      for (uint32_t i = 0; i < k; ++i) theta_[i] += s.in[i];
    return *std::min_element(theta_.begin(), theta_.begin() + k);
  }

  Result<double> send(uint32_t v, bool forward) {
    const uint32_t k = problem_.num_labels(v);
    uint32_t before = 0, after = 0;
    for (const Side& s : sides_[v]) ++(s.other < v ? before : after);
    const double weight = 1.0 / std::max({before, after, 1u});
    double total = 0;
    for (const Side& s : sides_[v]) {
      if ((s.other < v) == forward) continue;
      for (uint32_t i = 0; i < k; ++i)
        weighted_[i] = theta_[i] == kForbidden ? kForbidden : weight * theta_[i] - s.in[i];
      const double* dead = unary(s.other);
      const uint32_t others = problem_.num_labels(s.other);
      if (!rounded_.empty() && s.is_rows)
        min_plus_rounded(weighted_.data(), k, rounded_[s.matrix], rounded_scratch_.get(), others,
                         s.out);
      else if (!rounded_.empty())
        min_plus_rounded_rows(weighted_.data(), k, rounded_[s.matrix], rounded_scratch_.get(),
                              others, s.out);
      else if (s.is_rows)
        push_rows(s, k);
      else
        min_plus_rows(s.table, s.rows, s.cols, weighted_.data(), dead, s.out);
      double least = kForbidden;
      for (uint32_t j = 0; j < others; ++j)
        if (dead[j] != kForbidden) least = std::min(least, s.out[j]);
      if (least == kForbidden) return kForbidden;
      for (uint32_t j = 0; j < others; ++j) s.out[j] -= least;
      total += least;
      SHW_RETURN_IF_ERROR(watch_.poll(uint64_t{s.rows} * s.cols / 2));
    }
    return total;
  }

  // Rows are visited in order of their start value. Tables are ≥ 0, so once that value reaches the
  // current minimum of every column, the remaining rows change nothing.
  void push_rows(const Side& s, uint32_t k) {
    constexpr size_t kBatch = 4;
    rows_.clear();
    for (uint32_t i = 0; i < k; ++i)
      if (weighted_[i] != kForbidden) rows_.push_back(i);
    std::sort(rows_.begin(), rows_.end(), [&](uint32_t a, uint32_t b) {
      return weighted_[a] != weighted_[b] ? weighted_[a] < weighted_[b] : a < b;
    });
    std::fill_n(s.out, s.cols, kForbidden);
    const double* dead = unary(s.other);
    for (size_t r = 0; r < rows_.size(); r += kBatch) {
      if (r % (8 * kBatch) == 0 && r > 0) {
        double most = 0;
        for (uint32_t j = 0; j < s.cols; ++j)
          if (dead[j] != kForbidden) most = std::max(most, s.out[j]);
        if (weighted_[rows_[r]] >= most) break;
      }
      const double* row[kBatch];
      double w[kBatch];
      for (size_t b = 0; b < kBatch; ++b) {
        const uint32_t i = rows_[std::min(r + b, rows_.size() - 1)];
        row[b] = s.table + size_t{i} * s.cols;
        w[b] = weighted_[i];
      }
      lower_by_rows(row, w, s.cols, s.out);
    }
  }

  const PlacementProblem& problem_;
  Watch& watch_;
  std::vector<double> unary_;  // infinite for dropped labels
  std::vector<double> messages_, theta_, weighted_;
  std::vector<std::vector<Side>> sides_;  // by variable
  std::vector<uint32_t> decoded_, rows_;
  std::vector<RoundedTable> rounded_;  // by matrix; empty: sweeps read exact costs
  LargeArray<int16_t> rounded_cells_, rounded_scratch_;
  double best_cost_ = kForbidden;
  Survey found_;
};

}  // namespace

uint64_t table_cells(const PlacementProblem& problem) {
  uint64_t cells = 0;
  for (const auto& m : problem.matrices()) cells += uint64_t{m.rows} * m.cols;
  return cells;
}

Result<Survey> survey(const PlacementProblem& problem, Watch& watch, const LikelyLabels* likely) {
  return Surveyor(problem, watch).run(likely);
}

std::vector<double> marginals_by_label(const PlacementProblem& problem, const Trws& trws) {
  std::vector<double> marginals(problem.first_label(problem.num_variables()), kForbidden);
  for (uint32_t v = 0; v < problem.num_variables(); ++v)
    for (size_t i = 0; i < trws.labels(v).size(); ++i)
      marginals[problem.first_label(v) + trws.labels(v)[i]] =
          trws.is_folded(v) ? -kForbidden : trws.marginals(v)[i];
  return marginals;
}

// 0: no such limit. Bisects the set of undecided labels until it is empty, so each label is visited
// twice on average.
double likely_limit(const PlacementProblem& problem, std::span<const double> marginals,
                    uint64_t max_cells) {
  struct Label {
    double marginal;
    uint32_t variable;
  };
  const uint32_t n = problem.num_variables();
  std::vector<Label> open;
  for (uint32_t v = 0; v < n; ++v)
    for (const double m : marginals.subspan(problem.first_label(v), problem.num_labels(v)))
      if (m < kForbidden) open.push_back({m, v});
  std::vector<uint64_t> kept(n), tried;  // labels of each variable up to the limit
  double limit = 0;
  auto first = open.begin(), last = open.end();
  while (first != last) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last,
                     [](const Label& a, const Label& b) { return a.marginal < b.marginal; });
    const double at = middle->marginal;
    const auto above =
        std::partition(middle, last, [at](const Label& l) { return l.marginal <= at; });
    tried = kept;
    for (auto it = first; it != above; ++it) ++tried[it->variable];
    if (cells_among(problem, tried) <= max_cells) {
      limit = at;
      kept.swap(tried);
      first = above;
    } else {
      last = std::partition(first, middle, [at](const Label& l) { return l.marginal < at; });
    }
  }
  return limit;
}

RestrictedProblem likely_part(const PlacementProblem& problem, std::span<const double> marginals,
                              uint64_t max_cells) {
  const uint32_t n = problem.num_variables();
  const double limit = likely_limit(problem, marginals, max_cells);

  RestrictedProblem part;
  std::vector<double> costs;
  for (uint32_t v = 0; v < n; ++v) {
    costs.clear();
    for (uint32_t i = 0; i < problem.num_labels(v); ++i) {
      if (marginals[problem.first_label(v) + i] > limit) continue;
      part.label.push_back(i);
      costs.push_back(problem.unary(v)[i]);
    }
    part.problem.add_variable(costs);
  }
  const auto labels = [&](uint32_t v) {
    return std::span(part.label).subspan(part.problem.first_label(v), part.problem.num_labels(v));
  };
  for (const auto& e : problem.edges()) {
    costs.clear();
    for (const uint32_t a : labels(e.a))
      for (const uint32_t b : labels(e.b)) costs.push_back(problem.edge_cost(e, a, b));
    const uint32_t matrix =
        part.problem.add_matrix(part.problem.num_labels(e.a), part.problem.num_labels(e.b), costs);
    part.problem.add_edge(e.a, e.b, matrix);
  }
  return part;
}

}  // namespace shw::solver
