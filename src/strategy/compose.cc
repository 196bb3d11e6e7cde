#include "strategy/compose.h"

#include <algorithm>

namespace shw {
namespace {

// sum and avg may mix in one layout; any other two partials must be equal.
bool partials_mix(Placement a, Placement b) {
  if (a == b) return true;
  const auto additive = [](Placement p) {
    return p.kind == Placement::Kind::kPartial &&
           (p.reduce_op() == ReduceOp::kSum || p.reduce_op() == ReduceOp::kAvg);
  };
  return additive(a) && additive(b);
}

uint8_t bit_of(Placement p) {
  return static_cast<uint8_t>(p.kind == Placement::Kind::kMasked ? 0x80 : 1u << p.arg);
}

struct Rule {
  std::vector<Placement> placement;
  bool even = false;  // blocks of equal size only
};

// Removes duplicates: equal rules would yield equal strategies.
std::vector<Rule> distinct_rules(const RuleSet& rules, Rules mode) {
  std::vector<Rule> distinct;
  const Rule replicate{std::vector<Placement>(rules.width(), Placement::replicate())};
  if (!rules.replicate_last()) distinct.push_back(replicate);
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto rule = rules.rule(i);
    const auto results = rule.first(rules.num_results());
    // An average of averages is the average only if the blocks have equal size.
    const bool even = mode == Rules::kFull &&
                      (rules.blocks(i) == Blocks::kEven ||
                       std::ranges::count(results, Placement::partial(ReduceOp::kAvg)) > 0);
    const auto known = std::ranges::find_if(
        distinct, [&](const Rule& d) { return std::ranges::equal(d.placement, rule); });
    if (known == distinct.end())
      distinct.push_back({{rule.begin(), rule.end()}, even});
    else
      known->even = known->even && even;
  }
  if (rules.replicate_last()) distinct.push_back(replicate);
  return distinct;
}

// Depth-first over the mesh dims, so that a combination is dropped at the first mesh dim that
// violates a condition. The remaining order is that of the full product with mesh dim 0 varying
// slowest.
class Composer {
 public:
  using RuleList = std::vector<const Rule*>;
  Composer(std::span<const RuleList> rules, std::span<const Dims* const> shapes, const Mesh& mesh,
           Rules mode, StrategyTable& out)
      : rules_(rules), shapes_(shapes), mesh_(mesh), mode_(mode), out_(out), row_(shapes.size()) {
    left_.resize(static_cast<size_t>(mesh.rank()) + 1);
    for (auto& level : left_) level.resize(shapes.size());
    for (size_t k = 0; k < shapes.size(); ++k)
      if (shapes[k]) left_[0][k] = *shapes[k];
  }

  void run(int m) {
    if (m == mesh_.rank()) {
      out_.rows.insert(out_.rows.end(), row_.begin(), row_.end());
      return;
    }
    for (const Rule* rule : rules_[static_cast<size_t>(m)]) {
      if (!apply(m, rule->placement, rule->even)) continue;
      run(m + 1);
    }
    for (Layout& l : row_) l[m] = Placement::replicate();
  }

 private:
  bool apply(int m, std::span<const Placement> rule, bool even) {
    const auto level = static_cast<size_t>(m);
    for (size_t k = 0; k < row_.size(); ++k) {
      row_[k][m] = rule[k];
      left_[level + 1][k] = left_[level][k];
      if (shapes_[k] == nullptr) continue;
      if (rule[k].is_strided() || (rule[k].is_shard() && row_[k].has_strided())) {
        if (!is_evenly_sharded(*shapes_[k], row_[k], mesh_)) return false;
      } else if (rule[k].is_shard()) {
        int64_t& size = left_[level + 1][k][static_cast<size_t>(rule[k].dim())];
        const int64_t n = mesh_.size(m);
        if (size < n || (even && size % n != 0)) return false;
        size = (size + n - 1) / n;
      } else if (rule[k].is_partial()) {
        if (mode_ == Rules::kFull && rule[k].kind == Placement::Kind::kMasked) return false;
        for (int e = 0; e < m; ++e)
          if (row_[k][e].is_partial() && !partials_mix(row_[k][e], rule[k])) return false;
      }
    }
    return true;
  }

  std::span<const RuleList> rules_;  // per mesh dim
  std::span<const Dims* const> shapes_;
  const Mesh& mesh_;
  Rules mode_;
  StrategyTable& out_;
  std::vector<Layout> row_;
  std::vector<std::vector<Dims>> left_;  // per mesh dim: sizes that remain to be cut
};

}  // namespace

bool is_legal(const Layout& layout, const Dims& shape, const Mesh& mesh, Rules mode) {
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!layout[m].is_partial()) continue;
    if (mode == Rules::kFull && layout[m].kind == Placement::Kind::kMasked) return false;
    for (int e = 0; e < m; ++e)
      if (layout[e].is_partial() && !partials_mix(layout[e], layout[m])) return false;
  }
  return is_shardable(shape, layout, mesh);
}

void PartialKinds::add(const Layout& layout) {
  for (size_t m = 0; m < on.size(); ++m)
    if (const Placement p = layout.placement[m]; p.is_partial()) on[m] |= bit_of(p);
}

bool PartialKinds::has(int mesh_dim, Placement p) const {
  return (on[static_cast<size_t>(mesh_dim)] & bit_of(p)) != 0;
}

bool PartialKinds::any(int mesh_dim) const { return on[static_cast<size_t>(mesh_dim)] != 0; }

StrategyTable compose(const RuleSet& rules, std::span<const Dims* const> shapes, const Mesh& mesh,
                      Rules mode, std::span<const PartialKinds> produced) {
  const std::vector<Rule> distinct = distinct_rules(rules, mode);
  const auto reachable = [&](std::span<const Placement> rule, int m) {
    for (size_t k = 0; k < produced.size(); ++k) {
      const Placement p = rule[rules.num_results() + k];
      if (p.is_partial() && !(mode == Rules::kFull ? produced[k].has(m, p) : produced[k].any(m)))
        return false;
    }
    return true;
  };
  // On a mesh dim of one rank, all placements are equivalent. The reference planner distinguishes
  // them.
  const auto is_needed = [&](std::span<const Placement> rule, int m) {
    return mode == Rules::kCompat || mesh.size(m) > 1 ||
           std::ranges::all_of(rule, [](Placement p) { return p.is_replicate(); });
  };
  std::vector<Composer::RuleList> usable(static_cast<size_t>(mesh.rank()));
  for (int m = 0; m < mesh.rank(); ++m)
    for (const Rule& rule : distinct)
      if (is_needed(rule.placement, m) && reachable(rule.placement, m))
        usable[static_cast<size_t>(m)].push_back(&rule);
  StrategyTable table{rules.num_results(), rules.num_operands(), {}};
  Composer(usable, shapes, mesh, mode, table).run(0);
  return table;
}

}  // namespace shw
