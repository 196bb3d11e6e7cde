// Variables that follow from their neighbours, folded into the edges between these (trws.h).
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "solver/trws.h"

namespace shw::solver {
namespace {

constexpr uint32_t kMostFoldedLabels = UINT8_MAX + 1;

uint64_t pair_key(uint32_t a, uint32_t b) {
  const auto [first, second] = std::minmax(a, b);
  return uint64_t{first} << 32 | second;
}

uint32_t other_end(const PlacementProblem::Edge& e, uint32_t v) { return e.a == v ? e.b : e.a; }

// By label of one end of an edge, the set of labels of the other end, `of`, that are allowed with
// it at no cost. nullopt: some allowed pair has a cost.
class FreePairs {
 public:
  static std::optional<FreePairs> create(const PlacementProblem& p, const PlacementProblem::Edge& e,
                                         uint32_t of) {
    const uint32_t end = other_end(e, of), words = (p.num_labels(of) + 63) / 64;
    FreePairs pairs(words, p.num_labels(end));
    for (uint32_t x = 0; x < p.num_labels(end); ++x)
      for (uint32_t l = 0; l < p.num_labels(of); ++l) {
        const double cost = p.edge_cost(e, e.a == end ? x : l, e.a == end ? l : x);
        if (cost == kForbidden) continue;
        if (cost != 0) return std::nullopt;
        pairs.bits_[size_t{x} * words + l / 64] |= uint64_t{1} << l % 64;
      }
    return pairs;
  }

  // The only label that costs nothing with both; nullopt: there is none, or there are several.
  std::optional<uint32_t> common(uint32_t x, const FreePairs& other, uint32_t y) const {
    std::optional<uint32_t> label;
    for (uint32_t w = 0; w < words_; ++w) {
      const uint64_t both = bits_[size_t{x} * words_ + w] & other.bits_[size_t{y} * words_ + w];
      if (both == 0) continue;
      if (label || !std::has_single_bit(both)) return std::nullopt;
      label = 64 * w + static_cast<uint32_t>(std::countr_zero(both));
    }
    return label;
  }

 private:
  FreePairs(uint32_t words, uint32_t labels) : words_(words), bits_(size_t{words} * labels) {}

  uint32_t words_;
  std::vector<uint64_t> bits_;
};

}  // namespace

// Finds the variables with two neighbours that share an edge, such that each pair of the
// neighbours' labels allows exactly one label, at no cost of the two edges. If a pair allowed no
// label, folding would forbid that pair, and a label might lose its last partner.
Status Trws::find_folds() {
  if (folding_ == Folds::kNo) return {};
  const auto edges = problem_.edges();
  const uint32_t n = problem_.num_variables();
  std::vector<std::array<uint32_t, 2>> own(n, {kNone, kNone});
  std::vector<uint32_t> degree(n, 0);
  std::unordered_map<uint64_t, uint32_t> between;  // looked up only
  for (uint32_t i = 0; i < edges.size(); ++i) {
    for (const uint32_t v : {edges[i].a, edges[i].b})
      if (degree[v]++ < 2) own[v][degree[v] - 1] = i;
    between.emplace(pair_key(edges[i].a, edges[i].b), i);
  }
  is_folded_.assign(n, 0);
  is_fold_edge_.assign(edges.size(), 0);
  std::vector<uint8_t> is_end(n, 0);
  std::map<std::array<uint32_t, 4>, uint32_t> known;  // maps, by the tables that they come from
  for (uint32_t v = n; v-- > 0;) {
    if (degree[v] != 2 || is_end[v] || problem_.num_labels(v) > kMostFoldedLabels) continue;
    uint32_t first = own[v][0], second = own[v][1];
    if (other_end(edges[first], v) > other_end(edges[second], v)) std::swap(first, second);
    const uint32_t a = other_end(edges[first], v), b = other_end(edges[second], v);
    const auto edge = between.find(pair_key(a, b));
    if (a == b || is_folded_[a] || is_folded_[b] || edge == between.end()) continue;
    const auto side = [&](uint32_t e) {
      return uint32_t{(edges[e].a == v) != (edges[e].transposed != 0)};
    };
    const auto [at, is_new] = known.try_emplace(
        {edges[first].matrix, side(first), edges[second].matrix, side(second)}, kNone);
    Fold fold{v, edge->second, first, second, at->second};
    if (is_new) {
      SHW_ASSIGN_OR_RETURN(FoldMap map, map_of(fold));
      if (!map.label.empty()) {
        fold.map = at->second = static_cast<uint32_t>(maps_.size());
        maps_.push_back(std::move(map));
      }
    }
    if (fold.map == kNone) continue;
    folds_.push_back(fold);
    is_folded_[v] = is_end[a] = is_end[b] = 1;
    is_fold_edge_[first] = is_fold_edge_[second] = 1;
  }
  if (folds_.empty()) is_folded_.clear(), is_fold_edge_.clear();
  std::ranges::sort(folds_, {}, [](const Fold& f) { return std::pair(f.edge, f.variable); });
  return {};
}

// Empty: the labels of the neighbours do not determine the variable's.
Result<Trws::FoldMap> Trws::map_of(const Fold& fold) const {
  const auto& to_first = problem_.edges()[fold.to_first];
  const auto& to_second = problem_.edges()[fold.to_second];
  const uint32_t x_end = problem_.num_labels(other_end(to_first, fold.variable));
  const uint32_t y_end = problem_.num_labels(other_end(to_second, fold.variable));
  const uint32_t labels = problem_.num_labels(fold.variable);
  SHW_RETURN_IF_ERROR(watch_.poll(uint64_t{x_end} * y_end + (x_end + y_end) * labels));
  FoldMap map;
  const auto first = FreePairs::create(problem_, to_first, fold.variable);
  if (!first) return map;
  const auto second = FreePairs::create(problem_, to_second, fold.variable);
  if (!second) return map;
  const uint32_t x_stride = padded(x_end), y_stride = padded(y_end);
  map.label.assign(size_t{x_end} * y_stride, 0);
  map.reverse.assign(size_t{y_end} * x_stride, 0);
  for (uint32_t x = 0; x < x_end; ++x)
    for (uint32_t y = 0; y < y_end; ++y) {
      const auto label = first->common(x, *second, y);
      if (!label) return FoldMap{};
      map.label[size_t{x} * y_stride + y] = static_cast<uint8_t>(*label);
      map.reverse[size_t{y} * x_stride + x] = static_cast<uint8_t>(*label);
    }
  return map;
}

// Moves the costs of folded variables to their edges.
void Trws::attach_folds(std::span<const ArcsOfEdge> arcs) {
  if (folds_.empty()) return;
  fold_costs_.assign(problem_.first_label(problem_.num_variables()), 0);
  arc_folds_.clear();
  arc_folds_.reserve(2 * folds_.size());
  for (size_t i = 0, end = 0; i < folds_.size(); i = end) {
    while (end < folds_.size() && folds_[end].edge == folds_[i].edge) ++end;
    const auto& edge = problem_.edges()[folds_[i].edge];
    const ArcsOfEdge& ends = arcs[folds_[i].edge];
    for (const bool is_first : {true, false}) {  // the end that is swept first
      const uint32_t at = is_first == (edge.a < edge.b) ? ends.a : ends.b;
      arcs_[at].folds = arc_folds_.data() + arc_folds_.size();
      arcs_[at].num_folds = static_cast<uint32_t>(end - i);
      for (size_t f = i; f < end; ++f) {
        const FoldMap& map = maps_[folds_[f].map];
        const uint32_t v = folds_[f].variable;
        arc_folds_.push_back({(is_first ? map.label : map.reverse).data(),
                              (is_first ? map.reverse : map.label).data(), fold_costs(v), v});
        folded_cells_ = std::max({folded_cells_, map.label.size(), map.reverse.size()});
      }
    }
  }
  for (const Fold& fold : folds_) {
    const TrwsNode& node = nodes_[fold.variable];
    double* unary = unary_.get() + (node.unary - unary_.get());
    std::copy_n(unary, node.labels, fold_costs(fold.variable));
    std::fill_n(unary, node.labels, 0.0);
  }
  find_paying_folds();
}

// Copies have a cost only if a budget has a price where they are live. More than half of them have
// none.
void Trws::find_paying_folds() {
  if (folds_.empty()) return;
  const auto pays = [&](const TrwsFold& fold) {
    return std::any_of(fold.costs, fold.costs + nodes_[fold.variable].labels,
                       [](double cost) { return cost != 0; });
  };
  for (TrwsArc& arc : arcs_)
    arc.num_paying = static_cast<uint32_t>(
        std::stable_partition(arc.folds, arc.folds + arc.num_folds, pays) - arc.folds);
}

// The labels of folded variables in the sweep's labelling.
void Trws::decode_folds() {
  for (const Fold& fold : folds_) {
    const uint32_t x = decoded_[other_end(problem_.edges()[fold.to_first], fold.variable)];
    const uint32_t second = other_end(problem_.edges()[fold.to_second], fold.variable);
    decoded_[fold.variable] =
        maps_[fold.map].label[size_t{x} * nodes_[second].stride + decoded_[second]];
  }
}

void Trws::add_fold_edges(std::span<const uint32_t> position, RestrictedProblem& result) const {
  PlacementProblem& p = result.problem;
  std::vector<double> table;
  for (const Fold& fold : folds_)
    for (const uint32_t i : {fold.to_first, fold.to_second}) {
      const auto& e = problem_.edges()[i];
      table.clear();
      for (uint32_t x = 0; x < p.num_labels(e.a); ++x)
        for (uint32_t y = 0; y < p.num_labels(e.b); ++y)
          table.push_back(problem_.edge_cost(e, position[p.first_label(e.a) + x],
                                             position[p.first_label(e.b) + y]));
      p.add_edge(e.a, e.b, p.add_matrix(p.num_labels(e.a), p.num_labels(e.b), table));
    }
}

}  // namespace shw::solver
