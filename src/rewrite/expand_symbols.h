// Replaces sizes that are known only at run time by numbers, with buckets.
//
// A bucket is an entry at chosen sizes of the symbols that it depends on. Expansion turns a graph
// with symbols into a graph without symbols. Each entry becomes one entry for each of its buckets,
// and each node is made once for every combination of sizes that it depends on. Nodes that depend
// on no symbol (parameters, state, and values computed only from these) are made once, so buckets
// share them and their layouts. All later phases work on numbers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

// The sizes of a symbol for which buckets are made. An entry that depends on several symbols has a
// bucket for each combination.
struct BucketSizes {
  std::string entry;  // empty: every entry that depends on the symbol
  std::string symbol;
  std::vector<int64_t> sizes;
  bool operator==(const BucketSizes&) const = default;
};

// Parses "decode:cache=16,64", or "cache=16,64" for every entry. INVALID_ARGUMENT: the text has
// another form.
Result<BucketSizes> parse_bucket_sizes(std::string_view text);

// Returns a graph without symbols unchanged. If no sizes are given for a symbol, there is one
// bucket, at the hint. An entry with one bucket keeps its name; others are named by their sizes,
// "decode@cache=16". The weight of an entry is divided among its buckets. A type whose strides
// differ from those that the op infers keeps the order of its dims in memory.
//
// INVALID_ARGUMENT: sizes that a symbol cannot have; an unknown entry or symbol; state or trained
// inputs whose sizes depend on symbols; a node whose inferred types contradict its expressions (the
// message names the node and the bucket); or more entries than the limit.
Result<Graph> expand_symbols(const Graph& graph, std::span<const BucketSizes> buckets);

}  // namespace shw
