// Which of our operations an ATen overload is, and how its arguments and results map to ours.
#pragma once
#include <limits>
#include <string_view>

#include "graph/graph.h"

namespace shw::import {

struct AtenOp {
  std::string_view target;  // as FX prints it: "aten.mm.default"
  OpKind op;
  // The overload's arguments in order, by our parameter names, separated by spaces; "_" is one that
  // changes nothing for us. Empty: they are OpDef::params in order.
  std::string_view arguments = {};
  // Place in the overload's tuple of each of our results, "-" for one that it does not have. Empty:
  // as they are.
  std::string_view results = {};
  std::string_view kernel = {};  // the attribute of that name; empty: none
  // Of overloads that fill with one number (zeros, ones): attribute fill_value; NaN: none.
  double fill = std::numeric_limits<double>::quiet_NaN();
};

const AtenOp* find_aten_op(std::string_view target);  // null: not known
// The overload that FX most likely prints for a node: of tensors, or the default one; with the
// node's kernel, if it has one. Empty: none.
std::string_view aten_target(const Graph& graph, NodeId node);

}  // namespace shw::import
