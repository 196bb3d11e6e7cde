// The parts of the NCCL model: spot values, the algorithms that the tuner offers for each hardware,
// and how prices change with size. The cases are from the reference planner's own tests.
#include "cost/nccl_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test_machines.h"

namespace shw::cost {
namespace {

constexpr int64_t kGiB = 1 << 30;
constexpr Protocol kProtocols[] = {Protocol::kLL, Protocol::kLL128, Protocol::kSimple};

NcclConfig config(const char* name) { return *machine(name).nccl; }
GroupTopology nodes_of(int64_t nodes, int64_t ranks_per_node) {
  return {nodes * ranks_per_node, nodes, ranks_per_node};
}

double price(const NcclConfig& config, int64_t nodes, int64_t ranks_per_node, Collective collective,
             int64_t bytes) {
  Hardware hardware;
  hardware.nccl = config;
  hardware.nccl->gpus_per_node = ranks_per_node;
  return model_of(hardware, std::to_string(nodes * ranks_per_node)).us(collective, 0, bytes);
}

TEST(NcclBandwidth, HasTheSpotValuesOfAnA100Node) {
  const NcclConfig a100 = config("a100");
  const GroupTopology node = nodes_of(1, 8);
  const auto simple = [&](Collective c, Algorithm a) {
    return nccl_bandwidth_gbps(a100, node, c, a, Protocol::kSimple);
  };
  EXPECT_TRUE(agrees(*simple(kAR, Algorithm::kRing), 87.7 * 8 / 14));
  EXPECT_TRUE(agrees(*simple(kAG, Algorithm::kRing), 87.7 * 8 / 7));
  EXPECT_TRUE(agrees(*simple(kAR, Algorithm::kTree), std::min(87.7 * 0.92, 288.0) / 2));
  const double ring_ll[] = {25.057143, 46.105143, 50.114286};
  const double tree_ll[] = {10.616316, 31.377111, 40.342};
  for (int p = 0; p < 3; ++p) {
    EXPECT_NEAR(*nccl_bandwidth_gbps(a100, node, kAR, Algorithm::kRing, kProtocols[p]), ring_ll[p],
                5.1e-7);
    EXPECT_NEAR(*nccl_bandwidth_gbps(a100, node, kAR, Algorithm::kTree, kProtocols[p]), tree_ll[p],
                5.1e-7);
  }
}

TEST(NcclBandwidth, HasTheSpotValuesOfFourH100Nodes) {
  const NcclConfig h100 = config("h100");
  const GroupTopology group = nodes_of(4, 8);
  const double ring[] = {21.058065, 303.896774, 330.322581};
  for (int p = 0; p < 3; ++p)
    EXPECT_NEAR(*nccl_bandwidth_gbps(h100, group, kAG, Algorithm::kRing, kProtocols[p]), ring[p],
                5.1e-7);
  const auto simple = Protocol::kSimple;
  EXPECT_NEAR(*nccl_bandwidth_gbps(h100, group, kAR, Algorithm::kNvlsTree, simple), 165.161290,
              5.1e-7);
  EXPECT_NEAR(*nccl_bandwidth_gbps(h100, group, kAR, Algorithm::kNvls, simple), 25.806452, 5.1e-7);
}

TEST(NcclLatency, HasTheSpotValues) {
  const NcclConfig a100 = config("a100"), h100 = config("h100");
  const auto us = [](const NcclConfig& c, const GroupTopology& g, Collective k, Algorithm a,
                     Protocol p) { return nccl_latency_us(c, g, k, a, p); };
  const auto kSimple = Protocol::kSimple;
  const GroupTopology node = nodes_of(1, 8);
  EXPECT_TRUE(agrees(us(a100, node, kAR, Algorithm::kRing, kSimple), 8.4 + 14 * 3.4));
  EXPECT_TRUE(agrees(us(a100, node, kAR, Algorithm::kTree, kSimple), 8.4 + 2 * 7 * 4));
  EXPECT_TRUE(agrees(us(a100, nodes_of(2, 1), kAR, Algorithm::kRing, kSimple), 8.4 + 28 + 9.4));
  const GroupTopology four = nodes_of(4, 8);
  const double ring[] = {61.5, 98.0, 164.4};
  for (int p = 0; p < 3; ++p)
    EXPECT_TRUE(agrees(us(h100, four, kAG, Algorithm::kRing, kProtocols[p]), ring[p]));
  EXPECT_TRUE(agrees(us(h100, four, kAR, Algorithm::kNvlsTree, kSimple), 108.6));
  EXPECT_TRUE(agrees(us(h100, four, kAR, Algorithm::kNvls, kSimple), 43));
  for (const GroupTopology& g : {node, four})
    for (const Algorithm a : {Algorithm::kRing, Algorithm::kTree})
      EXPECT_LT(us(h100, g, kAR, a, Protocol::kLL), us(h100, g, kAR, a, kSimple));
}

TEST(NcclLatency, CountsTheNetworkTwiceForSimpleOnly) {
  NcclConfig slow = config("h100"), fast = slow;
  slow.net_latency_us = 5;
  const GroupTopology two = nodes_of(2, 8);
  for (const Protocol p : kProtocols)
    EXPECT_NEAR(nccl_latency_us(slow, two, kAG, Algorithm::kRing, p) -
                    nccl_latency_us(fast, two, kAG, Algorithm::kRing, p),
                p == Protocol::kSimple ? 10 : 5, 1e-12);
}

TEST(NcclTuner, OffersWhatTheHardwareHas) {
  const auto offers = [](const NcclConfig& c, int64_t nodes, Collective k, Algorithm a,
                         Protocol p = Protocol::kSimple) {
    return nccl_bandwidth_gbps(c, nodes_of(nodes, 8), k, a, p).has_value();
  };
  const NcclConfig a100 = config("a100"), h100 = config("h100");
  NcclConfig collnet = h100, no_switch = h100, one_channel = h100;
  collnet.has_collnet = true;
  no_switch.nvswitch = false;
  one_channel.num_channels = 1;
  for (const Collective gather : {kAG, kRS}) {
    EXPECT_FALSE(offers(a100, 1, gather, Algorithm::kTree));
    EXPECT_FALSE(offers(collnet, 2, gather, Algorithm::kCollnetChain));
    EXPECT_FALSE(offers(h100, 2, gather, Algorithm::kNvlsTree));
    EXPECT_TRUE(offers(h100, 1, gather, Algorithm::kNvls));
    EXPECT_FALSE(offers(h100, 2, gather, Algorithm::kNvls)) << "between nodes it needs CollNet";
    EXPECT_TRUE(offers(collnet, 2, gather, Algorithm::kNvls));
    EXPECT_TRUE(offers(collnet, 2, gather, Algorithm::kCollnetDirect));
  }
  EXPECT_FALSE(offers(a100, 1, kAR, Algorithm::kNvls));
  EXPECT_FALSE(offers(no_switch, 1, kAR, Algorithm::kNvls));
  EXPECT_FALSE(offers(one_channel, 1, kAR, Algorithm::kNvls));
  EXPECT_FALSE(offers(h100, 1, kAR, Algorithm::kNvlsTree));
  EXPECT_TRUE(offers(h100, 2, kAR, Algorithm::kNvlsTree));
  EXPECT_FALSE(offers(h100, 2, kAR, Algorithm::kCollnetDirect));
  EXPECT_TRUE(offers(collnet, 2, kAR, Algorithm::kCollnetChain));
  for (const Protocol p : kProtocols) {
    EXPECT_TRUE(offers(h100, 2, kAR, Algorithm::kRing, p));
    EXPECT_TRUE(offers(h100, 2, kAR, Algorithm::kTree, p));
    EXPECT_EQ(offers(h100, 2, kAR, Algorithm::kNvlsTree, p), p == Protocol::kSimple);
  }
}

TEST(NcclTuner, CapsProtocolsInOrder) {
  for (const char* name : {"a100", "h100", "b200"})
    for (const int64_t nodes : {1, 2, 4}) {
      const auto ring = [&](Protocol p) {
        return *nccl_bandwidth_gbps(config(name), nodes_of(nodes, 8), kAR, Algorithm::kRing, p);
      };
      EXPECT_LT(ring(Protocol::kLL), ring(Protocol::kLL128)) << name << nodes;
      EXPECT_LT(ring(Protocol::kLL128), ring(Protocol::kSimple)) << name << nodes;
    }
}

TEST(NcclTuner, LetsMoreCardsServeARingBehindASwitch) {
  const NcclConfig h100 = config("h100");
  NcclConfig no_switch = h100;
  no_switch.nvswitch = false;
  const auto ring = [](const NcclConfig& c) {
    return *nccl_bandwidth_gbps(c, nodes_of(4, 8), kAG, Algorithm::kRing, Protocol::kSimple);
  };
  EXPECT_GT(ring(h100), ring(no_switch));
  EXPECT_LT(price(h100, 4, 8, kAG, kGiB), 2 * price(h100, 2, 8, kAG, kGiB));
  EXPECT_TRUE(agrees(ring(config("a100")), 25.0 * 32 / 31)) << "A100 stays as it is";
}

TEST(NcclRingRamp, IsDeeperForMoreNodes) {
  const Ramp four = nccl_ring_ramp(4), eight = nccl_ring_ramp(8), sixty_four = nccl_ring_ramp(64);
  const double want8[] = {.0631, .12619, .2358, .36321, .57439, .48802, .74219, .9166};
  const double want64[] = {.01585, .0317, .0634, .12679, .25358, .34092, .6394, .87754};
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(eight[11 + i], want8[i], 5.1e-6);
    EXPECT_NEAR(sixty_four[11 + i], want64[i], 5.1e-6);
  }
  EXPECT_EQ(nccl_ring_ramp(2), four);
  for (size_t i = 0; i < four.size(); ++i) {
    EXPECT_GT(four[i], 0);
    EXPECT_LE(four[i], 1);
    EXPECT_LE(eight[i], four[i]);
  }
}

TEST(NcclRingRamp, NeverMoreThanDoublesBeyondFourNodes) {
  for (const int64_t nodes : {8, 16, 32, 64}) {
    const Ramp ramp = nccl_ring_ramp(nodes);
    for (size_t i = 1; i < ramp.size(); ++i) EXPECT_LE(ramp[i], 2 * ramp[i - 1]) << nodes;
  }
}

// Two A100 nodes. At these sizes LL and LL128 cost more than SIMPLE, so the test sees the price of
// the ring.
TEST(NcclRingRamp, IsExactAtPowersOfTwoAndLinearBetween) {
  const NcclConfig a100 = config("a100");
  const GroupTopology two = nodes_of(2, 8);
  const double latency = nccl_latency_us(a100, two, kAG, Algorithm::kRing, Protocol::kSimple);
  const double gbps = *nccl_bandwidth_gbps(a100, two, kAG, Algorithm::kRing, Protocol::kSimple);
  const Ramp ramp = nccl_ring_ramp(2);
  const auto at = [&](int64_t bytes, double factor) {
    return latency + static_cast<double>(bytes) / (1000 * gbps * factor);
  };
  const int64_t exact = 16 * 64 * (int64_t{1} << 17);  // per rank 64 · 2^17 bytes
  EXPECT_TRUE(agrees(price(a100, 2, 8, kAG, exact), at(exact, ramp[17])));
  const int64_t between = exact / 2 * 3;  // log2(1.5) of the way
  EXPECT_TRUE(agrees(price(a100, 2, 8, kAG, between),
                     at(between, ramp[17] + (ramp[18] - ramp[17]) * std::log2(1.5))));
  EXPECT_TRUE(agrees(price(a100, 2, 8, kAG, 64 * kGiB), at(64 * kGiB, 1)));
}

TEST(NcclPrices, HaveNoJumpsAtPowersOfTwo) {
  for (int64_t bytes = 1 << 16; bytes <= 1 << 28; bytes *= 2) {
    const double before = price(config("h100"), 8, 8, kAR, bytes - 1);
    const double after = price(config("h100"), 8, 8, kAR, bytes + 1);
    EXPECT_LT(std::abs(after - before), 0.15 * before) << bytes;
  }
}

TEST(NcclPlateau, BeginsAt64BytesPerChannelAndRankOfSimpleRings) {
  PriceTerms prices;
  add_nccl_terms(config("a100"), nodes_of(2, 8), kAR, prices);
  const int64_t kNever = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(std::count_if(prices.terms.begin(), prices.terms.end(),
                          [&](const PriceTerm& t) { return t.plateau_bytes != kNever; }),
            1);
  EXPECT_EQ(std::count_if(prices.terms.begin(), prices.terms.end(),
                          [&](const PriceTerm& t) { return t.plateau_bytes == 64 * 12 * 16; }),
            1);
  PriceTerms gather;
  add_nccl_terms(config("a100"), nodes_of(2, 8), kAG, gather);
  for (const PriceTerm& t : gather.terms) EXPECT_EQ(t.plateau_bytes, kNever);
}

TEST(NcclPrices, OrderCollectivesAsExpected) {
  const NcclConfig a100 = config("a100"), h100 = config("h100");
  EXPECT_GT(price(a100, 1, 8, kAR, 16 * kMiB), price(a100, 1, 8, kRS, 16 * kMiB));
  EXPECT_GT(price(a100, 1, 8, kA2A, 16 * kMiB), price(a100, 1, 8, kAG, 16 * kMiB));
  EXPECT_GT(price(h100, 1, 8, kAR, 16 * kMiB), price(h100, 1, 8, kAG, 16 * kMiB));
  EXPECT_EQ(price(h100, 1, 8, kAG, 16 * kMiB), price(h100, 1, 8, kRS, 16 * kMiB));
}

TEST(NcclOneNode, InterpolatesMeasurementsByRanks) {
  const NcclConfig h100 = config("h100");
  for (const Collective c : {kAG, kRS}) {
    EXPECT_LT(price(h100, 1, 2, c, 16 * kMiB), price(h100, 1, 4, c, 16 * kMiB));
    EXPECT_LT(price(h100, 1, 4, c, 16 * kMiB), price(h100, 1, 8, c, 16 * kMiB));
    const double three = price(h100, 1, 3, c, 16 * kMiB);
    EXPECT_GT(three, price(h100, 1, 2, c, 16 * kMiB));
    EXPECT_LT(three, price(h100, 1, 4, c, 16 * kMiB));
  }
  EXPECT_GT(price(h100, 1, 4, kAR, 64 * kMiB), price(h100, 1, 8, kAR, 64 * kMiB));
}

TEST(NcclMultiNode, IsTabulatedForSwitchedHopperAndLater) {
  const NcclConfig h100 = config("h100");
  NcclConfig no_switch = h100;
  no_switch.nvswitch = false;
  for (const int64_t nodes : {2, 4, 8, 16, 32})
    for (const int64_t ranks : {1, 2, 4, 8}) {
      EXPECT_TRUE(nccl_has_multi_node_table(h100, nodes_of(nodes, ranks)));
      EXPECT_FALSE(nccl_has_multi_node_table(no_switch, nodes_of(nodes, ranks)));
      EXPECT_FALSE(nccl_has_multi_node_table(config("a100"), nodes_of(nodes, ranks)));
    }
  EXPECT_FALSE(nccl_has_multi_node_table(h100, nodes_of(1, 8)));
  EXPECT_FALSE(nccl_has_multi_node_table(h100, nodes_of(64, 8)));
  EXPECT_TRUE(std::isfinite(price(h100, 64, 8, kAR, kMiB)));
}

TEST(NcclMultiNode, GivesBlackwellTwiceTheBandwidth) {
  const double bytes = 1e12;
  const auto bandwidth = [&](const char* name) {
    const double us = price(config(name), 4, 8, kAG, static_cast<int64_t>(bytes));
    return bytes / us;
  };
  EXPECT_NEAR(bandwidth("b200") / bandwidth("h100"), 2, 0.05);
}

TEST(NcclMultiNode, PrefersLLForSmallAndSimpleForLarge) {
  const NcclConfig h100 = config("h100");
  // Eight nodes with one of their eight GPUs each: no ramp changes the tabulated terms.
  const auto us = [&](int64_t bytes) { return model_of(machine("h100"), "8x8").us(kAG, 0, bytes); };
  EXPECT_TRUE(agrees(us(1024), 41.6 + 1024 / 23.3e3));
  EXPECT_TRUE(agrees(us(64 * kMiB), 106.4 + 64.0 * kMiB / 54.9e3));
  EXPECT_LT(model_of(machine("h100"), "8x8").us(kRS, 0, 4 * kMiB),
            model_of(machine("h100"), "8x8").us(kAR, 0, 4 * kMiB));
  EXPECT_EQ(price(h100, 8, 8, kAG, kMiB), price(h100, 8, 8, kRS, kMiB));
}

TEST(NcclAllToAll, GoesThroughTheCardsBehindASwitch) {
  const NcclConfig h100 = config("h100");
  const double nic = 50.0 * (1 - 0.44 / 2);
  EXPECT_TRUE(agrees(price(h100, 2, 8, kA2A, kGiB), 37 + 0.5 * kGiB / (1000 * nic)));
  NcclConfig faster = h100, no_switch = h100;
  faster.bw_inter_gbps = 100;
  no_switch.nvswitch = false;
  EXPECT_LT(price(faster, 2, 8, kA2A, kGiB), price(h100, 2, 8, kA2A, kGiB));
  EXPECT_NE(price(no_switch, 2, 8, kA2A, kGiB), price(h100, 2, 8, kA2A, kGiB));
  EXPECT_LT(price(h100, 8, 8, kA2A, 0), 4 * price(h100, 2, 8, kA2A, 0)) << "latency is sublinear";
}

// A permute uses grouped sends and receives like an all-to-all, but with a single peer. It has the
// start-up of two nodes, and all bytes go through the card.
TEST(NcclPermute, SendsAllBytesToOnePeer) {
  constexpr auto kPermute = Collective::kPermute;
  const NcclConfig h100 = config("h100");
  const double nic = 50.0 * (1 - 0.44 / 2);
  for (const int64_t nodes : {2, 4, 8})
    EXPECT_TRUE(agrees(price(h100, nodes, 8, kPermute, kGiB), 37 + kGiB / (1000 * nic)));
  EXPECT_TRUE(agrees(price(h100, 1, 8, kPermute, kGiB), price(h100, 1, 8, kA2A, kGiB)));
  EXPECT_GT(price(h100, 2, 8, kPermute, kGiB), price(h100, 2, 8, kA2A, kGiB))
      << "half the bytes of an all-to-all stay in the node";
}

TEST(NcclAllToAll, RampSlowsMiddleSizesLessWithMoreNodes) {
  const NcclConfig h100 = config("h100");
  // The efficiency to which the ramp reduces the bandwidth at 64 · 2^9 bytes for each pair of
  // ranks.
  const auto efficiency = [&](int64_t nodes) {
    const int64_t bytes = nodes * 8 * 64 * (1 << 9), large = 1024 * bytes * 64;
    const double latency = price(h100, nodes, 8, kA2A, 0);
    const double slope = (price(h100, nodes, 8, kA2A, large) - latency) / double(large);
    return slope * double(bytes) / (price(h100, nodes, 8, kA2A, bytes) - latency);
  };
  EXPECT_TRUE(agrees(efficiency(2), 0.28));
  EXPECT_TRUE(agrees(efficiency(4), 1 - 0.72 / 2));
  EXPECT_TRUE(agrees(efficiency(16), 1 - 0.72 / 4));
}

}  // namespace
}  // namespace shw::cost
