// Why one plan of a model is slower than another, in one line.
#pragma once
#include <string>

#include "compare/compare.h"
#include "plan/plan.h"

namespace shw::compare {

// Both plans must be for this graph, after rewrites.
std::string difference_text(const Graph& graph, const Figures& optimum, const Plan& best,
                            const Figures& figures, const Plan& plan);

}  // namespace shw::compare
