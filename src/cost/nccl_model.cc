// The tuner: links → algorithms → protocols → one price term each. add_nccl_terms(), at the end,
// selects between measured tables and this generic path.
#include "cost/nccl_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace shw::cost {
namespace {

struct LatencyBandwidth {
  double latency_us, bandwidth_gbps;
};
struct OneNodeRow {
  int64_t ranks;
  LatencyBandwidth gather, all_reduce;
};
struct NodesLatency {
  int64_t nodes;
  double latency_us;
};
struct MultiNodeRow {
  int64_t nodes, ranks_per_node;
  LatencyBandwidth gather_ring[kNumProtocols];
  LatencyBandwidth all_reduce_tree[kNumProtocols];
  LatencyBandwidth all_reduce_nvls_tree;
};
using RampTable = std::array<double, kRampSizes>;

#include "cost/tables/multi_node.inc"
#include "cost/tables/nccl_generic.inc"
#include "cost/tables/ramps.inc"

constexpr Algorithm kAlgorithms[] = {Algorithm::kTree,          Algorithm::kRing,
                                     Algorithm::kCollnetDirect, Algorithm::kCollnetChain,
                                     Algorithm::kNvls,          Algorithm::kNvlsTree};
constexpr Protocol kProtocols[] = {Protocol::kLL, Protocol::kLL128, Protocol::kSimple};
constexpr const RampTable* kTreeRamps[] = {&kTreeLL, &kTreeLL128, &kTreeSimple};

constexpr double kNetworkOverheadUs = 4.7;          // of rings, per node
constexpr double kOneNodeAllToAllUs = 50;           // start-up within an NVSwitch node
constexpr double kAllToAllGbps[3] = {0, 380, 675};  // bandwidth there, by architecture
constexpr double kSmAllToAllEfficiency =
    0.7;  // all-to-all implemented by SMs as sends and receives
constexpr double kNicContention =
    0.44;                              // share of a card's rate that is lost, divided by the nodes
constexpr int64_t kPlateauBytes = 64;  // per channel and rank: slow start of SIMPLE rings

int index(Algorithm a) { return static_cast<int>(a); }
int index(Protocol p) { return static_cast<int>(p); }
int index(Architecture a) { return static_cast<int>(a); }
int bucket(int64_t nodes) { return nodes == 1 ? 0 : nodes == 2 ? 1 : 2; }
int floor_log2(int64_t x) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(x))) - 1; }

bool is_hopper_or_later_with_switch(const NcclConfig& c) {
  return c.nvswitch && c.arch != Architecture::kAmpere;
}

int64_t ring_steps(const GroupTopology& g, Collective c) {
  return (c == Collective::kAllReduce ? 2 : 1) * (g.ranks - 1);
}

bool is_eligible(const NcclConfig& c, const GroupTopology& g, Collective collective, Algorithm a,
                 Protocol p) {
  if (a != Algorithm::kRing && a != Algorithm::kTree && p != Protocol::kSimple) return false;
  const bool all_reduce = collective == Collective::kAllReduce;
  switch (a) {
    case Algorithm::kRing:
      return true;
    case Algorithm::kTree:
      return all_reduce;
    case Algorithm::kCollnetDirect:
      return c.has_collnet;
    case Algorithm::kCollnetChain:
      return all_reduce && c.has_collnet;
    case Algorithm::kNvls:
      return is_hopper_or_later_with_switch(c) && c.num_channels >= 2 &&
             (all_reduce || g.nodes == 1 || c.has_collnet);
    case Algorithm::kNvlsTree:
      return all_reduce && is_hopper_or_later_with_switch(c) && c.num_channels >= 2 && g.nodes > 1;
  }
  return false;
}

// The bus bandwidth that the links give to an algorithm, before protocol overhead.
double link_bandwidth(const NcclConfig& c, const GroupTopology& g, Collective collective,
                      Algorithm a) {
  const double channels = c.num_channels;
  const double ppn = static_cast<double>(g.ranks_per_node);
  const double intra = c.bw_intra_gbps / channels, inter = c.bw_inter_gbps / channels;
  // With a switch, every GPU reaches every network card of its node.
  const double node_inter = c.nvswitch && g.nodes > 1 ? std::min(intra, inter * ppn) : inter;
  const double base = g.nodes <= 2 ? intra : node_inter;
  const bool all_reduce = collective == Collective::kAllReduce;
  const double nvls =
      intra * kNvlsEfficiency[index(c.arch)] * (channels - 1) / channels;  // one direction
  switch (a) {
    case Algorithm::kRing:
    case Algorithm::kTree:
    case Algorithm::kCollnetChain:
      return channels * base;
    case Algorithm::kNvls: {
      const double x = all_reduce ? nvls * 2 : nvls * (ppn - 1) / ppn;
      return channels * (g.nodes > 1 ? std::min(x, inter) : x);
    }
    case Algorithm::kNvlsTree:
      return channels * std::min({2 * nvls, node_inter * (g.nodes <= 2 ? 2 : 1),
                                  kNvlsTreeMax[index(c.arch)][bucket(g.nodes)]});
    case Algorithm::kCollnetDirect: {
      if (!all_reduce) return ppn * std::min(intra * channels, 0.9 * inter * channels);
      double factor = ppn / channels;
      factor -= (factor - 1) / 2;
      return channels * base / factor * (c.arch == Architecture::kAmpere ? 1.0 : 0.85);
    }
  }
  return 0;
}

// The bandwidth after protocol overhead.
double protocol_bandwidth(const NcclConfig& c, const GroupTopology& g, Algorithm a, Protocol p,
                          double bus) {
  const int arch = index(c.arch), size = bucket(g.nodes);
  const double channels = c.num_channels;
  if (a == Algorithm::kRing) {
    if (p == Protocol::kLL) return std::min(kLLMax[arch][size], bus * 0.5);
    if (p == Protocol::kLL128) return std::min(bus * 0.92, channels * kRingLL128Max[arch][size]);
  } else if (a == Algorithm::kTree) {
    bus = std::min(bus * 0.92, channels * kTreeMax[arch][size]);
    if (p == Protocol::kLL) return std::min(bus / 3.8, kLLMax[arch][size]);
    if (p == Protocol::kLL128)
      return std::min(bus * (g.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                      channels * kTreeLL128Max[arch][size]);
  }
  return bus;
}

PriceTerm linear_term(double latency_us, double bandwidth_gbps) {
  return {.latency_us = latency_us, .us_per_byte = 1 / (1000 * bandwidth_gbps)};
}

// A ramp from one of the tables; `beyond` applies past its end.
Ramp ramp_of(const RampTable& table, double beyond) {
  Ramp ramp;
  std::copy(table.begin(), table.end(), ramp.begin());
  ramp[kRampSizes] = beyond;
  return ramp;
}

// NCCL's correction for trees ends one entry earlier than the table.
Ramp tree_ramp(Protocol p) {
  Ramp ramp = ramp_of(*kTreeRamps[index(p)], 1.0);
  ramp[kRampSizes - 1] = 1.0;
  return ramp;
}

void add_with_ramp(PriceTerm term, RampKind kind, const Ramp& ramp, PriceTerms& out) {
  term.ramp_kind = kind;
  term.ramp = out.add_ramp(ramp);
  out.terms.push_back(term);
}

// One algorithm and protocol of the generic model, if the tuner offers it.
void add_generic(const NcclConfig& c, const GroupTopology& g, Collective collective, Algorithm a,
                 Protocol p, PriceTerms& out) {
  const auto bandwidth = nccl_bandwidth_gbps(c, g, collective, a, p);
  if (!bandwidth) return;
  PriceTerm term = linear_term(nccl_latency_us(c, g, collective, a, p), *bandwidth);
  const bool all_reduce = collective == Collective::kAllReduce;
  if (a == Algorithm::kTree)
    return add_with_ramp(term, RampKind::kStepByMessage, tree_ramp(p), out);
  if (a == Algorithm::kNvlsTree && c.arch == Architecture::kBlackwell)
    return add_with_ramp(term, RampKind::kStepByMessage, ramp_of(kTreeSimple, 1.0), out);
  if (a != Algorithm::kRing || g.nodes == 1) {
    out.terms.push_back(term);
    return;
  }
  if (all_reduce && p == Protocol::kSimple)
    term.plateau_bytes = kPlateauBytes * c.num_channels * g.ranks;
  add_with_ramp(term, RampKind::kInterpolateByRank, nccl_ring_ramp(g.nodes), out);
}

PriceTerm one_node_term(const NcclConfig& c, const GroupTopology& g, Collective collective) {
  const auto pick = [&](const OneNodeRow& row) {
    return collective == Collective::kAllReduce ? row.all_reduce : row.gather;
  };
  const auto* above = std::find_if(std::begin(kOneNode), std::end(kOneNode),
                                   [&](const OneNodeRow& r) { return r.ranks >= g.ranks; });
  LatencyBandwidth at = pick(above == std::end(kOneNode) ? *std::prev(above) : *above);
  if (above != std::end(kOneNode) && above != std::begin(kOneNode)) {
    const OneNodeRow& below = *std::prev(above);
    const double t = static_cast<double>(g.ranks - below.ranks) /
                     static_cast<double>(above->ranks - below.ranks);
    at.latency_us = std::lerp(pick(below).latency_us, at.latency_us, t);
    at.bandwidth_gbps = std::lerp(pick(below).bandwidth_gbps, at.bandwidth_gbps, t);
  }
  if (c.arch == Architecture::kBlackwell) at.bandwidth_gbps *= 2;
  return linear_term(at.latency_us, at.bandwidth_gbps);
}

const MultiNodeRow* multi_node_row(const NcclConfig& c, const GroupTopology& g) {
  if (!is_hopper_or_later_with_switch(c) || g.nodes == 1) return nullptr;
  for (const MultiNodeRow& row : kMultiNode)
    if (row.nodes == g.nodes && row.ranks_per_node == g.ranks_per_node) return &row;
  return nullptr;
}

void add_multi_node(const NcclConfig& c, const GroupTopology& g, Collective collective,
                    const MultiNodeRow& row, PriceTerms& out) {
  const double scale = c.arch == Architecture::kBlackwell ? 2 : 1;
  const auto term = [&](const LatencyBandwidth& at) {
    return linear_term(at.latency_us, at.bandwidth_gbps * scale);
  };
  if (collective != Collective::kAllReduce) {
    const bool full_mesh = g.ranks_per_node == c.gpus_per_node;
    for (const LatencyBandwidth& at : row.gather_ring) {
      if (full_mesh)
        add_with_ramp(term(at), RampKind::kInterpolateByRank, ramp_of(kFullMeshRing, 1.0), out);
      else
        out.terms.push_back(term(at));
    }
    return;
  }
  for (Protocol p : kProtocols) {
    add_with_ramp(term(row.all_reduce_tree[index(p)]), RampKind::kStepByMessage, tree_ramp(p), out);
    add_generic(c, g, collective, Algorithm::kRing, p, out);
  }
  if (row.all_reduce_nvls_tree.bandwidth_gbps > 0)
    add_with_ramp(term(row.all_reduce_nvls_tree), RampKind::kInterpolateByRank,
                  ramp_of(kNvlsTree, kNvlsTree.back()), out);
}

double all_to_all_latency(int64_t nodes) {
  const auto* above = std::find_if(std::begin(kAllToAllLatency), std::end(kAllToAllLatency),
                                   [&](const NodesLatency& r) { return r.nodes >= nodes; });
  if (above == std::end(kAllToAllLatency)) return std::prev(above)->latency_us;
  if (above == std::begin(kAllToAllLatency)) return above->latency_us;
  const NodesLatency& below = *std::prev(above);
  const double t =
      static_cast<double>(nodes - below.nodes) / static_cast<double>(above->nodes - below.nodes);
  return std::lerp(below.latency_us, above->latency_us, t);
}

void add_all_to_all(const NcclConfig& c, const GroupTopology& g, PriceTerms& out) {
  const double ranks = static_cast<double>(g.ranks), nodes = static_cast<double>(g.nodes);
  if (is_hopper_or_later_with_switch(c) && g.nodes == 1) {
    out.terms.push_back(linear_term(kOneNodeAllToAllUs, kAllToAllGbps[index(c.arch)]));
    return;
  }
  if (c.nvswitch && g.nodes > 1) {
    const double remote = (ranks - static_cast<double>(g.ranks_per_node)) / ranks;
    const double nic_gbps = c.bw_inter_gbps * (1 - kNicContention / nodes);
    PriceTerm term{.latency_us = all_to_all_latency(g.nodes),
                   .us_per_byte = remote / (1000 * nic_gbps)};
    Ramp ramp = ramp_of(kAllToAllNic, 1.0);
    if (const int depth = floor_log2(g.nodes); depth > 1)
      for (double& r : ramp) r = 1 - (1 - r) / depth;
    return add_with_ramp(term, RampKind::kStepByRank, ramp, out);
  }
  const double channels = c.num_channels;
  const double per_channel = (g.nodes <= 2 ? c.bw_intra_gbps : c.bw_inter_gbps) / channels;
  const int ring = index(Algorithm::kRing), simple = index(Protocol::kSimple);
  const double intra = std::max(kNvlinkLatency[ring][simple], g.nodes > 1 ? 3.0 : 0.0);
  const int network = index(g.ranks_per_node == 1 ? Algorithm::kTree : Algorithm::kRing);
  const double inter = kNetworkLatency[network][simple] + 2 * c.net_latency_us;
  const double hops = g.nodes == 1 ? 0 : nodes - 1;
  const double latency = kBaseLatency[ring][simple] + (ranks - hops) * intra + hops * inter;
  out.terms.push_back(linear_term(latency, channels * per_channel * kSmAllToAllEfficiency));
}

// NCCL has no tuner for single messages. It runs them as it runs an all-to-all, as grouped sends
// and receives (NCCL user guide, "Point-to-point communication"). So the links and start-up times
// are those of an all-to-all, but a rank talks to one peer: between nodes to one other node, and
// all of its bytes may leave the node.
void add_permute(const NcclConfig& c, const GroupTopology& g, PriceTerms& out) {
  if (!c.nvswitch || g.nodes == 1) return add_all_to_all(c, g, out);
  const double nic_gbps = c.bw_inter_gbps * (1 - kNicContention / 2);
  PriceTerm term = linear_term(all_to_all_latency(2), nic_gbps);
  add_with_ramp(term, RampKind::kStepByMessage, ramp_of(kAllToAllNic, 1.0), out);
}

}  // namespace

std::optional<double> nccl_bandwidth_gbps(const NcclConfig& config, const GroupTopology& group,
                                          Collective collective, Algorithm algorithm,
                                          Protocol protocol) {
  if (!is_eligible(config, group, collective, algorithm, protocol)) return std::nullopt;
  double bandwidth = protocol_bandwidth(config, group, algorithm, protocol,
                                        link_bandwidth(config, group, collective, algorithm));
  // Converts bus bandwidth to algorithm bandwidth; algorithms other than ring need no conversion in
  // a gather.
  const double steps = static_cast<double>(ring_steps(group, collective));
  if (algorithm == Algorithm::kRing)
    bandwidth *= static_cast<double>(group.ranks) / steps;
  else if (collective == Collective::kAllReduce)
    bandwidth *= algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree
                     ? static_cast<double>(group.ranks) / steps
                     : 0.5;
  if (!(bandwidth > 0)) return std::nullopt;
  return bandwidth;
}

double nccl_latency_us(const NcclConfig& config, const GroupTopology& group, Collective collective,
                       Algorithm algorithm, Protocol protocol) {
  const int a = index(algorithm), p = index(protocol);
  const double nodes = static_cast<double>(group.nodes);
  const double ppn = static_cast<double>(group.ranks_per_node);
  const double base = kBaseLatency[a][p], intra = kNvlinkLatency[a][p];
  const int network = group.ranks_per_node == 1 ? index(Algorithm::kTree) : a;
  const double inter =
      kNetworkLatency[network][p] + config.net_latency_us * (protocol == Protocol::kSimple ? 2 : 1);
  const int64_t chain = group.ranks / group.nodes - 1;  // hops of a tree within a node
  switch (algorithm) {
    case Algorithm::kRing: {
      const double steps = static_cast<double>(ring_steps(group, collective));
      if (group.nodes == 1) return base + steps * intra;
      const double crossings = (collective == Collective::kAllReduce ? 2 : 1) * (nodes - 1);
      const double local = std::max(intra, protocol == Protocol::kSimple ? 3.0 : 1.0);
      const double depth = nodes > 4 ? std::pow(nodes / 4, 0.65) : 1.0;
      return base + (steps - crossings) * local + crossings * inter +
             kNetworkOverheadUs * nodes * depth;
    }
    case Algorithm::kTree:
      return base + 2 * (static_cast<double>(chain) * intra + floor_log2(group.nodes) * inter);
    case Algorithm::kCollnetDirect:
      return base + 2 * (std::min(1.0, ppn - 1) * intra + 0.4 * (ppn - 1)) + inter;
    case Algorithm::kCollnetChain:
      return base + 2 * (ppn - 1) * intra + inter;
    case Algorithm::kNvls:
      return intra + (group.nodes > 1 ? inter : 0);
    case Algorithm::kNvlsTree:
      return base + intra + 2 * floor_log2(group.nodes) * inter;
  }
  return 0;
}

Ramp nccl_ring_ramp(int64_t nodes) {
  Ramp ramp = ramp_of(kRing, kRing.back());
  if (nodes <= 4) return ramp;
  const double exponent = 1 + 0.2 * (floor_log2(nodes) - 2);
  for (size_t i = 0; i < ramp.size(); ++i) {
    if (ramp[i] < 1) ramp[i] = std::pow(ramp[i], exponent);
    // If the ramp rose faster than the message size, a larger message would be cheaper than a
    // smaller one.
    if (i > 0) ramp[i] = std::min(ramp[i], 2 * ramp[i - 1]);
  }
  return ramp;
}

bool nccl_has_multi_node_table(const NcclConfig& config, const GroupTopology& group) {
  return multi_node_row(config, group) != nullptr;
}

Basis nccl_basis(const NcclConfig& config, const GroupTopology& group, Collective collective) {
  const bool one_node = group.nodes == 1;
  if (collective == Collective::kPermute) return Basis::kAnalytical;
  if (collective == Collective::kAllToAll)  // between nodes: latencies by number of nodes
    return config.nvswitch && !one_node ? Basis::kInterpolated : Basis::kAnalytical;
  if (is_hopper_or_later_with_switch(config) && one_node) {
    const bool in_table = std::ranges::any_of(
        kOneNode, [&](const OneNodeRow& row) { return row.ranks == group.ranks; });
    return in_table && config.arch == Architecture::kHopper ? Basis::kMeasured
                                                            : Basis::kInterpolated;
  }
  return multi_node_row(config, group) != nullptr ? Basis::kMeasured : Basis::kAnalytical;
}

void add_nccl_terms(const NcclConfig& config, const GroupTopology& group, Collective collective,
                    PriceTerms& out) {
  if (collective == Collective::kAllToAll) return add_all_to_all(config, group, out);
  if (collective == Collective::kPermute) return add_permute(config, group, out);
  if (is_hopper_or_later_with_switch(config) && group.nodes == 1) {
    out.terms.push_back(one_node_term(config, group, collective));
    return;
  }
  if (const MultiNodeRow* row = multi_node_row(config, group))
    return add_multi_node(config, group, collective, *row, out);
  for (Algorithm a : kAlgorithms)
    for (Protocol p : kProtocols) add_generic(config, group, collective, a, p, out);
}

}  // namespace shw::cost
