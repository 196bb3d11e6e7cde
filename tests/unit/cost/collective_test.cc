// Prices of collectives: worked examples of the reference planner, group topologies, and the
// fallback.
#include "cost/collective.h"

#include <cmath>

#include "test_machines.h"

namespace shw::cost {
namespace {

Hardware without_nvswitch(Hardware hardware) {
  hardware.nccl->nvswitch = false;
  return hardware;
}

Hardware with_collnet(Hardware hardware) {
  hardware.nccl->has_collnet = true;
  return hardware;
}

// The reference planner computed these figures. They are printed with six decimals.
TEST(CollectiveModel, ReproducesTheWorkedExamples) {
  const struct {
    Hardware hardware;
    const char* mesh;
    GroupTopology group;  // of mesh dim 0
    Collective collective;
    int64_t bytes;
    double us;
  } kExamples[] = {
      {machine("h100"), "8", {8, 1, 8}, kAG, kMiB, 32.661360},
      {machine("h100"), "8", {8, 1, 8}, kRS, 64 * kMiB, 200.327066},
      {machine("h100"), "8", {8, 1, 8}, kAR, 16 * kMiB, 93.836015},
      {machine("h100"), "8", {8, 1, 8}, kA2A, 16 * kMiB, 94.150568},
      {machine("h100"), "2x4", {2, 1, 2}, kAG, 16 * kMiB, 39.242488},
      {machine("h100", 6), "6", {6, 1, 6}, kAR, 16 * kMiB, 89.708612},
      {machine("h100"), "8x8", {8, 8, 1}, kAG, 16 * kMiB, 405.722099},
      {machine("h100"), "8x8", {8, 8, 1}, kAR, 16 * kMiB, 1124.167677},
      {machine("h100"), "8x8", {8, 8, 1}, kAR, 1024 * kMiB, 37949.724854},
      {machine("h100"), "8x8", {8, 8, 1}, kA2A, 16 * kMiB, 382.514725},
      {machine("h100"), "64", {64, 8, 8}, kAG, 16 * kMiB, 231.109945},
      {machine("h100"), "64", {64, 8, 8}, kAR, 64 * kMiB, 691.542222},
      {machine("h100"), "16", {16, 2, 8}, kRS, 4096, 26.582051},
      {machine("h100"), "16", {16, 2, 8}, kAR, 1024 * kMiB, 4079.028586},
      {machine("h100"), "512", {512, 64, 8}, kAG, 64 * kMiB, 17295.573821},
      {without_nvswitch(machine("h100")), "16", {16, 2, 8}, kAR, 16 * kMiB, 183.582254},
      {machine("a100"), "8", {8, 1, 8}, kAG, 16 * kMiB, 199.589555},
      {machine("a100"), "8", {8, 1, 8}, kAR, 16 * kMiB, 390.779111},
      {machine("a100"), "8", {8, 1, 8}, kA2A, 16 * kMiB, 308.889070},
      {machine("a100"), "32", {32, 4, 8}, kAG, 64 * kMiB, 4292.127746},
      {machine("a100", 1), "4", {4, 4, 1}, kAR, kMiB, 210.098705},
      {with_collnet(machine("a100")), "16", {16, 2, 8}, kAR, 64 * kMiB, 1319.348993},
      {machine("gb200"), "9x8", {9, 1, 9}, kAR, 16 * kMiB, 62.418007},
      {machine("gb200", 8), "16", {16, 2, 8}, kAR, 256 * kMiB, 556.253573},
  };
  int number = 0;
  for (const auto& e : kExamples) {
    SCOPED_TRACE(++number);
    const CollectiveModel model = model_of(e.hardware, e.mesh);
    EXPECT_EQ(model.topology(0), e.group);
    EXPECT_NEAR(model.us(e.collective, 0, e.bytes), e.us, 5.1e-7);
  }
}

TEST(CollectiveModel, DerivesTopologyFromRowMajorRanks) {
  const CollectiveModel one = model_of(machine("a100"), "8");
  EXPECT_EQ(one.topology(0), (GroupTopology{8, 1, 8}));
  const CollectiveModel two = model_of(machine("a100"), "2x8");
  EXPECT_EQ(two.topology(0), (GroupTopology{2, 2, 1}));
  EXPECT_EQ(two.topology(1), (GroupTopology{8, 1, 8}));
  const CollectiveModel three = model_of(machine("a100"), "2x4x4");
  EXPECT_EQ(three.topology(2), (GroupTopology{4, 1, 4}));
  EXPECT_EQ(three.topology(1), (GroupTopology{4, 2, 2}));
  EXPECT_EQ(three.topology(0), (GroupTopology{2, 2, 1}));
}

// Counts one by one the nodes that hold members of rank 0's group.
GroupTopology count_topology(const Mesh& mesh, uint32_t mask, int64_t gpus_per_node) {
  GroupTopology group{0, 0, 0};
  int64_t last_node = -1;
  for (int64_t rank = 0; rank < mesh.num_ranks(); ++rank) {
    bool member = true;
    for (int d = 0; d < mesh.rank(); ++d)
      member &= (mask >> d & 1) || mesh.coordinate(rank, d) == 0;
    if (!member) continue;
    ++group.ranks;
    if (rank / gpus_per_node != last_node) ++group.nodes;
    if (rank < gpus_per_node) ++group.ranks_per_node;
    last_node = rank / gpus_per_node;
  }
  return group;
}

TEST(CollectiveModel, CombinedGroupsCountTheRanksTheyContain) {
  for (const char* shape : {"64", "8x8", "2x4x8", "4x4x4", "2x2x2x2x2x2", "1x8x1x8", "16x2x2"}) {
    SCOPED_TRACE(shape);
    const CollectiveModel model = model_of(machine("h100"), shape);
    for (uint32_t mask = 1; mask < 1u << model.mesh().rank(); ++mask)
      EXPECT_EQ(model.topology_of(mask), count_topology(model.mesh(), mask, 8)) << mask;
  }
}

TEST(CollectiveModel, CombinedGroupOfTheWholeMeshEqualsTheFlatMesh) {
  const CollectiveModel flat = model_of(machine("h100"), "64");
  const CollectiveModel square = model_of(machine("h100"), "8x8");
  for (const Collective c : {kAG, kRS, kAR, kA2A})
    for (const int64_t bytes : {int64_t{0}, int64_t{5000}, kMiB, 100 * kMiB})
      EXPECT_EQ(square.us_combined(c, 0b11, bytes), flat.us(c, 0, bytes));
}

TEST(CollectiveModel, GroupOfOneRankIsFree) {
  const CollectiveModel model = model_of(machine("h100"), "1x8");
  for (const Collective c : {kAG, kRS, kAR, kA2A}) EXPECT_EQ(model.us(c, 0, kMiB), 0);
}

// One node of H100 has a table with rows for 2, 4 and 8 ranks. A description may hold its own
// measurements. A mesh that does not fill whole nodes is priced by the ring model.
TEST(CollectiveModel, SaysWhatAPriceRestsOn) {
  const CollectiveModel h100 = model_of(machine("h100"), "8x8");
  EXPECT_EQ(h100.basis(kAG, 0b10), Basis::kMeasured);
  EXPECT_EQ(h100.basis(kAR, 0b11), Basis::kMeasured);  // 8 nodes of 8: a row of the other table
  EXPECT_EQ(h100.basis(kA2A, 0b10), Basis::kAnalytical);
  EXPECT_EQ(h100.basis(kA2A, 0b01), Basis::kInterpolated);
  EXPECT_EQ(model_of(machine("h100"), "1x8").basis(kAG, 0b01), Basis::kAnalytical);
  EXPECT_EQ(model_of(without_nvswitch(machine("h100")), "8").basis(kAG, 1), Basis::kAnalytical);
  EXPECT_EQ(model_of(machine("h100"), "2x2").basis(kAG, 0b01), Basis::kFallback);
  EXPECT_EQ(model_of(machine("v100"), "8").basis(kAR, 1), Basis::kFallback);
}

TEST(CollectiveModel, FallsBackWhenNodesDoNotDivideTheRanks) {
  EXPECT_TRUE(model_of(machine("h100"), "8").uses_nccl_model());
  EXPECT_FALSE(model_of(machine("h100"), "2x2").uses_nccl_model());
  EXPECT_FALSE(model_of(machine("v100"), "8").uses_nccl_model());
}

TEST(CollectiveModel, DefaultModelHasOneRateInsideAHostAndOneBetween) {
  const CollectiveModel model = model_of(machine("v100"), "8x8");
  const double gib = 1.0 / 1024;  // of 1 MiB
  EXPECT_TRUE(agrees(model.us(kAG, 1, kMiB), 6.6 + 7 * 0.6 + gib * 7 / 8 / 87.7 * 1e6));
  EXPECT_TRUE(agrees(model.us(kRS, 0, kMiB), 6.6 + 7 * 2.7 + gib * 7 / 8 / 19.294 * 1e6));
  EXPECT_TRUE(agrees(model.us(kAR, 1, kMiB), 6.6 + 14 * 0.6 + gib * 14 / 8 / 87.7 * 1e6));
  EXPECT_TRUE(agrees(model.us(kA2A, 1, kMiB), 5 * model.us(kAG, 1, kMiB)));
  EXPECT_TRUE(
      agrees(model.us_combined(kAG, 0b11, kMiB), 6.6 + 63 * 2.7 + gib * 63 / 64 / 19.294 * 1e6));
}

// Start-up and one hop, then the bytes at the link's rate, whatever the number of ranks.
TEST(CollectiveModel, DefaultModelPricesAPermuteAsOneMessage) {
  Hardware alone = machine("h100");
  alone.nccl.reset();
  const RingConfig& ring = alone.ring;
  for (const char* mesh : {"2", "8"})
    EXPECT_DOUBLE_EQ(model_of(alone, mesh).us(Collective::kPermute, 0, 1 << 20),
                     ring.start_us + ring.intra_hop_us + (1 << 20) / ring.bw_intra_gbps / 1e3);
  EXPECT_DOUBLE_EQ(model_of(alone, "16").us(Collective::kPermute, 0, 1 << 20),
                   ring.start_us + ring.inter_hop_us + (1 << 20) / ring.bw_inter_gbps / 1e3);
}

TEST(CollectiveModel, RefusesFiguresThatAreNotPositive) {
  for (const auto& spoil :
       {+[](NcclConfig& c) { c.gpus_per_node = 0; }, +[](NcclConfig& c) { c.num_channels = 0; },
        +[](NcclConfig& c) { c.bw_inter_gbps = -1; },
        +[](NcclConfig& c) { c.bw_intra_gbps = std::nan(""); },
        +[](NcclConfig& c) { c.net_latency_us = -1; }}) {
    Hardware hardware = machine("h100");
    spoil(*hardware.nccl);
    EXPECT_EQ(CollectiveModel::create(hardware, mesh_of("8")).status().code(),
              Code::kInvalidArgument);
  }
}

TEST(CollectiveModel, GrowsWithBytes) {
  for (const char* name : {"a100", "h100", "gb200"})
    for (const char* shape : {"72", "2x72", "144", "4x36"}) {
      const CollectiveModel model = model_of(machine(name), shape);
      for (const Collective c : {kAG, kRS, kAR, kA2A}) {
        SCOPED_TRACE(std::string(name) + " " + shape + " " + std::to_string(int(c)));
        EXPECT_GT(model.us(c, 0, 0), 0);
        for (int64_t bytes = 1 << 14; bytes < 1 << 27; bytes *= 4)
          EXPECT_LT(model.us(c, 0, bytes), model.us(c, 0, 4 * bytes)) << bytes;
      }
    }
}

}  // namespace
}  // namespace shw::cost
