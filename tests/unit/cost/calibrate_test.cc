// Calibration must recover the figures that produced the measurements, and fit straight lines where
// no model applies.
#include "cost/calibrate.h"

#include "cost/hardware_description.h"
#include "test_machines.h"

namespace shw::cost {
namespace {

// The times that the machine's own model gives for a collective on its first dims, from 1 KiB to 1
// GiB.
Measurement measured_on(const Hardware& machine, Collective collective, int64_t nodes,
                        const std::string& mesh, uint32_t group) {
  const CollectiveModel model = model_of(machine, mesh);
  const GroupTopology topology = model.topology_of(group);
  EXPECT_EQ(topology.nodes, nodes);
  Measurement m{collective, nodes, topology.ranks_per_node, {}};
  for (int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4)
    m.samples.push_back({bytes, model.us_combined(collective, group, bytes)});
  return m;
}

double figure(const Calibration& c, const std::string& name) {
  for (const CalibratedFigure& f : c.figures)
    if (f.name == name) return f.determined ? f.after : -1;
  return -2;
}

TEST(Calibrate, FindsTheFiguresOfLinksOutsideNccl) {
  Hardware truth = machine("t4");
  truth.ring = {.devices_per_node = 8,
                .start_us = 21,
                .intra_hop_us = 1.5,
                .inter_hop_us = 6,
                .bw_intra_gbps = 210,
                .bw_inter_gbps = 33,
                .all_to_all_factor = 1.25};
  const Measurement measurements[] = {
      measured_on(truth, kAR, 1, "8", 1), measured_on(truth, kAG, 1, "2x4", 2),
      measured_on(truth, kAG, 2, "16", 1), measured_on(truth, kAR, 4, "4x8", 1),
      measured_on(truth, Collective::kAllToAll, 1, "8", 1)};
  const auto c = calibrate(machine("t4"), measurements);
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_NEAR(figure(*c, "ring.intra_gb_per_s"), 210, 1);
  EXPECT_NEAR(figure(*c, "ring.inter_gb_per_s"), 33, 0.2);
  EXPECT_NEAR(figure(*c, "ring.start_us"), 21, 0.5);
  EXPECT_NEAR(figure(*c, "ring.intra_hop_us"), 1.5, 0.1);
  EXPECT_NEAR(figure(*c, "ring.inter_hop_us"), 6, 0.1);
  EXPECT_NEAR(figure(*c, "ring.all_to_all_factor"), 1.25, 0.01);
  for (const CalibratedCollective& of : c->collectives) {
    EXPECT_LT(of.model.mean, 0.01);
    EXPECT_LT(of.lines.max, 1e-6) << "the truth is a line";
  }
}

TEST(Calibrate, FindsTheBandwidthsOfNccl) {
  Hardware truth = machine("a100");
  truth.nccl->bw_intra_gbps = 230;
  truth.nccl->bw_inter_gbps = 11;
  truth.nccl->net_latency_us = 4;
  const Measurement measurements[] = {measured_on(truth, kAR, 1, "8", 1),
                                      measured_on(truth, kAR, 4, "32", 1)};
  const auto c = calibrate(machine("a100"), measurements);
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_NEAR(figure(*c, "nccl.intra_gb_per_s"), 230, 1);
  EXPECT_NEAR(figure(*c, "nccl.inter_gb_per_s"), 11, 0.1);
  EXPECT_NEAR(figure(*c, "nccl.net_latency_us"), 4, 0.2);
}

TEST(Calibrate, SaysWhichFiguresTheRunsDoNotTell) {
  const Measurement one_node[] = {measured_on(machine("h100"), kAG, 1, "8", 1)};
  const auto c = calibrate(machine("h100"), one_node);
  for (const CalibratedFigure& f : c->figures) {
    EXPECT_FALSE(f.determined) << f.name << ": NCCL's tables stand for one node";
    EXPECT_EQ(f.before, f.after);
  }
  EXPECT_LT(c->collectives[0].base.max, 1e-9);
}

TEST(Calibrate, DrawsOneLineAProtocol) {
  Measurement m{kAG, 1, 8, {}};
  for (int64_t bytes = 64; bytes <= int64_t{1} << 32; bytes *= 2) {
    const double x = static_cast<double>(bytes);
    m.samples.push_back({bytes, std::min({10 + x / 2e3, 30 + x / 40e3, 90 + x / 300e3})});
  }
  std::swap(m.samples.front(), m.samples.back());  // the order must not matter
  const auto c = calibrate(machine("h100"), std::span(&m, 1));
  ASSERT_TRUE(c.ok()) << c.status().message();
  ASSERT_EQ(c->hardware.measured.size(), 1u);
  const auto& lines = c->hardware.measured[0].lines;
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(agrees(lines[0].latency_us, 10, 1e-6) && agrees(lines[0].bw_gbps, 2, 1e-6));
  EXPECT_TRUE(agrees(lines[1].latency_us, 30, 1e-6) && agrees(lines[1].bw_gbps, 40, 1e-6));
  EXPECT_TRUE(agrees(lines[2].latency_us, 90, 1e-6) && agrees(lines[2].bw_gbps, 300, 1e-6));
}

TEST(Calibrate, MakesADescriptionThatPricesAsItReports) {
  Measurement m{kAR, 2, 8, {{1 << 10, 40}, {1 << 20, 140}, {1 << 25, 1100}, {1 << 30, 29000}}};
  const auto c = calibrate(machine("a100"), std::span(&m, 1));
  ASSERT_TRUE(c.ok()) << c.status().message();
  const auto read = parse_hardware(hardware_json(c->hardware));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const CollectiveModel model = model_of(*read, "2x8");
  double worst = 0;
  for (const auto& s : m.samples)
    worst = std::max(worst, std::abs(std::log(model.us_combined(kAR, 3, s.bytes) / s.us)));
  EXPECT_TRUE(agrees(std::expm1(worst), c->collectives[0].lines.max));
  EXPECT_LE(c->collectives[0].model.mean, c->collectives[0].base.mean);
}

TEST(Calibrate, RefusesWhatTellsNothing) {
  const Measurement good{kAG, 1, 8, {{1 << 10, 10}, {1 << 30, 4000}}};
  const auto refusal = [&](auto change, const char* base = "h100") {
    Measurement m = good;
    change(m);
    return calibrate(machine(base), std::span(&m, 1)).status().message();
  };
  const auto expect_says = [](const std::string& message, const char* what) {
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  expect_says(calibrate(machine("h100"), {}).status().message(), "nothing was measured");
  expect_says(refusal([](Measurement& m) { m.samples.pop_back(); }), "one size cannot");
  expect_says(refusal([](Measurement& m) { m.samples[1].us = 11; }), "measure larger ones");
  expect_says(refusal([](Measurement& m) { m.samples.resize(5000, {1 << 20, 50}); }), "5000 sizes");
  expect_says(refusal([](Measurement& m) { m.devices_per_node = 16; }), "nodes of 'h100' have 8");
  expect_says(refusal([](Measurement& m) { m.devices_per_node = 3; }), "nodes of 'h100' have 8");
  expect_says(refusal([](Measurement& m) { m.devices_per_node = 1; }), "a group of 1 × 1");
  EXPECT_EQ(refusal([](Measurement& m) { m.devices_per_node = 3; }, "cpu"), "");
  const Measurement twice[] = {good, good};
  expect_says(calibrate(machine("h100"), twice).status().message(), "measured twice");
}

}  // namespace
}  // namespace shw::cost
