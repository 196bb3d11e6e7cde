// Reads the joint forward and backward graph of PyTorch (AOT export), dumped as JSON: format
// "ap-graph-1". Nodes in topological order, each {name, op, target, args, kwargs, val, …}; `desc`
// says which parameter, buffer, input or tangent a placeholder is, and what each output is.
#pragma once
#include <nlohmann/json.hpp>

#include "graph/graph.h"
#include "support/status.h"

namespace shw::import {

// UNIMPLEMENTED that lists every operation we do not know, with its number of uses;
// INVALID_ARGUMENT, with the node at fault, for what is no such graph. The result has not gone
// through verify_graph.
Result<Graph> import_fx_json(const nlohmann::json& file);

}  // namespace shw::import
