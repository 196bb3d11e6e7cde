// Maps ATen overloads to this library's operations, with their arguments and results.
#pragma once
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace shw::import {

struct AtenOp {
  std::string_view target;  // as FX prints it: "aten.mm.default"
  OpKind op;
  // The overload's arguments in order, by our parameter names, separated by spaces; "_" marks one
  // that has no effect here. Empty: OpDef::params in order.
  std::string_view arguments = {};
  // For each of our results, its index in the overload's tuple, or "-" if absent. Empty: identical.
  std::string_view results = {};
  std::string_view kernel = {};  // value of attribute `kernel`; empty: none
  // For overloads that fill with a constant (zeros, ones): attribute fill_value; NaN: none.
  double fill = std::numeric_limits<double>::quiet_NaN();
};

// The result refers to `target`. Empty: unknown overload.
std::optional<AtenOp> find_aten_op(std::string_view target);
std::vector<AtenOp> aten_ops();  // all, by op
// The overload that FX most likely prints for a node: the tensor or default overload, with the
// node's kernel if it has one. Empty: there is none.
std::string_view aten_target(const Graph& graph, NodeId node);

}  // namespace shw::import
