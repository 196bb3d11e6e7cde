// Which dims a search for the largest or smallest element walks, and which stay.
#pragma once
#include <array>

#include "runtime/step_args.h"

namespace shw::runtime {

// Dims that stay, with strides in the input and both results; dims that are searched.
struct Search {
  Dims kept, searched;
  std::array<Dims, 3> kept_strides;  // input, value, place
  std::array<Dims, 1> searched_strides;
};
// By attributes dim (absent: all), keepdim. `results`: the value and the place; null: absent.
Result<Search> search_of(const KernelArgs& args, const std::array<const TensorType*, 2>& results);

}  // namespace shw::runtime
