// Layouts and lists of layouts, each stored once and identified by a 32-bit id. Nodes of repeated
// regions share them, so pricing recognises a known cost matrix by two integers.
#pragma once
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "sharding/layout.h"
#include "support/index.h"

namespace shw {

using LayoutId = Id<struct LayoutTag>;
using LayoutListId = Id<struct LayoutListTag>;  // one layout per strategy

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
