#include "strategy/strided_rules.h"

#include <algorithm>
#include <set>

namespace shw {
namespace {

// The size of the dim that every shard of the rule cuts. nullopt: none is cut, sizes differ, or the
// rule is a masked look-up, for which positions matter.
std::optional<int64_t> sharded_size(std::span<const Placement> rule,
                                    std::span<const Dims* const> shapes) {
  std::optional<int64_t> size;
  for (size_t i = 0; i < rule.size(); ++i) {
    if (rule[i].kind == Placement::Kind::kMasked) return std::nullopt;
    if (shapes[i] == nullptr || !rule[i].is_shard()) continue;
    const int64_t here = (*shapes[i])[static_cast<size_t>(rule[i].dim())];
    if (size && *size != here) return std::nullopt;
    size = here;
  }
  return size;
}

}  // namespace

const Factors& StridedFactors::of(LayoutListId list, const LayoutPool& pool) {
  const auto [it, is_new] = by_list_.try_emplace(list.v);
  if (!is_new) return it->second;
  std::set<std::pair<int, int64_t>> found;
  for (LayoutId id : pool.list(list))
    for (const Placement& p : pool.layout(id).placement)
      if (p.is_strided()) found.emplace(p.dim(), p.factor());
  for (const auto& [dim, factor] : found) it->second.push_back(Placement::strided(dim, factor));
  return it->second;
}

void add_strided_rules(const SeenFactors& seen, std::span<const Dims* const> shapes,
                       RuleSet& rules) {
  const size_t plain = rules.size(), results = rules.num_results();
  for (size_t i = 0; i < plain; ++i) {
    const std::vector<Placement> rule(rules.rule(i).begin(), rules.rule(i).end());
    const auto size = sharded_size(rule, shapes);
    if (!size) continue;
    std::set<int64_t> factors;
    for (size_t k = 0; k < seen.size(); ++k)
      for (const Placement& s : seen[k])
        if (rule[results + k].is_shard(s.dim()) && *size % s.factor() == 0)
          factors.insert(s.factor());
    for (const int64_t factor : factors) {
      std::vector<Placement> strided = rule;
      for (Placement& p : strided)
        if (p.is_shard()) p = Placement::strided(p.dim(), factor);
      rules.add(std::span(strided).first(results), std::span(strided).subspan(results));
    }
  }
}

}  // namespace shw
