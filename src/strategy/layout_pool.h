// Layouts and lists of layouts, each stored once and named by a 32-bit id. Nodes of equal regions
// share them, so that pricing can tell by two integers that a cost matrix is known already.
#pragma once
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "sharding/layout.h"
#include "support/index.h"

namespace shw {

using LayoutId = Id<struct LayoutTag>;
using LayoutListId = Id<struct LayoutListTag>;  // one layout a strategy

class LayoutPool {
 public:
  LayoutId add(const Layout& layout);
  LayoutListId add_list(std::span<const LayoutId> list);
  const Layout& layout(LayoutId id) const { return layouts_[id.v]; }
  std::span<const LayoutId> list(LayoutListId id) const { return lists_[id.v]; }
  size_t num_layouts() const { return layouts_.size(); }

 private:
  std::vector<Layout> layouts_;
  std::deque<std::vector<LayoutId>> lists_;
  std::unordered_multimap<uint64_t, LayoutId> layout_by_hash_;
  std::unordered_multimap<uint64_t, LayoutListId> list_by_hash_;
};

}  // namespace shw
