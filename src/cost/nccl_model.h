// NCCL's own cost model: the algorithm and protocol its tuner selects, and their duration.
//
// Based on NCCL's src/graph/tuning.cc, as re-implemented and fitted to measurements by
// meta-pytorch/autoparallel (cost_models/nccl_cost_model, a54c252), whose numbers it reproduces
// exactly. Pure arithmetic. GB/s is 1e9 bytes/s; bandwidths are algorithm bandwidths: a collective
// of b bytes takes latency + b / bandwidth.
//
// Not modelled: contention between concurrent collectives, or between the groups of one mesh dim
// that share a node's network cards.
#pragma once
#include <optional>

#include "cost/hardware.h"
#include "cost/price_term.h"

namespace shw::cost {

enum class Algorithm : uint8_t {
  kTree = 0,
  kRing = 1,
  kCollnetDirect = 2,
  kCollnetChain = 3,
  kNvls = 4,
  kNvlsTree = 5
};
inline constexpr int kNumAlgorithms = 6;
enum class Protocol : uint8_t { kLL = 0, kLL128 = 1, kSimple = 2 };
inline constexpr int kNumProtocols = 3;

// The generic model, from link speeds. `collective` is not kAllToAll. nullopt: the tuner does not
// offer this combination.
std::optional<double> nccl_bandwidth_gbps(const NcclConfig& config, const GroupTopology& group,
                                          Collective collective, Algorithm algorithm,
                                          Protocol protocol);
double nccl_latency_us(const NcclConfig& config, const GroupTopology& group, Collective collective,
                       Algorithm algorithm, Protocol protocol);

// Efficiency of rings that cross nodes, by message bytes per rank: the more nodes, the slower it
// rises.
Ramp nccl_ring_ramp(int64_t nodes);

// Whether the group has tabulated measurements (NVSwitch clusters of several nodes).
bool nccl_has_multi_node_table(const NcclConfig& config, const GroupTopology& group);

// The basis of the terms of add_nccl_terms().
Basis nccl_basis(const NcclConfig& config, const GroupTopology& group, Collective collective);

// Appends every way to run the collective to `out`; at least one. group.ranks ≥ 2.
void add_nccl_terms(const NcclConfig& config, const GroupTopology& group, Collective collective,
                    PriceTerms& out);

}  // namespace shw::cost
