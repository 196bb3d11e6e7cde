// The properties of a value that matter for moving it, and the layouts that such values have.
#pragma once
#include <vector>

#include "sharding/layout.h"

namespace shw {

struct ValueLayouts {
  Dims shape;
  int64_t element_bytes;
  std::vector<Layout> layouts;
};

}  // namespace shw
