#include "solver/fold_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "solver/adjacency.h"
#include "solver/memo.h"
#include "support/hash.h"

namespace shw::solver {
namespace {

constexpr uint32_t kNowhere = UINT32_MAX;
constexpr int kRadius = 2;           // in edges: the neighbourhood that is compared
constexpr size_t kFewestLayers = 6;  // that justify a search
constexpr size_t kTries = 4;         // of classes of variables

// A hash of an edge as seen from one end, without the identity of the other end.
uint64_t look_of(const PlacementProblem& problem, uint32_t v, const Adjacency::Arc& arc) {
  const auto& e = problem.edges()[arc.edge];
  const bool by_rows = (e.a == v) == (e.transposed == 0);
  return uint64_t{e.matrix} << 2 | uint64_t{by_rows} << 1 | uint64_t{arc.other < v};
}

// The map from each variable to the corresponding one in the next layer.
class Shift {
 public:
  explicit Shift(const PlacementProblem& problem)
      : problem_(problem), adjacency_(problem), looks_(problem.num_variables()) {
    look();
  }

  // False: no layers repeat.
  bool find() {
    std::map<uint64_t, std::vector<uint32_t>> classes;
    for (uint32_t v = 0; v < looks_.size(); ++v) classes[looks_[v]].push_back(v);
    std::vector<std::pair<size_t, uint32_t>> order;  // small classes first: one of each layer
    for (const auto& [look, members] : classes)
      if (members.size() >= kFewestLayers) order.push_back({members.size(), members.front()});
    std::ranges::sort(order);
    for (size_t i = 0; i < std::min(order.size(), kTries); ++i) {
      const std::vector<uint32_t>& members = classes[looks_[order[i].second]];
      if (follow(members[members.size() / 2 - 1], members[members.size() / 2])) return true;
    }
    return false;
  }

  uint32_t next(uint32_t v) const { return next_[v]; }
  uint32_t previous(uint32_t v) const { return previous_[v]; }
  uint32_t seed() const { return seed_; }  // a variable in the middle
  const Adjacency& adjacency() const { return adjacency_; }

 private:
  void look() {
    for (uint32_t v = 0; v < looks_.size(); ++v) looks_[v] = hash_span(problem_.unary(v));
    for (int i = 0; i < kRadius; ++i) {
      std::vector<uint64_t> wider(looks_.size()), around;
      for (uint32_t v = 0; v < looks_.size(); ++v) {
        around.assign(1, looks_[v]);
        for (const Adjacency::Arc& arc : adjacency_.of(v)) around.push_back(look_at(v, arc));
        std::ranges::sort(around.begin() + 1, around.end());
        wider[v] = hash_span(std::span<const uint64_t>(around));
      }
      looks_.swap(wider);
    }
  }
  uint64_t look_at(uint32_t v, const Adjacency::Arc& arc) const {
    return hash_combine(look_of(problem_, v, arc), looks_[arc.other]);
  }

  // Extends the map along the edges of a variable and its counterpart. False: contradiction.
  bool follow(uint32_t from, uint32_t to) {
    next_.assign(looks_.size(), kNowhere);
    previous_.assign(looks_.size(), kNowhere);
    seed_ = from;
    next_[from] = to, previous_[to] = from;
    std::vector<uint32_t> open{from};
    while (!open.empty()) {
      const uint32_t v = open.back();
      open.pop_back();
      const auto mine = neighbours(v), its = neighbours(next_[v]);
      for (size_t i = 0, j = 0; i < mine.size(); ++i) {
        while (j < its.size() && its[j].first < mine[i].first) ++j;
        if (j == its.size() || !is_only(mine, i) || its[j].first != mine[i].first ||
            !is_only(its, j))
          continue;
        const uint32_t x = mine[i].second, y = its[j].second;
        if (next_[x] == y) continue;
        if (next_[x] != kNowhere || previous_[y] != kNowhere) return false;
        next_[x] = y, previous_[y] = x;
        if (x != y) open.push_back(x);
      }
    }
    return true;
  }

  using Neighbour = std::pair<uint64_t, uint32_t>;  // what it looks like, and which it is
  std::vector<Neighbour> neighbours(uint32_t v) const {
    std::vector<Neighbour> list;
    for (const Adjacency::Arc& arc : adjacency_.of(v)) list.push_back({look_at(v, arc), arc.other});
    std::ranges::sort(list);
    return list;
  }
  static bool is_only(std::span<const Neighbour> list, size_t i) {
    return (i == 0 || list[i - 1].first != list[i].first) &&
           (i + 1 == list.size() || list[i + 1].first != list[i].first);
  }

  const PlacementProblem& problem_;
  const Adjacency adjacency_;
  std::vector<uint64_t> looks_;
  std::vector<uint32_t> next_, previous_;
  uint32_t seed_ = kNowhere;
};

// Numbers the layers.
class Layers {
 public:
  static constexpr int32_t kNoLayer = INT32_MIN;

  Layers(const Shift& shift, uint32_t num_variables)
      : shift_(shift), chain_(num_variables, kNowhere), at_(num_variables, kNoLayer) {
    for (uint32_t v = 0; v < num_variables; ++v) add_chain(v);
    number();
  }

  // The first and the last layer that all chains have; none if first > last.
  std::pair<int32_t, int32_t> common() const {
    std::pair<int32_t, int32_t> range{INT32_MIN, INT32_MAX};
    for (const std::vector<uint32_t>& chain : chains_) {
      if (at_[chain.front()] == kNoLayer) continue;
      range = {std::max(range.first, at_[chain.front()]),
               std::min(range.second, at_[chain.back()])};
    }
    return range;
  }
  int32_t of(uint32_t v) const { return at_[v]; }  // kNoLayer: in none
  // The corresponding variable `by` layers further; kNowhere: there is none.
  uint32_t moved(uint32_t v, int32_t by) const {
    if (at_[v] == kNoLayer) return v;
    const std::vector<uint32_t>& chain = chains_[chain_[v]];
    const int64_t i = int64_t{at_[v]} - at_[chain.front()] + by;
    return i < 0 || i >= std::ssize(chain) ? kNowhere : chain[static_cast<size_t>(i)];
  }

 private:
  void add_chain(uint32_t first) {
    if (shift_.previous(first) != kNowhere || shift_.next(first) == kNowhere) return;
    std::vector<uint32_t> chain;
    for (uint32_t v = first; v != kNowhere; v = shift_.next(v)) {
      chain_[v] = static_cast<uint32_t>(chains_.size());
      chain.push_back(v);
    }
    chains_.push_back(std::move(chain));
  }

  // Neighbours belong to the same layer unless an edge leads to another one. Short chains belong to
  // no layers.
  void number() {
    const uint32_t first = chain_[shift_.seed()];
    if (first == kNowhere) return;
    const size_t least = chains_[first].size() / 2;
    std::vector<uint32_t> open;
    const auto set = [&](uint32_t chain, int32_t layer) {
      for (const uint32_t v : chains_[chain]) at_[v] = layer++;
      open.push_back(chain);
    };
    set(first, 0);
    while (!open.empty()) {
      const std::vector<uint32_t>& chain = chains_[open.back()];
      open.pop_back();
      for (const uint32_t v : chain)
        for (const Adjacency::Arc& arc : shift_.adjacency().of(v)) {
          const uint32_t other = chain_[arc.other];
          if (other == kNowhere || at_[arc.other] != kNoLayer || chains_[other].size() < least)
            continue;
          const auto position = std::ranges::find(chains_[other], arc.other);
          set(other, at_[v] - static_cast<int32_t>(position - chains_[other].begin()));
        }
    }
  }

  const Shift& shift_;
  std::vector<std::vector<uint32_t>> chains_;  // of likes
  std::vector<uint32_t> chain_;                // by variable; kNowhere: in none
  std::vector<int32_t> at_;
};

// Removes the layers from `first` to `last`.
class Folder {
 public:
  Folder(const PlacementProblem& problem, const Layers& layers, int32_t first, int32_t last)
      : problem_(problem), layers_(layers), first_(first), last_(last) {}

  std::optional<FoldedLayers> run() {
    FoldedLayers out{problem_.without_variables(), {}, {}};
    out.variable.assign(problem_.num_variables(), kNowhere);
    for (uint32_t v = 0; v < problem_.num_variables(); ++v)
      if (!is_left_out(v)) out.variable[v] = out.problem.add_variable(problem_.unary(v));
    for (uint32_t v = 0; v < problem_.num_variables(); ++v) {
      if (!is_left_out(v)) continue;
      out.variable[v] = out.variable[layers_.moved(v, first_ - 1 - layers_.of(v))];
      // Variables were matched by hashes of their neighbourhoods, so they may still differ.
      if (problem_.num_labels(v) != out.problem.num_labels(out.variable[v])) return std::nullopt;
    }
    if (!fold_edges(out)) return std::nullopt;
    return out;
  }

 private:
  bool is_left_out(uint32_t v) const { return layers_.of(v) >= first_ && layers_.of(v) <= last_; }
  bool is_before(uint32_t v) const {
    return layers_.of(v) != Layers::kNoLayer && layers_.of(v) < first_;
  }

  bool fold_edges(FoldedLayers& out) {
    const auto edges = problem_.edges();
    Memo by_ends;
    out.edge.assign(edges.size(), kNowhere);
    for (uint32_t i = 0; i < edges.size(); ++i) {
      const auto& e = edges[i];
      by_ends.at(e.a, e.b) = i;
      uint32_t a = e.a, b = e.b;
      // An edge from the layers before into the removed ones is redirected to the layers after
      // them.
      if (is_before(a) && is_left_out(b)) b = layers_.moved(b, last_ - first_ + 1);
      if (is_before(b) && is_left_out(a)) a = layers_.moved(a, last_ - first_ + 1);
      if (a == kNowhere || b == kNowhere) return false;
      if (is_left_out(a) || is_left_out(b)) continue;
      out.edge[i] = static_cast<uint32_t>(out.problem.edges().size());
      out.problem.add_edge(out.variable[a], out.variable[b], e.matrix, e.transposed != 0);
    }
    for (uint32_t i = 0; i < edges.size(); ++i) {
      if (out.edge[i] != kNowhere) continue;
      const auto& e = edges[i];
      const int32_t a = layers_.of(e.a), b = layers_.of(e.b);
      const int32_t least = a == Layers::kNoLayer ? b : b == Layers::kNoLayer ? a : std::min(a, b);
      const uint32_t x = layers_.moved(e.a, first_ - 1 - least),
                     y = layers_.moved(e.b, first_ - 1 - least);
      if (x == kNowhere || y == kNowhere) return false;
      const uint32_t like = by_ends.at(x, y);
      if (like == kNowhere || out.edge[like] == kNowhere || edges[like].matrix != e.matrix ||
          edges[like].transposed != e.transposed)
        return false;
      out.edge[i] = out.edge[like];
    }
    return true;
  }

  const PlacementProblem& problem_;
  const Layers& layers_;
  const int32_t first_, last_;
};

}  // namespace

std::optional<FoldedLayers> fold_layers(const PlacementProblem& problem, uint32_t margin) {
  Shift shift(problem);
  if (!shift.find()) return std::nullopt;
  const Layers layers(shift, problem.num_variables());
  const auto [first, last] = layers.common();
  const int64_t from = int64_t{first} + margin, to = int64_t{last} - margin;
  if (first == INT32_MIN || from > to) return std::nullopt;
  std::optional<FoldedLayers> folding =
      Folder(problem, layers, static_cast<int32_t>(from), static_cast<int32_t>(to)).run();
  if (folding && 2 * edge_cells(folding->problem) > edge_cells(problem)) return std::nullopt;
  return folding;
}

}  // namespace shw::solver
