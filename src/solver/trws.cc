#include "solver/trws.h"

#include <functional>
#include <numeric>

#include "solver/kernels.h"
#include "solver/memo.h"
#include "solver/parameters.h"
#include "support/hash.h"

namespace shw::solver {
namespace {

using namespace parameters::trws;

}  // namespace

Trws::Rows Trws::make_rows(size_t doubles, double value) {
  Rows rows = make_large_array<double>(doubles);
  std::fill_n(rows.get(), doubles, value);
  return rows;
}

Trws::Trws(const PlacementProblem& problem, Watch& watch, Folds folds)
    : problem_(problem), watch_(watch), folding_(folds) {
  std::vector<std::vector<uint32_t>> all(problem.num_variables());
  for (uint32_t v = 0; v < all.size(); ++v) {
    all[v].resize(problem.num_labels(v));
    std::iota(all[v].begin(), all[v].end(), 0u);
  }
  build_status_ = build(all);
}

Trws::Trws(const PlacementProblem& problem, std::vector<std::vector<uint32_t>> labels, Watch& watch)
    : problem_(problem), watch_(watch), given_(std::move(labels)) {}

Result<bool> Trws::drop_unsupported() {
  SHW_ASSIGN_OR_RETURN(const bool possible, drop_unsupported(given_));
  if (possible) build_status_ = build(given_);
  given_.clear();
  SHW_RETURN_IF_ERROR(build_status_);
  return possible;
}

// Builds tables for the remaining labels, with messages of zero.
Status Trws::build(const std::vector<std::vector<uint32_t>>& left) {
  const uint32_t n = problem_.num_variables();
  rounded_.clear();
  nodes_.assign(n, {});
  label_.clear();
  first_label_.resize(n);
  size_t padded_labels = 0;
  scratch_.clear();
  widest_ = static_cast<uint32_t>(kLanes);
  for (uint32_t v = 0; v < n; ++v) {
    nodes_[v].labels = static_cast<uint32_t>(left[v].size());
    nodes_[v].stride = padded(left[v].size());
    padded_labels += nodes_[v].stride;
    widest_ = std::max(widest_, nodes_[v].stride);
    first_label_[v] = label_.size();
    label_.insert(label_.end(), left[v].begin(), left[v].end());
  }
  unary_ = make_rows(padded_labels, kForbidden);
  marginals_ = make_rows(padded_labels, 0);
  decoded_.assign(n, 0);
  double* unary = unary_.get();
  for (uint32_t v = 0; v < n; ++v) {
    nodes_[v].unary = unary;
    for (uint32_t i = 0; i < nodes_[v].labels; ++i) unary[i] = problem_.unary(v)[left[v][i]];
    unary += nodes_[v].stride;
  }
  SHW_RETURN_IF_ERROR(find_folds());
  build_nodes();

  SHW_ASSIGN_OR_RETURN(const std::vector<size_t> table, build_tables(left));
  const auto edges = problem_.edges();
  const std::vector<ArcsOfEdge> arcs = arcs_of_edges();
  cells_ = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (is_fold_edge(i)) continue;
    const auto [first, second] = std::minmax(edges[i].a, edges[i].b);
    const TrwsNode &x = nodes_[first], &y = nodes_[second];
    const auto [at_x, at_y] =
        edges[i].a == first ? arcs[i] : ArcsOfEdge{.a = arcs[i].b, .b = arcs[i].a};
    const double* by_x = tables_.get() + table[i];
    const double* by_y = by_x + size_t{x.labels} * y.stride;
    const bool swapped = (edges[i].a == first) == (edges[i].transposed != 0);
    if (swapped) by_y = tables_.get() + table[i], by_x = by_y + size_t{y.labels} * x.stride;
    double* in_x = x.in + size_t{at_x - x.first_arc} * x.stride;
    double* in_y = y.in + size_t{at_y - y.first_arc} * y.stride;
    arcs_[at_x] = {by_x, by_y, in_x, in_y, second, y.stride};
    arcs_[at_y] = {by_y, by_x, in_y, in_x, first, x.stride};
    cells_ += uint64_t{x.labels} * y.labels;
  }
  attach_folds(arcs);
  return {};
}

std::vector<Trws::ArcsOfEdge> Trws::arcs_of_edges() const {
  std::vector<uint32_t> earlier, later;  // the next arc of each variable
  for (const TrwsNode& node : nodes_)
    earlier.push_back(node.first_arc), later.push_back(node.first_later_arc);
  const auto edges = problem_.edges();
  std::vector<ArcsOfEdge> arcs(edges.size(), {kNone, kNone});
  for (size_t i = 0; i < edges.size(); ++i) {
    if (is_fold_edge(i)) continue;
    const auto& e = edges[i];
    const bool forward = e.a < e.b;
    arcs[i].a = forward ? later[e.a]++ : earlier[e.a]++;
    arcs[i].b = forward ? earlier[e.b]++ : later[e.b]++;
  }
  return arcs;
}

void Trws::take_messages(const Trws& from, std::span<const uint32_t> edge_of_other) {
  const std::vector<ArcsOfEdge> mine = arcs_of_edges(), its = from.arcs_of_edges();
  const auto edges = problem_.edges();
  for (size_t i = 0; i < edges.size(); ++i) {
    const ArcsOfEdge &to = mine[i], &of = its[edge_of_other[i]];
    std::copy_n(from.arcs_[of.a].in, nodes_[edges[i].a].stride, arcs_[to.a].in);
    std::copy_n(from.arcs_[of.b].in, nodes_[edges[i].b].stride, arcs_[to.b].in);
  }
}

std::vector<Trws::Message> Trws::messages() {
  std::vector<Message> all;
  all.reserve(arcs_.size());
  for (uint32_t v = 0; v < nodes_.size(); ++v)
    for (uint32_t a = nodes_[v].first_arc; a < nodes_[v].end_arc; ++a)
      all.push_back({arcs_[a].other, v, {arcs_[a].in, nodes_[v].labels}});
  return all;
}

// Counts arcs and assigns their offsets and messages.
void Trws::build_nodes() {
  std::vector<uint32_t> before(nodes_.size()), after(nodes_.size());
  for (size_t i = 0; i < problem_.edges().size(); ++i) {
    const auto& e = problem_.edges()[i];
    if (!is_fold_edge(i)) ++after[std::min(e.a, e.b)], ++before[std::max(e.a, e.b)];
  }
  uint32_t arcs = 0;
  size_t messages = 0;
  for (size_t v = 0; v < nodes_.size(); ++v) {
    TrwsNode& node = nodes_[v];
    node.first_arc = arcs;
    node.first_later_arc = arcs + before[v];
    node.end_arc = arcs = node.first_later_arc + after[v];
    node.weight = 1.0 / std::max({before[v], after[v], 1u});
    messages += size_t{before[v] + after[v]} * node.stride;
  }
  messages_ = make_rows(messages, 0);
  arcs_.resize(arcs);
  moved_ = make_rows(nodes_.size() + arcs, 0);
  paid_ = make_rows(nodes_.size(), 0);
  double* in = messages_.get();
  for (TrwsNode& node : nodes_) {
    node.in = in;
    in += size_t{node.end_arc - node.first_arc} * node.stride;
  }
}

// Builds each matrix for each pair of label lists that it is used with, followed by its transpose.
// Returns the offset of each edge's.
Result<std::vector<size_t>> Trws::build_tables(const std::vector<std::vector<uint32_t>>& left) {
  HashIndex lists;
  std::vector<uint32_t> list(left.size());
  for (uint32_t v = 0; v < left.size(); ++v)
    list[v] = lists.find_or_add(
        hash_span(std::span<const uint32_t>(left[v])),
        [&](uint32_t other) { return left[other] == left[v]; }, [&] { return v; });

  struct Table {
    uint32_t matrix, rows, cols;  // rows and cols: a variable with that label list
    size_t offset;
  };
  std::vector<Table> tables;
  Memo known;
  std::vector<uint32_t> used;
  size_t size = 0;
  for (size_t i = 0; i < problem_.edges().size(); ++i) {
    const auto& e = problem_.edges()[i];
    if (is_fold_edge(i)) {
      used.push_back(kNone);
      continue;
    }
    const uint32_t rows = list[e.transposed ? e.b : e.a], cols = list[e.transposed ? e.a : e.b];
    uint32_t& index = known.at(e.matrix, rows, cols);
    if (index == Memo::kNone) {
      index = static_cast<uint32_t>(tables.size());
      tables.push_back({e.matrix, rows, cols, size});
      size += left[rows].size() * padded(left[cols].size()) +
              left[cols].size() * padded(left[rows].size());
    }
    used.push_back(index);
  }
  tables_ = make_rows(size, kForbidden);
  for (const Table& t : tables) {
    const size_t rows = left[t.rows].size(), cols = left[t.cols].size();
    double* straight = tables_.get() + t.offset;
    const double* costs = problem_.costs(t.matrix);
    const size_t width = problem_.matrices()[t.matrix].cols;
    for (size_t i = 0; i < rows; ++i) {
      const double* from = costs + left[t.rows][i] * width;
      double* to = straight + i * padded(cols);
      if (cols == width) {
        std::copy_n(from, cols, to);
      } else {
        for (size_t j = 0; j < cols; ++j) to[j] = from[left[t.cols][j]];
      }
    }
    transpose(straight, rows, cols, padded(cols), straight + rows * padded(cols), padded(rows));
    SHW_RETURN_IF_ERROR(watch_.poll(4 * rows * cols));
  }
  std::vector<size_t> offsets;
  offsets.reserve(used.size());
  for (const uint32_t index : used) offsets.push_back(index == kNone ? 0 : tables[index].offset);
  return offsets;
}

// Rounds each distinct table of enough cells, in the orientation of each of its two uses.
Status Trws::round_tables() {
  struct Use {
    const double* costs;
    uint32_t arc, rows, cols;
  };
  std::vector<Use> uses;
  scratch_.clear();
  for (const TrwsNode& node : nodes_) {
    widest_rounded_ = std::max(widest_rounded_, rounded_stride(node.stride));
    for (uint32_t a = node.first_arc; a < node.end_arc; ++a)
      if (const uint32_t cols = nodes_[arcs_[a].other].labels;
          uint64_t{node.labels} * cols >= kRoundedCells)
        uses.push_back({arcs_[a].matrix, a, node.labels, cols});
  }
  std::ranges::sort(uses, [](const Use& a, const Use& b) {
    return a.costs != b.costs ? std::less<>()(a.costs, b.costs) : a.arc < b.arc;
  });
  const auto is_first = [&](size_t i) { return i == 0 || uses[i].costs != uses[i - 1].costs; };
  size_t cells = 0;
  for (size_t i = 0; i < uses.size(); ++i)
    if (is_first(i)) cells += uses[i].rows * rounded_stride(uses[i].cols);
  rounded_cells_ = make_large_array<int16_t>(cells);
  rounded_.assign(arcs_.size(), {});
  int16_t* next = rounded_cells_.get();
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto [costs, arc, rows, cols] = uses[i];
    if (!is_first(i)) {
      rounded_[arc] = rounded_[uses[i - 1].arc];
      continue;
    }
    rounded_[arc] = round_down(costs, rows, cols, arcs_[arc].other_stride, next);
    next += rows * rounded_stride(cols);
    SHW_RETURN_IF_ERROR(watch_.poll(4 * uint64_t{rows} * cols));
  }
  return {};
}

// When the sweep is at v, it moves θ_v minus its minimum, in equal shares, into the edges to later
// variables, and moves the messages out of the edge tables. So at the later end of an edge the
// message is the one that the sweep left, and at the earlier end it is the incoming one minus that
// share.
Result<double> Trws::proof(std::vector<double>& messages) {
  SHW_RETURN_IF_ERROR(build_status_);
  SHW_ASSIGN_OR_RETURN(const double bound, run(1));
  std::vector<uint64_t> first;
  uint64_t size = 0;
  for (const auto& e : problem_.edges()) {
    first.push_back(size);
    size += problem_.num_labels(e.a) + problem_.num_labels(e.b);
  }
  messages.assign(size, 0);
  std::vector<std::vector<uint32_t>> later(nodes_.size()), earlier(nodes_.size());  // edges
  const auto edges = problem_.edges();
  for (uint32_t i = 0; i < edges.size(); ++i) {
    later[std::min(edges[i].a, edges[i].b)].push_back(i);
    earlier[std::max(edges[i].a, edges[i].b)].push_back(i);
  }
  std::vector<double> theta;
  for (uint32_t v = 0; v < nodes_.size(); ++v) {
    const TrwsNode& node = nodes_[v];
    theta.assign(node.unary, node.unary + node.labels);
    for (uint32_t a = node.first_arc; a < node.end_arc; ++a)
      for (uint32_t i = 0; i < node.labels; ++i) theta[i] += arcs_[a].in[i];
    const double least = *std::ranges::min_element(theta);
    const auto out = [&](uint32_t edge) {
      return messages.data() + first[edge] +
             (edges[edge].a == v ? 0 : problem_.num_labels(edges[edge].a));
    };
    for (uint32_t n = 0; n < earlier[v].size(); ++n)
      for (uint32_t i = 0; i < node.labels; ++i)
        out(earlier[v][n])[labels(v)[i]] = arcs_[node.first_arc + n].in[i];
    for (uint32_t n = 0; n < later[v].size(); ++n)
      for (uint32_t i = 0; i < node.labels; ++i)
        out(later[v][n])[labels(v)[i]] =
            arcs_[node.first_later_arc + n].in[i] - node.weight * (theta[i] - least);
    SHW_RETURN_IF_ERROR(watch_.poll(4 * node.labels * (node.end_arc - node.first_arc + 1)));
  }
  return bound;
}

void Trws::reprice(std::span<const double> by_label) {
  for (uint32_t v = 0; v < nodes_.size(); ++v) {
    const auto own = problem_.unary(v);
    double* unary = is_folded(v) ? fold_costs(v) : unary_.get() + (nodes_[v].unary - unary_.get());
    for (uint32_t i = 0; i < nodes_[v].labels; ++i)
      unary[i] = own[labels(v)[i]] + by_label[problem_.first_label(v) + labels(v)[i]];
  }
  find_paying_folds();
  cost_ = kForbidden;
  bound_ = marginal_bound_ = -kForbidden;
  dropped_bound_ = kForbidden;
}

void Trws::last_choice(std::vector<uint32_t>& choice) const {
  choice.resize(nodes_.size());
  for (uint32_t v = 0; v < choice.size(); ++v) choice[v] = labels(v)[decoded_[v]];
}

void Trws::offer(std::span<const uint32_t> choice, double cost) {
  if (cost >= cost_) return;
  cost_ = cost;
  choice_.assign(choice.begin(), choice.end());
}

uint64_t Trws::cells_below(double limit) const {
  std::vector<uint32_t> kept(nodes_.size());
  for (uint32_t v = 0; v < nodes_.size(); ++v)
    for (const double m : marginals(v)) kept[v] += marginal_bound_ + m < limit;
  uint64_t cells = 0;
  for (size_t i = 0; i < problem_.edges().size(); ++i) {
    const auto& e = problem_.edges()[i];
    if (!is_fold_edge(i)) cells += uint64_t{kept[e.a]} * kept[e.b];
  }
  return cells;
}

Result<bool> Trws::drop_labels(double limit) {
  std::vector<std::vector<uint32_t>> left(nodes_.size());
  for (uint32_t v = 0; v < nodes_.size(); ++v)
    for (uint32_t i = 0; i < nodes_[v].labels; ++i)
      if (may_improve(v, i, limit)) left[v].push_back(labels(v)[i]);
  dropped_bound_ = std::min(dropped_bound_, limit);
  SHW_ASSIGN_OR_RETURN(const bool possible, drop_unsupported(left));
  if (!possible) {
    bound_ = kForbidden;
    return false;
  }

  const std::vector<TrwsNode> old_nodes = nodes_;
  const std::vector<uint32_t> old_label = label_;
  const std::vector<size_t> old_first = first_label_;
  const Rows old_messages = std::move(messages_);
  build_status_ = build(left);
  SHW_RETURN_IF_ERROR(build_status_);
  for (uint32_t v = 0; v < nodes_.size(); ++v) {
    const TrwsNode &was = old_nodes[v], &is = nodes_[v];
    const uint32_t* was_label = old_label.data() + old_first[v];
    for (uint32_t a = 0; a < is.end_arc - is.first_arc; ++a)
      for (uint32_t i = 0, j = 0; i < is.labels; ++i, ++j) {
        while (was_label[j] != left[v][i]) ++j;
        is.in[size_t{a} * is.stride + i] = was.in[size_t{a} * was.stride + j];
      }
  }
  return true;
}

// Arc consistency, to a fixpoint. False: some variable has no label left.
Result<bool> Trws::drop_unsupported(std::vector<std::vector<uint32_t>>& left) {
  std::vector<bool> forbids;
  for (uint32_t m = 0; m < problem_.matrices().size(); ++m)
    forbids.push_back(!all_finite(
        problem_.costs(m), size_t{problem_.matrices()[m].rows} * problem_.matrices()[m].cols));
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& e : problem_.edges()) {
      if (left[e.a].empty() || left[e.b].empty()) return false;
      if (!forbids[e.matrix]) continue;
      SHW_RETURN_IF_ERROR(watch_.poll(left[e.a].size() * left[e.b].size()));
      const auto finite = [&](uint32_t x, uint32_t y) {
        return problem_.edge_cost(e, x, y) != kForbidden;
      };
      const size_t dropped =
          std::erase_if(left[e.a],
                        [&](uint32_t x) {
                          return std::ranges::none_of(left[e.b],
                                                      [&](uint32_t y) { return finite(x, y); });
                        }) +
          std::erase_if(left[e.b], [&](uint32_t y) {
            return std::ranges::none_of(left[e.a], [&](uint32_t x) { return finite(x, y); });
          });
      changed |= dropped > 0;
    }
  }
  return std::ranges::none_of(left, [](const auto& list) { return list.empty(); });
}

Result<RestrictedProblem> Trws::restricted(double limit) const {
  RestrictedProblem result;
  std::vector<uint32_t> position;  // of the remaining labels, in the current tables
  std::vector<double> table;
  for (uint32_t v = 0; v < nodes_.size(); ++v) {
    const TrwsNode& node = nodes_[v];
    table.clear();
    for (uint32_t i = 0; i < node.labels; ++i) {
      if (!may_improve(v, i, limit)) continue;
      position.push_back(i);
      result.label.push_back(labels(v)[i]);
      table.push_back(is_folded(v) ? fold_costs(v)[i] : node.unary[i]);
      for (uint32_t a = node.first_arc; a < node.end_arc; ++a) table.back() += arcs_[a].in[i];
    }
    result.problem.add_variable(table);
  }
  const auto positions = [&](uint32_t v) {
    return std::span(position).subspan(result.problem.first_label(v), result.problem.num_labels(v));
  };
  for (uint32_t v = 0; v < nodes_.size(); ++v) {
    for (uint32_t a = nodes_[v].first_later_arc; a < nodes_[v].end_arc; ++a) {
      const TrwsArc& arc = arcs_[a];
      const auto rows = positions(v), cols = positions(arc.other);
      table.resize(rows.size() * cols.size());
      SHW_RETURN_IF_ERROR(watch_.poll(10 * table.size()));
      double* to = table.data();
      for (const uint32_t i : rows) {
        const double* from = arc.matrix + size_t{i} * arc.other_stride;
        for (const uint32_t j : cols) *to++ = from[j] - arc.in[i] - arc.out[j];
      }
      result.problem.add_edge(v, arc.other,
                              result.problem.add_matrix(static_cast<uint32_t>(rows.size()),
                                                        static_cast<uint32_t>(cols.size()), table));
    }
  }
  add_fold_edges(position, result);
  return result;
}

}  // namespace shw::solver
