// From sizes that are known only at run time to sizes that are numbers: buckets.
//
// A bucket is an entry at chosen sizes of the symbols that it depends on. Expansion makes of a
// graph with symbols a graph without: each entry becomes one entry for each of its buckets, and
// each node is made once for every combination of sizes that it depends on. What depends on no
// symbol – parameters, state, what is computed of them alone – is made once, so that buckets share
// it, and its layout. All that follows works on numbers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

// Sizes of a symbol that there are to be buckets for. An entry that depends on several symbols has
// a bucket for each combination.
struct BucketSizes {
  std::string entry;  // empty: every entry that depends on the symbol
  std::string symbol;
  std::vector<int64_t> sizes;
  bool operator==(const BucketSizes&) const = default;
};

// "decode:cache=16,64", or "cache=16,64" for every entry. INVALID_ARGUMENT: it is no such text.
Result<BucketSizes> parse_bucket_sizes(std::string_view text);

// A graph without symbols is given back. Where no sizes are given for a symbol, there is one
// bucket, at the hint. An entry with one bucket keeps its name; others are named by their sizes,
// "decode@cache=16". The weight of an entry is divided among its buckets. A type whose strides are
// not what the op gives keeps the order of its dims in memory.
//
// INVALID_ARGUMENT: sizes that a symbol cannot have, or of an entry or symbol that there is not;
// state or trained inputs whose sizes are no numbers; a node whose types are not those of its
// expressions, with the node and the bucket; more entries than the limit.
Result<Graph> expand_symbols(const Graph& graph, std::span<const BucketSizes> buckets);

}  // namespace shw
