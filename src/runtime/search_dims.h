// The dims that a search for the largest or smallest element reduces, and those that it keeps.
#pragma once
#include <array>

#include "runtime/step_args.h"

namespace shw::runtime {

// The kept dims, with strides in the input and both results; and the searched dims.
struct Search {
  Dims kept, searched;
  std::array<Dims, 3> kept_strides;  // input, value, place
  std::array<Dims, 1> searched_strides;
};
// From the attributes dim (absent: all dims) and keepdim. `results`: the value and its index; null:
// absent.
Result<Search> search_of(const KernelArgs& args, const std::array<const TensorType*, 2>& results);

}  // namespace shw::runtime
