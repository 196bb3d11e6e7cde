// Shapes of attention over keys and values in pages (sdpa_paged): query [batch, heads, queries,
// width], pages [pages, page_size, key heads, width], page table [batch, pages per batch row],
// lengths [batch].
#pragma once
#include "runtime/attention_shape.h"

namespace shw::runtime {

struct PagedShape {
  int64_t batch, heads, key_heads, queries, width, value_width;
  int64_t pages, page_size, row_pages;
  double scale;
  KeyWindow window;  // by positions; unbounded: reaches all of a row's keys

  int64_t group() const { return heads / std::max<int64_t>(1, key_heads); }
  // The number of keys that a row of the page table can hold.
  int64_t capacity() const { return row_pages * page_size; }
  // An upper bound of the number of keys that the queries of one batch row see together; the last
  // of them is the last query's own key.
  int64_t most_keys() const { return std::min(capacity(), queries + window.left); }
};

// Requires exactly the five inputs query, key_pages, value_pages, page_table, lengths.
Result<PagedShape> paged_shape(const KernelArgs& args);

}  // namespace shw::runtime
