// Products of matrices by rows of their results: a part of the rows needs the same part of those
// operands that have the rows, and all of the others.
#pragma once
#include <vector>

#include "plan/program.h"

namespace shw {

struct ProductRows {
  size_t dims = 0;              // leading dims of the result that are rows; 0: it cannot be cut
  std::vector<uint8_t> inputs;  // whether an input begins with the same dims; others have none of
                                // them
};
ProductRows product_rows(const ProgramStep& step);

}  // namespace shw
