#include "strategy/layout_pool.h"

#include <algorithm>

#include "support/hash.h"

namespace shw {

LayoutId LayoutPool::add(const Layout& layout) {
  const uint64_t h = hash_of(layout);
  const auto [first, last] = layout_by_hash_.equal_range(h);
  for (auto it = first; it != last; ++it)
    if (layouts_[it->second.v] == layout) return it->second;
  const LayoutId id{static_cast<uint32_t>(layouts_.size())};
  layouts_.push_back(layout);
  layout_by_hash_.emplace(h, id);
  return id;
}

LayoutListId LayoutPool::add_list(std::span<const LayoutId> list) {
  const uint64_t h = hash_span(list, list.size());
  const auto [first, last] = list_by_hash_.equal_range(h);
  for (auto it = first; it != last; ++it)
    if (std::ranges::equal(lists_[it->second.v], list)) return it->second;
  const LayoutListId id{static_cast<uint32_t>(lists_.size())};
  lists_.emplace_back(list.begin(), list.end());
  list_by_hash_.emplace(h, id);
  return id;
}

}  // namespace shw
