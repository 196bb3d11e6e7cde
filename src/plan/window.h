// The bytes of its storage that a value touches.
#pragma once
#include <cstdint>

#include "plan/program.h"

namespace shw {

// Bytes [first, last) of a storage; empty if there are no elements.
struct ByteRange {
  int64_t first = 0, last = 0;
  bool empty() const { return first >= last; }
  bool meets(const ByteRange& o) const { return first < o.last && o.first < last; }
  bool operator==(const ByteRange&) const = default;
};

// The range from the first element to the last, including gaps between strided elements.
inline ByteRange touched_bytes(const ProgramValue& v) {
  int64_t last_element = 0;
  for (size_t d = 0; d < v.type.shape.size(); ++d) {
    if (v.type.shape[d] == 0) return {};
    last_element += (v.type.shape[d] - 1) * v.type.strides[d];
  }
  return {v.offset_bytes, v.offset_bytes + (last_element + 1) * dtype_size(v.type.dtype)};
}

}  // namespace shw
