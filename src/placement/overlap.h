// Discounts for communication that is hidden behind compute: how much of an edge's price is
// charged.
//
// How much an edge can hide depends on the graph alone, never on other choices. So the problem
// keeps its unary and pairwise form, and its optimum stays exact.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "support/status.h"

namespace shw {

enum class Overlap : uint8_t {
  // Not specified: kNone, except that a comparison with recipes uses kSimulated for its optimum
  // (compare/compare.h).
  kDefault = 0,
  kNone = 1,
  // The reference planner's discount: communication of values that depend on parameters only, or
  // that only gradients depend on, costs `scale` times its price (0: nothing), regardless of its
  // duration.
  kPrefetch = 2,
  // A parameter is gathered during the compute between the previous use of a parameter and its own
  // use; a gradient is reduced during the compute up to the next gradient. The time of this compute
  // is hidden; the rest of the communication is charged.
  kBounded = 3,
  // Prices charge all communication at first. A search corrects them by what the simulator measures
  // for the program of a placement, until no faster program is found: compiler/fastest.h.
  kSimulated = 4
};

constexpr bool hides_nothing(Overlap kind) {
  return kind == Overlap::kDefault || kind == Overlap::kNone;
}
// Whether this kind gives edges discounts, which do not depend on any choice.
constexpr bool discounts_edges(Overlap kind) {
  return kind == Overlap::kPrefetch || kind == Overlap::kBounded;
}

struct OverlapOptions {
  Overlap kind = Overlap::kDefault;
  // kPrefetch: the share of the price that remains; kBounded: the share of compute that can hide
  // communication (0: all of it).
  double scale = 0;
  bool operator==(const OverlapOptions&) const = default;
};

// "none", "prefetch", "bounded", "simulated"
Result<Overlap> overlap_from_name(std::string_view name);
std::string to_string(const OverlapOptions& options);  // "bounded", "prefetch 0.25"; none: ""
Status check(const OverlapOptions& options);

struct EdgeDiscount {
  double scale = 1, hidden_us = 0;
  double charged(double us) const {
    if (!(us > 0) || us == std::numeric_limits<double>::infinity())
      return us;  // forbidden stays forbidden
    return us * scale > hidden_us ? us * scale - hidden_us : 0;
  }
  bool operator==(const EdgeDiscount&) const = default;
};

// Discounts of edges by consumer and operand; other edges have none.
class EdgeDiscounts {
 public:
  EdgeDiscount of(NodeId consumer, size_t operand) const {
    const auto at = discounts_.find(key(consumer, operand));
    return at == discounts_.end() ? EdgeDiscount{} : at->second;
  }
  void set(NodeId consumer, size_t operand, EdgeDiscount d) {
    discounts_[key(consumer, operand)] = d;
  }
  size_t size() const { return discounts_.size(); }

 private:
  static uint64_t key(NodeId consumer, size_t operand) {
    return uint64_t{consumer.v} << 32 | static_cast<uint32_t>(operand);
  }
  std::unordered_map<uint64_t, EdgeDiscount> discounts_;  // never iterated
};

// `least_compute_us`, by node: a lower bound on its cost under any strategy. `no_comm`, by node:
// edges into it do not communicate. Both are used by kBounded only.
EdgeDiscounts edge_discounts(const Graph& graph, const OverlapOptions& options,
                             std::span<const double> least_compute_us,
                             const std::vector<bool>& no_comm);

// Nodes that depend on parameters only, or that only gradients of parameters depend on.
std::vector<bool> parameter_derived(const Graph& graph);
std::vector<bool> gradient_only(const Graph& graph);

}  // namespace shw
