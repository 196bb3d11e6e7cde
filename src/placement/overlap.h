// Communication that hides behind compute: how much of an edge's price is charged.
//
// The problem stays one of unary and pairwise costs, so that its optimum stays exact: what may hide
// behind an edge depends on the graph alone, never on what is chosen elsewhere.
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
  kNone = 0,
  // The reference's discount: communication of what is computed from parameters alone, and of what
  // nothing but gradients is computed from, costs `scale` of its price (0: nothing), however long
  // it takes.
  kPrefetch = 1,
  // A parameter is gathered while the compute between its use and the use before runs, a gradient
  // reduced while the compute up to the next gradient runs: that much is hidden, the rest charged.
  kBounded = 2
};

struct OverlapOptions {
  Overlap kind = Overlap::kNone;
  // kPrefetch: the share of prices that stays; kBounded: the share of compute that communication
  // can run beside, 0: all of it.
  double scale = 0;
  bool operator==(const OverlapOptions&) const = default;
};

Result<Overlap> overlap_from_name(std::string_view name);  // "none", "prefetch", "bounded"
std::string to_string(const OverlapOptions& options);      // "bounded", "prefetch 0.25"; none: ""
Status check(const OverlapOptions& options);

struct EdgeDiscount {
  double scale = 1, hidden_us = 0;
  double charged(double us) const {
    if (!(us > 0) || us == std::numeric_limits<double>::infinity()) return us;  // stays forbidden
    return us * scale > hidden_us ? us * scale - hidden_us : 0;
  }
  bool operator==(const EdgeDiscount&) const = default;
};

// Discounts of edges, by consumer and operand; none for the edges that are not in it.
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
  std::unordered_map<uint64_t, EdgeDiscount> discounts_;  // look-up only, never iterated
};

// `least_compute_us`, by node: what it costs at least, whatever is chosen. `no_comm`, by node:
// edges into it do not communicate. Both are asked for kBounded only.
EdgeDiscounts edge_discounts(const Graph& graph, const OverlapOptions& options,
                             std::span<const double> least_compute_us,
                             const std::vector<bool>& no_comm);

// Computed from parameters alone; needed by nothing but gradients of parameters.
std::vector<bool> parameter_derived(const Graph& graph);
std::vector<bool> gradient_only(const Graph& graph);

}  // namespace shw
