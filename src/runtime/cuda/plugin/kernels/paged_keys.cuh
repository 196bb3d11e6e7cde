// Keys and values of attention in pages: where a key lies, by the page table. What the table or a
// length says wrongly is reported, and read nowhere.
#pragma once
#include "attention_parts.cuh"

namespace shw::runtime::cuda {

struct PagedKeys {
  const void *table, *lengths;
  DeviceError* error;
  const PageArguments& p;

  // The page that the table says for page number `i` of a row; 0 in place of one that there is not.
  __device__ i64 page(i64 b, i64 i) const {
    const i64 at = b * p.table_stride[0] + i * p.table_stride[1];
    const i64 said = load<Int>(table, at, p.table_dtype).v;
    if (said >= 0 && said < p.pages) return said;
    report(error, p.step, said, p.pages);
    return 0;
  }

  __device__ KeySpan seen(const AttentionArguments& a, i64 b, i64 query) const {
    const i64 length = load<Int>(lengths, b * p.length_stride, p.length_dtype).v;
    const i64 capacity = p.row_pages * p.page_size;
    if (length < 0 || length > capacity) {
      report(error, p.step, length, capacity);
      return {0, 0};
    }
    const i64 position = length - a.queries + query;
    if (position < 0) return {0, 0};
    if (p.pages == 0) {
      (void)page(b, position / p.page_size);
      return {0, 0};
    }
    return both({0, length}, {position - a.left, position + a.right + 1});
  }
  // `w`: strides of a page, of a head, of a place in a page, and of an element.
  __device__ i64 offset(const HeadWindow& w, i64 b, i64 head, i64 key) const {
    return head_offset(w, page(b, key / p.page_size), head, key % p.page_size);
  }
};

}  // namespace shw::runtime::cuda
