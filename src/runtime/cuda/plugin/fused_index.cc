#include "runtime/cuda/plugin/fused_index.h"

#include <algorithm>
#include <numeric>

namespace shw::runtime::cuda {

Index operator+(Index a, const Index& b) {
  a.constant += b.constant;
  for (const auto& [variable, factor] : b.factors) a.factors[variable] += factor;
  return a;
}

Index operator*(Index a, int64_t factor) {
  if (factor == 0) return {};
  a.constant *= factor;
  for (auto& item : a.factors) item.second *= factor;
  return a;
}

bool is_multiple(const Index& index, int64_t of) {
  return index.constant % of == 0 &&
         std::ranges::all_of(index.factors, [&](const auto& f) { return f.second % of == 0; });
}

std::pair<int64_t, Index> take_out(Index index, int variable) {
  const auto found = index.factors.find(variable);
  const int64_t factor = found == index.factors.end() ? 0 : found->second;
  if (factor != 0) index.factors.erase(found);
  return {factor, std::move(index)};
}

Index IndexSpace::variable(std::string name, int64_t limit, size_t depth) {
  if (limit <= 1) return {};
  variables_.push_back({std::move(name), limit, depth});
  return {{{static_cast<int>(variables_.size()) - 1, 1}}, 0};
}

size_t IndexSpace::depth(const Index& index) const {
  size_t depth = 0;
  for (const auto& item : index.factors)
    depth = std::max(depth, variables_[static_cast<size_t>(item.first)].depth);
  return depth;
}

int64_t IndexSpace::most(const Index& index) const {
  int64_t most = index.constant;
  for (const auto& [variable, factor] : index.factors)
    most += factor * (variables_[static_cast<size_t>(variable)].limit - 1);
  return most;
}

std::string IndexSpace::text(const Index& index) const {
  std::string text;
  for (const auto& [variable, factor] : index.factors) {
    if (!text.empty()) text += " + ";
    if (factor != 1) text += number(factor) + " * ";
    text += variables_[static_cast<size_t>(variable)].name;
  }
  if (text.empty()) return number(index.constant);
  return index.constant == 0 ? text : text + " + " + number(index.constant);
}

IndexSpace::Division IndexSpace::divide(const Index& index, int64_t by) const {
  Division d;
  Index left;
  d.quotient.constant = index.constant / by;
  left.constant = index.constant % by;
  for (const auto& [variable, factor] : index.factors) {
    if (factor / by != 0) d.quotient.factors[variable] = factor / by;
    if (factor % by != 0) left.factors[variable] = factor % by;
  }
  // Terms whose sum is below the common factor of all other terms cause no carry; examples are the
  // part of a pair, or the position in a pack. As many such terms as possible are kept out of the
  // division.
  std::vector<std::pair<int64_t, int>> terms;  // factor, variable
  for (const auto& [variable, factor] : left.factors) terms.emplace_back(factor, variable);
  std::ranges::sort(terms);
  for (size_t out = terms.size();; --out) {
    d.scale = by;
    d.rest = {};
    for (size_t t = 0; t < terms.size(); ++t)
      if (t < out)
        d.rest.factors[terms[t].second] = terms[t].first;
      else
        d.scale = std::gcd(d.scale, terms[t].first);
    d.rest.constant = left.constant % d.scale;
    if (most(d.rest) < d.scale) break;  // true at the latest when only the constant is left
  }
  d.inner.constant = left.constant / d.scale;
  for (const auto& [variable, factor] : left.factors)
    if (!d.rest.factors.contains(variable)) d.inner.factors[variable] = factor / d.scale;
  d.inner_by = by / d.scale;
  d.done = most(d.inner) < d.inner_by;
  return d;
}

}  // namespace shw::runtime::cuda
