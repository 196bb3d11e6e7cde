// NCCL's own cost model: which algorithm and protocol its tuner would pick, and how long that
// takes.
//
// After NCCL's src/graph/tuning.cc, as re-implemented and fitted to measurements by
// meta-pytorch/autoparallel (cost_models/nccl_cost_model, a54c252), whose numbers these are to the
// last digit. Pure arithmetic. GB/s is 1e9 bytes/s; bandwidths are algorithm bandwidths: a
// collective of b bytes takes latency + b / bandwidth.
//
// Not modelled: contention of collectives that run at once, and of a mesh dim's many groups for one
// node's network cards.
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
// offer that combination there.
std::optional<double> nccl_bandwidth_gbps(const NcclConfig& config, const GroupTopology& group,
                                          Collective collective, Algorithm algorithm,
                                          Protocol protocol);
double nccl_latency_us(const NcclConfig& config, const GroupTopology& group, Collective collective,
                       Algorithm algorithm, Protocol protocol);

// Efficiency of rings that cross nodes, by message bytes per rank: the deeper, the slower its
// climb.
Ramp nccl_ring_ramp(int64_t nodes);

// Whether measurements of that group are tabulated (NVSwitch clusters of several nodes).
bool nccl_has_multi_node_table(const NcclConfig& config, const GroupTopology& group);

// Appends to `out` every way to run the collective; at least one. group.ranks ≥ 2.
void add_nccl_terms(const NcclConfig& config, const GroupTopology& group, Collective collective,
                    PriceTerms& out);

}  // namespace shw::cost
