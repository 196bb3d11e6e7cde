// Building and checking a PlacementProblem.
#include "solver/problem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "solver/kernels.h"
#include "support/hash.h"

namespace shw::solver {

void PlacementProblem::reserve(size_t variables, size_t labels, size_t edges) {
  first_label_.reserve(variables + 1);
  unary_.reserve(labels);
  edges_.reserve(edges);
}

PlacementProblem PlacementProblem::share() const {
  PlacementProblem copy(*this);
  copy.free_ = nullptr;  // the rest of the last chunk stays with the original
  copy.free_cells_ = 0;
  return copy;
}

PlacementProblem PlacementProblem::without_variables() const {
  PlacementProblem empty;
  empty.matrices_ = matrices_;
  empty.pool_ = pool_;
  empty.pool_bytes_ = pool_bytes_;
  empty.matrix_by_hash_ = matrix_by_hash_;
  return empty;
}

PlacementProblem PlacementProblem::with_scaled_edges(std::span<const double> scales) const {
  struct Scaled {
    uint32_t matrix;
    double scale;
    uint32_t index;  // of the scaled table
  };
  std::vector<Scaled> tables;
  std::unordered_multimap<uint64_t, uint32_t> by_hash;  // never iterated as a whole
  PlacementProblem out = share();
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == 1) continue;
    uint32_t& matrix = out.edges_[i].matrix;
    const uint64_t hash = hash_combine(matrix, std::bit_cast<uint64_t>(scales[i]));
    auto [at, last] = by_hash.equal_range(hash);
    const auto is_other = [&](const Scaled& t) {
      return t.matrix != matrix || t.scale != scales[i];
    };
    while (at != last && is_other(tables[at->second])) ++at;
    if (at == last) {
      at = by_hash.emplace(hash, static_cast<uint32_t>(tables.size()));
      tables.push_back({matrix, scales[i], out.add_scaled_matrix(matrices_[matrix], scales[i])});
    }
    matrix = tables[at->second].index;
  }
  return out;
}

uint32_t PlacementProblem::add_scaled_matrix(const Matrix& m, double scale) {
  const std::span<double> costs = room_for_matrix(m.rows, m.cols);
  for (size_t c = 0; c < costs.size(); ++c)
    costs[c] = m.costs[c] == kForbidden ? kForbidden : scale * m.costs[c];
  return add_filled_matrix();
}

uint32_t PlacementProblem::add_variable(std::span<const double> unary) {
  unary_.insert(unary_.end(), unary.begin(), unary.end());
  first_label_.push_back(unary_.size());
  return num_variables() - 1;
}

void PlacementProblem::add_unary(uint32_t variable, std::span<const double> costs) {
  if (variable >= num_variables() || costs.size() != num_labels(variable)) {
    malformed_ = true;
    return;
  }
  double* own = unary_.data() + first_label_[variable];
  for (size_t i = 0; i < costs.size(); ++i) own[i] += costs[i];
}

uint32_t PlacementProblem::add_matrix(uint32_t rows, uint32_t cols,
                                      std::span<const double> row_major) {
  const std::span<double> room = room_for_matrix(rows, cols);
  malformed_ = malformed_ || room.size() != row_major.size();
  std::ranges::fill(room, kForbidden);
  std::copy_n(row_major.begin(), std::min(room.size(), row_major.size()), room.begin());
  return add_filled_matrix();
}

std::span<double> PlacementProblem::room_for_matrix(uint32_t rows, uint32_t cols) {
  // Chunks double in size: their number stays small, and so does the unused share.
  constexpr size_t kMinCells = 1 << 15, kMaxCells = 1 << 22;
  const size_t cells = size_t{rows} * cols;
  if (cells > free_cells_) {
    const size_t chunk =
        std::max(cells, std::clamp<size_t>(pool_bytes_ / sizeof(double), kMinCells, kMaxCells));
    pool_.push_back(std::shared_ptr<double[]>(new double[chunk]));
    pool_bytes_ += chunk * sizeof(double);
    free_ = pool_.back().get();
    free_cells_ = chunk;
  }
  filling_ = {rows, cols, free_};
  return {free_, cells};
}

uint32_t PlacementProblem::add_filled_matrix() {
  // Of a large table only the beginning is hashed. Different tables usually differ there; equal
  // hashes are compared in full.
  constexpr size_t kHashedBytes = 1 << 16;
  const size_t cells = size_t{filling_.rows} * filling_.cols, bytes = cells * sizeof(double);
  const uint64_t hash = hash_combine(hash_bytes(filling_.costs, std::min(bytes, kHashedBytes)),
                                     uint64_t{filling_.rows} << 32 | filling_.cols);
  const auto [first, last] = matrix_by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Matrix& m = matrices_[it->second];
    if (m.rows == filling_.rows && m.cols == filling_.cols &&
        same_bytes(m.costs, filling_.costs, bytes))
      return it->second;
  }
  free_ += cells;
  free_cells_ -= cells;
  const auto index = static_cast<uint32_t>(matrices_.size());
  matrices_.push_back(filling_);
  matrix_by_hash_.emplace(hash, index);
  return index;
}

void PlacementProblem::add_edge(uint32_t a, uint32_t b, uint32_t matrix, bool transposed) {
  if (a == b && a < num_variables() && matrix < matrices_.size()) {
    const Matrix& m = matrices_[matrix];
    const uint32_t k = num_labels(a);
    if (m.rows == k && m.cols == k) {
      for (uint32_t i = 0; i < k; ++i) unary_[first_label_[a] + i] += m.costs[uint64_t{i} * k + i];
      return;
    }
  }
  edges_.push_back({a, b, matrix, transposed ? 1u : 0u});
}

void PlacementProblem::set_edge(uint32_t i, uint32_t a, uint32_t b, uint32_t matrix) {
  edges_[i] = {a, b, matrix, 0};
}

uint32_t PlacementProblem::add_budget(double limit) {
  budget_limits_.push_back(limit);
  return static_cast<uint32_t>(budget_limits_.size() - 1);
}

void PlacementProblem::add_usage(uint32_t budget, uint32_t variable, uint32_t first, uint32_t end,
                                 std::span<const double> per_label) {
  if (budget >= budget_limits_.size() || variable >= num_variables() ||
      per_label.size() != num_labels(variable)) {
    malformed_ = true;
    return;
  }
  usages_.push_back({budget, variable, first, end, usage_pool_.size()});
  usage_pool_.insert(usage_pool_.end(), per_label.begin(), per_label.end());
}

uint64_t edge_cells(const PlacementProblem& problem) {
  uint64_t cells = 0;
  for (const auto& e : problem.edges())
    cells += uint64_t{problem.num_labels(e.a)} * problem.num_labels(e.b);
  return cells;
}

Status PlacementProblem::validate() const {
  // The number of labels bounds every index and every offset in a table of labels.
  if (unary_.size() > UINT32_MAX || first_label_.size() > UINT32_MAX)
    return invalid_argument("the problem has more than 2^32 labels");
  if (malformed_)
    return invalid_argument("costs were added with a size or index that does not fit");
  for (uint32_t v = 0; v < num_variables(); ++v)
    if (num_labels(v) == 0)
      return invalid_argument("variable " + std::to_string(v) + " has no labels");
  if (!all_costs(unary_.data(), unary_.size()))
    for (uint32_t v = 0; v < num_variables(); ++v)
      if (!all_costs(unary(v).data(), num_labels(v)))
        return invalid_argument("variable " + std::to_string(v) + " has a cost that is NaN or −∞");
  for (size_t m = 0; m < matrices_.size(); ++m)
    if (!all_costs(matrices_[m].costs, size_t{matrices_[m].rows} * matrices_[m].cols))
      return invalid_argument("matrix " + std::to_string(m) + " has a cost that is NaN or −∞");
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::ranges::all_of(budget_limits_, finite) || !std::ranges::all_of(usage_pool_, finite))
    return invalid_argument("a budget has a limit or a usage that is not finite");
  for (size_t i = 0; i < edges_.size(); ++i) {
    const Edge& e = edges_[i];
    const auto name = [i] { return "edge " + std::to_string(i); };
    if (e.a >= num_variables() || e.b >= num_variables() || e.matrix >= matrices_.size())
      return invalid_argument(name() + " names a variable or matrix that does not exist");
    const Matrix& m = matrices_[e.matrix];
    const uint32_t rows = e.transposed ? m.cols : m.rows;
    const uint32_t cols = e.transposed ? m.rows : m.cols;
    if (e.a == e.b || rows != num_labels(e.a) || cols != num_labels(e.b))
      return invalid_argument(
          name() + ": a matrix of " + std::to_string(rows) + " × " + std::to_string(cols) +
          " joins variables " + std::to_string(e.a) + " and " + std::to_string(e.b) + " of " +
          std::to_string(num_labels(e.a)) + " and " + std::to_string(num_labels(e.b)) + " labels");
  }
  return {};
}

}  // namespace shw::solver
