// A call of an overload that is expanded (decompositions.h): its arguments, by name.
#pragma once
#include <nlohmann/json.hpp>

#include "graph/graph.h"
#include "import/decompositions.h"
#include "import/expansion.h"
#include "import/fx_call.h"

namespace shw::import::fx {

// Binds the arguments of the call, and the defaults of missing arguments.
Status bind_arguments(const Decomposition& how, const Names& names, const Graph& graph,
                      const nlohmann::json& node, Expansion& e);

}  // namespace shw::import::fx
