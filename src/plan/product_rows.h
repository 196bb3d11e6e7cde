// Splitting matrix products by rows of their results: a part of the rows needs the same part of the
// operands that have these rows, and the whole of all others.
#pragma once
#include <vector>

#include "plan/program.h"

namespace shw {

struct ProductRows {
  size_t dims = 0;  // number of leading dims of the result that are rows; 0: it cannot be split
  std::vector<uint8_t> inputs;  // whether an input begins with the same dims; others have none of
                                // them
};
ProductRows product_rows(const ProgramStep& step);

}  // namespace shw
