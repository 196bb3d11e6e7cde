// Imports the joint forward and backward graph of PyTorch (AOT export) from JSON, format
// "ap-graph-1". Nodes are in topological order, each {name, op, target, args, kwargs, val, …};
// `desc` states which parameter, buffer, input or tangent a placeholder is, and what each output
// is.
#pragma once
#include <nlohmann/json.hpp>

#include "graph/graph.h"
#include "support/status.h"

namespace shw::import {

// UNIMPLEMENTED lists every unknown operation with its number of uses. INVALID_ARGUMENT names the
// node at fault in a malformed graph. The result has not been verified (verify_graph).
Result<Graph> import_fx_json(const nlohmann::json& file);

}  // namespace shw::import
