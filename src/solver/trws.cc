#include "solver/trws.h"

#include <algorithm>
#include <new>

#include "solver/kernels.h"

namespace shw::solver {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr uint64_t kCellsPerBatch = 1 << 17;  // between two looks at the caller's flag
// Terms are summed with compensation, so what a bound can be too high by is a few roundings of each
// term.
constexpr double kRounding = 1e-14;

uint32_t padded(uint32_t labels) { return (labels + kLanes - 1) / kLanes * kLanes; }

}  // namespace

void Trws::Free::operator()(double* p) const { ::operator delete[](p, kAlignment); }

Trws::Rows Trws::make_rows(size_t doubles, double value) {
  auto* p = static_cast<double*>(
      ::operator new[](std::max<size_t>(doubles, 1) * sizeof(double), kAlignment));
  std::fill_n(p, doubles, value);
  return Rows(p);
}

Trws::Trws(const PlacementProblem& problem, Watch& watch) : problem_(problem), watch_(watch) {
  const uint32_t n = problem.num_variables();
  nodes_.resize(n);
  decoded_.resize(n);
  for (const auto& e : problem.edges()) ++nodes_[e.a].end_arc, ++nodes_[e.b].end_arc;

  size_t labels = 0, in = 0;
  uint32_t arcs = 0, widest = kLanes;
  for (uint32_t v = 0; v < n; ++v) {
    TrwsNode& node = nodes_[v];
    node.labels = problem.num_labels(v);
    node.stride = padded(node.labels);
    widest = std::max(widest, node.stride);
    labels += node.stride;
    in += size_t{node.stride} * node.end_arc;
    node.first_arc = arcs;
    arcs += node.end_arc;
    node.first_later_arc = node.end_arc = node.first_arc;
  }
  unary_ = make_rows(labels, kForbidden);
  marginals_ = make_rows(labels, 0);
  messages_ = make_rows(in, 0);
  scratch_ = make_rows(size_t{3} * widest, 0);
  arcs_.resize(arcs);

  double* unary = unary_.get();
  for (uint32_t v = 0; v < n; ++v) {
    std::ranges::copy(problem.unary(v), unary);
    nodes_[v].unary = unary;
    unary += nodes_[v].stride;
  }
  layout_matrices();
}

// Both orientations of every matrix, and the arcs: those to earlier variables first.
void Trws::layout_matrices() {
  const auto matrices = problem_.matrices();
  std::vector<size_t> first(matrices.size() + 1, 0);
  for (size_t m = 0; m < matrices.size(); ++m)
    first[m + 1] = first[m] + size_t{matrices[m].rows} * padded(matrices[m].cols) +
                   size_t{matrices[m].cols} * padded(matrices[m].rows);
  matrices_ = make_rows(first.back(), kForbidden);
  const auto oriented = [&](uint32_t m, bool transposed) {
    return matrices_.get() + first[m] +
           (transposed ? size_t{matrices[m].rows} * padded(matrices[m].cols) : 0);
  };
  for (uint32_t m = 0; m < matrices.size(); ++m) {
    const size_t rows = matrices[m].rows, cols = matrices[m].cols;
    const double* from = problem_.costs(m);
    double* straight = oriented(m, false);
    const uint32_t stride = padded(matrices[m].cols);
    for (size_t i = 0; i < rows; ++i) std::copy_n(from + i * cols, cols, straight + i * stride);
    transpose(from, rows, cols, cols, oriented(m, true), padded(matrices[m].rows));
  }

  const auto edges = problem_.edges();
  for (const auto& e : edges) ++nodes_[std::max(e.a, e.b)].first_later_arc;
  for (TrwsNode& node : nodes_) node.end_arc = node.first_later_arc;
  std::vector<uint32_t> earlier(nodes_.size());
  for (size_t v = 0; v < nodes_.size(); ++v) earlier[v] = nodes_[v].first_arc;
  double* in = messages_.get();
  std::vector<uint32_t> place_a(edges.size()), place_b(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto& e = edges[i];
    place_a[i] = e.a > e.b ? earlier[e.a]++ : nodes_[e.a].end_arc++;
    place_b[i] = e.b > e.a ? earlier[e.b]++ : nodes_[e.b].end_arc++;
  }
  for (TrwsNode& node : nodes_) {
    node.in = in;
    in += size_t{node.end_arc - node.first_arc} * node.stride;
    const uint32_t before = node.first_later_arc - node.first_arc;
    const uint32_t after = node.end_arc - node.first_later_arc;
    node.weight = 1.0 / std::max({before, after, 1u});
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto& e = edges[i];
    const TrwsNode &a = nodes_[e.a], &b = nodes_[e.b];
    double* in_a = a.in + size_t{place_a[i] - a.first_arc} * a.stride;
    double* in_b = b.in + size_t{place_b[i] - b.first_arc} * b.stride;
    const double* by_a = oriented(e.matrix, e.transposed != 0);
    const double* by_b = oriented(e.matrix, e.transposed == 0);
    arcs_[place_a[i]] = {by_a, by_b, in_a, in_b, e.b, b.stride};
    arcs_[place_b[i]] = {by_b, by_a, in_b, in_a, e.a, a.stride};
  }
}

Status Trws::run(int64_t step) {
  const auto n = static_cast<int64_t>(nodes_.size());
  TrwsSweep sweep{nodes_.data(),
                  arcs_.data(),
                  decoded_.data(),
                  scratch_.get(),
                  step < 0 ? marginals_.get() : nullptr,
                  true,
                  0,
                  0,
                  0};
  const int64_t end = step > 0 ? n : -1;
  for (int64_t from = step > 0 ? 0 : n - 1; from != end;) {
    int64_t to = from;
    uint64_t cells = 0;
    while (to != end && cells < kCellsPerBatch) {
      const TrwsNode& node = nodes_[static_cast<size_t>(to)];
      for (uint32_t a = node.first_arc; a < node.end_arc; ++a)
        cells += uint64_t{node.labels} * arcs_[a].other_stride / 2;
      cells += node.stride;
      to += step;
    }
    trws_run(sweep, from, to, step);
    SHW_RETURN_IF_ERROR(watch_.poll(cells));
    from = to;
  }
  const double sum = sweep.bound + sweep.bound_low;
  bound_ = std::max(bound_, sum - kRounding * std::abs(sum));
  offer(decoded_, sweep.cost);
  return {};
}

Status Trws::sweep() {
  SHW_RETURN_IF_ERROR(run(1));
  return run(-1);
}

void Trws::offer(std::span<const uint32_t> choice, double cost) {
  if (cost >= cost_) return;
  cost_ = cost;
  choice_.assign(choice.begin(), choice.end());
}

std::vector<uint8_t> Trws::labels_within(double limit) const {
  std::vector<uint8_t> keep;
  for (uint32_t v = 0; v < nodes_.size(); ++v)
    for (const double m : marginals(v)) keep.push_back(bound_ + m <= limit);
  return keep;
}

PlacementProblem Trws::reparametrized() const {
  PlacementProblem result;
  std::vector<double> table;
  for (const TrwsNode& node : nodes_) {
    table.assign(node.unary, node.unary + node.labels);
    for (uint32_t a = node.first_arc; a < node.end_arc; ++a)
      for (uint32_t i = 0; i < node.labels; ++i) table[i] += arcs_[a].in[i];
    result.add_variable(table);
  }
  for (uint32_t v = 0; v < nodes_.size(); ++v) {
    const TrwsNode& node = nodes_[v];
    for (uint32_t a = node.first_later_arc; a < node.end_arc; ++a) {
      const TrwsArc& arc = arcs_[a];
      const uint32_t cols = nodes_[arc.other].labels;
      table.clear();
      for (uint32_t i = 0; i < node.labels; ++i)
        for (uint32_t j = 0; j < cols; ++j)
          table.push_back(arc.matrix[size_t{i} * arc.other_stride + j] - arc.in[i] - arc.out[j]);
      result.add_edge(v, arc.other, result.add_matrix(node.labels, cols, table));
    }
  }
  return result;
}

}  // namespace shw::solver
