// A type of value, as far as moving it goes, and layouts that values of it have.
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
