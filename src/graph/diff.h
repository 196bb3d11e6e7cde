// Describes the first difference between two graphs in words: for tests, and for users who want to
// see what a rewrite or another framework version changed.
#pragma once
#include <string>

#include "graph/graph.h"

namespace shw {

struct DiffOptions {
  bool source = true;  // compare the source note of each node
};

// Empty when the graphs are equal: nodes in the same order with the same names, ops, operands,
// attributes, types and metadata, and the same inputs, outputs and entries.
std::string first_difference(const Graph& a, const Graph& b, const DiffOptions& options = {});

}  // namespace shw
