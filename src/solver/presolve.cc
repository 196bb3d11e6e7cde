#include "solver/presolve.h"

#include <algorithm>
#include <string>

#include "solver/memo.h"
#include "solver/parameters.h"
#include "support/hash.h"

namespace shw::solver {
namespace {

using namespace parameters::presolve;
using Handle = CostStore::Handle;
using LabelsId = CostStore::LabelsId;
using MaskId = CostStore::MaskId;
using VectorId = CostStore::VectorId;

constexpr uint32_t kNobody = UINT32_MAX;

// min over k of a[k] − b[k] where a[k] is allowed; if that is below `enough`, any value below
// `enough`.
double least_difference(const double* a, const double* b, uint32_t n, double enough) {
  constexpr uint32_t kStep = 16;
  double least = kForbidden;
  for (uint32_t k = 0; k < n && least >= enough; k += kStep)
    for (uint32_t l = k; l < std::min(n, k + kStep); ++l) {
      const double d = a[l] - b[l];  // NaN if both are forbidden; comparisons then ignore it
      least = d < least ? d : least;
    }
  return least;
}

}  // namespace

class Presolver {
  struct Arc {
    uint32_t other;
    Handle matrix;  // rows: labels of the variable that owns this arc
  };

  struct Variable {
    VectorId unary;
    LabelsId labels;
    MaskId keep;         // among `labels`
    uint32_t first_arc;  // no step raises a degree, so the initial arcs leave enough room
    uint32_t degree;
    bool alive;
  };

  struct Neighbour {
    uint32_t variable;
    LabelsId labels;
    Handle matrix;  // rows: the removed variable's labels
  };

  struct Removed {
    uint32_t variable;
    LabelsId labels;
    VectorId unary;
    uint32_t num_neighbours;
    Neighbour neighbours[2];
  };

 public:
  Presolver(const PlacementProblem& problem, const PresolveOptions& options, Watch& watch)
      : problem_(problem), options_(options), watch_(watch) {}

  Result<Presolved> run(std::span<const uint8_t> keep) {
    SHW_RETURN_IF_ERROR(load(keep));
    for (int round = 0;; ++round) {
      SHW_RETURN_IF_ERROR(drop_unsupported_labels());
      SHW_ASSIGN_OR_RETURN(bool changed, restrict_tables());
      if (options_.dominance) {
        SHW_RETURN_IF_ERROR(drop_dominated_labels());
        SHW_ASSIGN_OR_RETURN(const bool fewer, restrict_tables());
        changed |= fewer;
      }
      if (round == kMaxRounds || (round > 0 && !changed)) return finish();
      SHW_RETURN_IF_ERROR(remove_small_variables());
    }
  }

 private:
  std::span<Arc> arcs(uint32_t v) {
    return {arcs_.data() + variables_[v].first_arc, variables_[v].degree};
  }
  Arc* arc_to(uint32_t v, uint32_t other) {
    for (Arc& arc : arcs(v))
      if (arc.other == other) return &arc;
    return nullptr;
  }

  bool is_budgeted(uint32_t v) const {
    return !options_.budgeted.empty() && options_.budgeted[v] != 0;
  }
  Status load(std::span<const uint8_t> keep);
  Status drop_unsupported_labels();
  Status infeasible(uint32_t emptied,
                    const std::vector<std::pair<uint32_t, uint32_t>>& trail) const;
  Status drop_dominated_labels();
  MaskId undominated(uint32_t v);
  bool dominates(uint32_t v, uint32_t j, uint32_t i, double margin, std::span<const uint32_t> best);
  Result<bool> restrict_tables();
  Status remove_small_variables();
  bool try_remove(uint32_t v);
  void record(uint32_t v);
  void detach(uint32_t v);
  void join(uint32_t a, uint32_t b, Handle matrix);
  Result<Presolved> finish();
  void keep_what_expands(Postsolve& undo);

  const PlacementProblem& problem_;
  const PresolveOptions& options_;
  Watch& watch_;
  CostStore store_;
  std::vector<Variable> variables_;
  std::vector<Arc> arcs_;
  std::vector<uint32_t> queue_;
  std::vector<uint8_t> queued_;
  double constant_ = 0;
  std::vector<Removed> removed_;  // in order of removal
};

Status Presolver::load(std::span<const uint8_t> keep) {
  const uint32_t n = problem_.num_variables();
  variables_.resize(n);
  for (const auto& e : problem_.edges()) ++variables_[e.a].degree, ++variables_[e.b].degree;
  uint32_t arcs = 0;
  std::vector<uint64_t> words;
  for (uint32_t v = 0; v < n; ++v) {
    Variable& x = variables_[v];
    const uint32_t k = problem_.num_labels(v);
    x.unary = store_.vector(problem_.unary(v));
    x.labels = store_.all_labels(k);
    x.keep = store_.finite(x.unary);
    if (!keep.empty()) {
      words.assign((k + 63) / 64, 0);
      for (uint32_t i = 0; i < k; ++i)
        words[i / 64] |= uint64_t{keep[problem_.first_label(v) + i] != 0} << (i % 64);
      x.keep = store_.intersection(x.keep, store_.mask(words, k));
    }
    x.alive = true;
    x.first_arc = arcs;
    arcs += x.degree;
    x.degree = 0;
    SHW_RETURN_IF_ERROR(watch_.poll(k));
  }
  arcs_.resize(arcs);
  std::vector<Handle> handles;
  for (const auto& m : problem_.matrices()) {
    handles.push_back(
        store_.borrow(m.rows, m.cols, problem_.costs(static_cast<uint32_t>(handles.size()))));
    SHW_RETURN_IF_ERROR(watch_.poll(uint64_t{m.rows} * m.cols));
  }
  for (const auto& e : problem_.edges()) {
    join(e.a, e.b, handles[e.matrix] ^ e.transposed);
    SHW_RETURN_IF_ERROR(watch_.poll(10));
  }
  return {};
}

// Adds a matrix (rows: a, columns: b) between two variables.
void Presolver::join(uint32_t a, uint32_t b, Handle matrix) {
  if (variables_[a].degree > variables_[b].degree)
    std::swap(a, b), matrix = CostStore::flip(matrix);
  if (Arc* arc = arc_to(a, b)) {
    arc->matrix = store_.sum_matrices(arc->matrix, matrix);
    arc_to(b, a)->matrix = CostStore::flip(arc->matrix);
    return;
  }
  arcs_[variables_[a].first_arc + variables_[a].degree++] = {b, matrix};
  arcs_[variables_[b].first_arc + variables_[b].degree++] = {a, CostStore::flip(matrix)};
}

Status Presolver::drop_unsupported_labels() {
  const uint32_t n = problem_.num_variables();
  queue_.clear();
  queued_.assign(n, 0);
  std::vector<std::pair<uint32_t, uint32_t>> trail;  // (variable that lost labels, cause)
  for (uint32_t v = 0; v < n; ++v) {
    Variable& x = variables_[v];
    if (!x.alive) continue;
    x.keep = store_.intersection(x.keep, store_.finite(x.unary));
    if (store_.count(x.keep) == 0) return infeasible(v, trail);
    queue_.push_back(v);
    queued_[v] = 1;
  }
  for (size_t next = 0; next < queue_.size(); ++next) {
    const uint32_t u = queue_[next];
    queued_[u] = 0;
    for (const Arc& arc : arcs(u)) {
      Variable& x = variables_[arc.other];
      const MaskId left = store_.supported(CostStore::flip(arc.matrix), x.keep, variables_[u].keep);
      SHW_RETURN_IF_ERROR(watch_.poll(20));
      if (left == x.keep) continue;
      x.keep = left;
      trail.emplace_back(arc.other, u);
      if (store_.count(left) == 0) return infeasible(arc.other, trail);
      if (!queued_[arc.other]) queue_.push_back(arc.other), queued_[arc.other] = 1;
    }
  }
  return {};
}

// Follows the trail of lost labels back to its origin.
Status Presolver::infeasible(uint32_t emptied,
                             const std::vector<std::pair<uint32_t, uint32_t>>& trail) const {
  constexpr size_t kMaxNamed = 8;
  std::vector<uint32_t> involved{emptied};
  for (auto it = trail.rbegin(); it != trail.rend(); ++it)
    if (std::ranges::count(involved, it->first) != 0 &&
        std::ranges::count(involved, it->second) == 0 && involved.size() <= kMaxNamed)
      involved.push_back(it->second);
  std::string names;
  for (size_t i = 1; i < involved.size() && i <= kMaxNamed; ++i)
    names += (i > 1 ? ", " : "") + std::to_string(involved[i]);
  if (involved.size() > kMaxNamed) names += ", …";
  return failed_precondition(
      "no labelling has finite cost: every label of variable " + std::to_string(emptied) +
      " is forbidden" +
      (names.empty() ? std::string() : ", given what is allowed for variables " + names));
}

// The result depends only on the tables around a variable, so it is computed once per distinct
// combination. Labels of many variables may be dropped at once: a dominated label stays dominated
// when its neighbours lose labels.
Status Presolver::drop_dominated_labels() {
  HashIndex known;
  std::vector<std::vector<uint32_t>> signatures;
  std::vector<MaskId> answers;
  std::vector<uint32_t> signature;
  for (uint32_t v = 0; v < variables_.size(); ++v) {
    Variable& x = variables_[v];
    const size_t k = store_.values(x.unary).size();
    if (!x.alive || k < 2 || is_budgeted(v)) continue;
    signature.assign(1, x.unary);
    for (const Arc& arc : arcs(v)) signature.push_back(arc.matrix);
    std::sort(signature.begin() + 1, signature.end());
    const uint32_t index = known.find_or_add(
        hash_span(std::span<const uint32_t>(signature)),
        [&](uint32_t i) { return signatures[i] == signature; },
        [&] {
          signatures.push_back(signature);
          answers.push_back(undominated(v));
          return static_cast<uint32_t>(answers.size() - 1);
        });
    x.keep = answers[index];
    SHW_RETURN_IF_ERROR(watch_.poll(10 * k * k));
  }
  return {};
}

// The labels of v that remain. Among equal labels, the first.
MaskId Presolver::undominated(uint32_t v) {
  const auto unary = store_.values(variables_[v].unary);
  const auto k = static_cast<uint32_t>(unary.size());
  std::vector<uint64_t> kept((k + 63) / 64, ~uint64_t{0});
  if (k % 64 != 0) kept.back() >>= 64 - k % 64;
  std::vector<double> margin(k);
  std::vector<uint32_t> best;
  for (uint32_t i = k; i-- > 0;) {  // from the last, so that the first of equal labels remains
    // For each j, the extra cost of i over j if every neighbour takes the label that suits i best.
    // If it is negative, j does not dominate i. Few j pass this test.
    for (uint32_t j = 0; j < k; ++j) margin[j] = unary[i] - unary[j];
    best.clear();
    for (const Arc& arc : arcs(v)) {
      const uint32_t cols = store_.cols(arc.matrix);
      const double* row = store_.data(arc.matrix) + size_t{i} * cols;
      best.push_back(static_cast<uint32_t>(std::min_element(row, row + cols) - row));
      const double* column = store_.data(CostStore::flip(arc.matrix)) + size_t{best.back()} * k;
      for (uint32_t j = 0; j < k; ++j) margin[j] += row[best.back()] - column[j];
    }
    for (uint32_t j = 0; j < k; ++j) {
      if (j == i || !(margin[j] >= 0) || (kept[j / 64] >> (j % 64) & 1) == 0) continue;
      if (!dominates(v, j, i, margin[j], best)) continue;
      kept[i / 64] &= ~(uint64_t{1} << (i % 64));
      break;
    }
  }
  return store_.mask(kept, k);
}

// Whether j is at least as good as i for all labels of the neighbours. `margin` is the extra cost
// of i if every neighbour takes `best[arc]`; each arc can only lower it.
bool Presolver::dominates(uint32_t v, uint32_t j, uint32_t i, double margin,
                          std::span<const uint32_t> best) {
  const auto around = arcs(v);
  for (size_t a = 0; a < around.size(); ++a) {
    const uint32_t cols = store_.cols(around[a].matrix);
    const double* m_i = store_.data(around[a].matrix) + size_t{i} * cols;
    const double* m_j = store_.data(around[a].matrix) + size_t{j} * cols;
    const double rest = margin - (m_i[best[a]] - m_j[best[a]]);
    const double least = least_difference(m_i, m_j, cols, -rest);
    margin = rest + least;
    if (!(margin >= 0)) return false;
  }
  return true;
}

Result<bool> Presolver::restrict_tables() {
  bool changed = false;
  for (uint32_t v = 0; v < variables_.size(); ++v) {
    const Variable& x = variables_[v];
    if (!x.alive) continue;
    changed |= !store_.is_full(x.keep);
    for (Arc& arc : arcs(v)) {
      if (arc.other < v) continue;
      const Handle h = store_.restricted(arc.matrix, x.keep, variables_[arc.other].keep);
      if (h == arc.matrix) continue;
      SHW_RETURN_IF_ERROR(watch_.poll(size_t{store_.rows(h)} * store_.cols(h)));
      arc.matrix = h;
      arc_to(arc.other, v)->matrix = CostStore::flip(h);
    }
  }
  if (!changed) return false;
  for (Variable& x : variables_) {
    if (!x.alive || store_.is_full(x.keep)) continue;
    x.unary = store_.restricted(x.unary, x.keep);
    x.labels = store_.restricted_labels(x.labels, x.keep);
    x.keep = store_.full(store_.count(x.keep));
  }
  return true;
}

Status Presolver::remove_small_variables() {
  queue_.clear();
  queued_.assign(variables_.size(), 0);
  const auto push = [&](uint32_t v) {
    const Variable& x = variables_[v];
    if (queued_[v] || !x.alive) return;
    if ((x.degree > options_.max_degree || is_budgeted(v)) && store_.values(x.unary).size() > 1)
      return;
    queue_.push_back(v);
    queued_[v] = 1;
  };
  for (uint32_t v = 0; v < variables_.size(); ++v) push(v);
  for (size_t next = 0; next < queue_.size(); ++next) {
    const uint32_t v = queue_[next];
    queued_[v] = 0;
    const size_t tables = store_.num_matrices();
    if (!try_remove(v)) continue;
    if (constant_ == kForbidden) return infeasible(v, {});
    for (const Arc& arc : arcs(v)) push(arc.other);
    SHW_RETURN_IF_ERROR(watch_.poll(store_.num_matrices() == tables ? 50 : kMaxReductionCells / 4));
  }
  return {};
}

void Presolver::record(uint32_t v) {
  const Variable& x = variables_[v];
  Removed r{v, x.labels, x.unary, 0, {}};
  if (store_.values(x.unary).size() > 1)
    for (const Arc& arc : arcs(v))
      r.neighbours[r.num_neighbours++] = {arc.other, variables_[arc.other].labels, arc.matrix};
  removed_.push_back(r);
}

// Removes v from its neighbours' lists; v's own list remains available to the caller.
void Presolver::detach(uint32_t v) {
  for (const Arc& arc : arcs(v)) {
    *arc_to(arc.other, v) = arcs(arc.other).back();
    --variables_[arc.other].degree;
  }
  variables_[v].alive = false;
}

bool Presolver::try_remove(uint32_t v) {
  Variable& x = variables_[v];
  const auto costs = store_.values(x.unary);
  const auto k = static_cast<uint32_t>(costs.size());
  const auto around = arcs(v);
  if (k == 1 || x.degree == 0) {
    record(v);
    constant_ += *std::ranges::min_element(costs);
    for (const Arc& arc : around) {
      Variable& other = variables_[arc.other];
      other.unary = store_.sum_vectors(other.unary, store_.row(arc.matrix, 0));
    }
    detach(v);
    return true;
  }
  if (x.degree == 1) {
    record(v);
    Variable& other = variables_[around[0].other];
    other.unary = store_.sum_vectors(other.unary, store_.eliminate(x.unary, around[0].matrix));
    detach(v);
    return true;
  }
  const auto [a, ma] = around[0];
  const auto [b, mb] = around[1];
  const uint64_t ka = store_.cols(ma), kb = store_.cols(mb);
  const uint64_t made = arc_to(a, b) != nullptr ? 0 : ka * kb;
  if (made > k * (ka + kb) || k * ka * kb > kMaxReductionCells) return false;
  record(v);
  const Handle h = store_.eliminate(x.unary, ma, mb);
  detach(v);
  join(a, b, h);
  return true;
}

Result<Presolved> Presolver::finish() {
  Presolved result;
  std::vector<uint32_t> index(variables_.size(), kNobody);
  for (uint32_t v = 0; v < variables_.size(); ++v) {
    if (!variables_[v].alive) continue;
    index[v] = result.problem.add_variable(store_.values(variables_[v].unary));
  }
  std::vector<uint32_t> matrices(store_.num_matrices(), kNobody);
  for (uint32_t v = 0; v < variables_.size(); ++v) {
    if (!variables_[v].alive) continue;
    for (const Arc& arc : arcs(v)) {
      if (arc.other < v) continue;
      uint32_t& m = matrices[arc.matrix >> 1];
      if (m == kNobody) {
        const Handle h = arc.matrix & ~1u;
        const uint32_t rows = store_.rows(h), cols = store_.cols(h);
        SHW_RETURN_IF_ERROR(watch_.poll(uint64_t{rows} * cols));
        m = result.problem.add_matrix(rows, cols, {store_.data(h), size_t{rows} * cols});
      }
      result.problem.add_edge(index[v], index[arc.other], m, (arc.matrix & 1) != 0);
    }
  }
  result.constant = constant_;
  keep_what_expands(result.undo);
  return result;
}

// Copies what Postsolve needs out of the store.
void Presolver::keep_what_expands(Postsolve& undo) {
  Memo lists, vectors, tables;
  const auto keep_labels = [&](LabelsId id) {
    uint32_t& known = lists.at(id);
    if (known == Memo::kNone) {
      known = static_cast<uint32_t>(undo.labels_.size());
      const auto labels = store_.labels(id);
      undo.labels_.emplace_back(labels.begin(), labels.end());
    }
    return known;
  };
  std::vector<size_t> offsets;
  const auto keep_costs = [&](Memo& memo, uint32_t id, const double* costs, size_t size) {
    uint32_t& known = memo.at(id);
    if (known == Memo::kNone) {
      known = static_cast<uint32_t>(offsets.size());
      offsets.push_back(undo.costs_.size());
      undo.costs_.insert(undo.costs_.end(), costs, costs + size);
    }
    return offsets[known];
  };
  for (uint32_t v = 0; v < variables_.size(); ++v)
    if (variables_[v].alive) undo.kept_.push_back({v, keep_labels(variables_[v].labels)});
  for (const Removed& r : removed_) {
    const auto unary = store_.values(r.unary);
    Postsolve::Removed& kept = undo.removed_.emplace_back(
        Postsolve::Removed{r.variable,
                           keep_labels(r.labels),
                           keep_costs(vectors, r.unary, unary.data(), unary.size()),
                           r.num_neighbours,
                           {}});
    for (uint32_t n = 0; n < r.num_neighbours; ++n) {
      const Handle by_neighbour = CostStore::flip(r.neighbours[n].matrix);
      kept.neighbours[n] = {
          r.neighbours[n].variable, keep_labels(r.neighbours[n].labels),
          keep_costs(tables, by_neighbour, store_.data(by_neighbour),
                     size_t{store_.rows(by_neighbour)} * store_.cols(by_neighbour))};
    }
  }
  undo.costs_.shrink_to_fit();
}

std::vector<uint32_t> Postsolve::expand(std::span<const uint32_t> reduced) const {
  std::vector<uint32_t> choice(kept_.size() + removed_.size());
  for (size_t i = 0; i < kept_.size(); ++i)
    choice[kept_[i].variable] = labels_[kept_[i].labels][reduced[i]];
  std::vector<double> costs;
  for (auto r = removed_.rbegin(); r != removed_.rend(); ++r) {
    const size_t k = labels_[r->labels].size();
    costs.assign(costs_.begin() + static_cast<ptrdiff_t>(r->unary),
                 costs_.begin() + static_cast<ptrdiff_t>(r->unary + k));
    for (uint32_t n = 0; n < r->num_neighbours; ++n) {
      const auto& [other, labels, table] = r->neighbours[n];
      const auto& list = labels_[labels];
      const auto x = std::ranges::lower_bound(list, choice[other]) - list.begin();
      const double* row = costs_.data() + table + static_cast<size_t>(x) * k;
      for (size_t s = 0; s < k; ++s) costs[s] += row[s];
    }
    const auto best = std::ranges::min_element(costs) - costs.begin();
    choice[r->variable] = labels_[r->labels][static_cast<size_t>(best)];
  }
  return choice;
}

Result<Presolved> presolve(const PlacementProblem& problem, std::span<const uint8_t> keep,
                           const PresolveOptions& options, Watch& watch) {
  return Presolver(problem, options, watch).run(keep);
}

}  // namespace shw::solver
