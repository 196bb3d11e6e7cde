// Lowers the reference planner's own choice. Our program must not have more collectives or send
// more bytes than the program that the reference makes from that choice.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lowering/lower.h"
#include "lowering/shard_order.h"
#include "passes/pass.h"
#include "redistribution/move_prices.h"
#include "reference_choice.h"

namespace shw {
namespace {

struct Traffic {
  size_t count = 0;
  double megabytes = 0;  // sent by one rank
};

Traffic traffic_of(const Program& p) {
  Traffic t;
  for (const ProgramStep& s : p.steps) {
    if (s.collective.kind == CollectiveKind::kNone) continue;
    double n = 1;
    for (uint8_t a : s.collective.axes) n *= static_cast<double>(p.mesh[a].size);
    const double whole = static_cast<double>(
        std::max(p.values[s.inputs[0]].type.bytes(), p.values[s.outputs[0]].type.bytes()));
    t.megabytes +=
        (s.collective.kind == CollectiveKind::kAllReduce ? 2 : 1) * (n - 1) / n * whole / 1e6;
    ++t.count;
  }
  return t;
}

Program lowered(const std::string& problem) {
  const std::string path = std::string(SHW_TEST_DATA) + "/problems/" + problem + ".problem.json.gz";
  const auto choice = testing::read_reference_choice(path);
  EXPECT_TRUE(choice.ok()) << choice.status().message();
  if (!choice.ok()) return {};
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), choice->mesh);
  LowerOptions options;
  options.compute_us = choice->compute_us;
  Monitor monitor;
  const MovePrices prices = move_prices(*model);
  Assignment assignment = *choice->assignment;
  Redistributor redistributor(choice->mesh, prices);
  const Status ordered = choose_shard_orders(choice->graph, redistributor, {}, assignment, monitor);
  EXPECT_TRUE(ordered.ok()) << ordered.message();
  auto p = lower(choice->graph, assignment, redistributor, options, monitor);
  EXPECT_TRUE(p.ok()) << p.status().message() << " at " << p.status().node_name();
  return p.ok() ? std::move(*p) : Program{};
}

struct Case {
  const char* problem;
  size_t collectives;  // in the reference's .parallel graph of the same name
  double megabytes;
  size_t most;  // ours; catches an unnoticed increase
};

TEST(ReferenceChoice, NeedsNoMoreCommunicationThanTheReferenceEmits) {
  const Case cases[] = {
      {"ffn_1d8", 4, 58.720256, 4},         {"block_1d8", 12, 2466.250752, 12},
      {"block_2d8x8", 41, 1112.014848, 28}, {"llama8b_L2_8x8_einsum", 76, 2471.303296, 72},
      {"llama_tiny_2x4", 33, 1.562720, 26},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.problem);
    const Traffic t = traffic_of(lowered(c.problem));
    EXPECT_LE(t.count, c.most) << t.megabytes << " MB";
    EXPECT_LE(c.most, c.collectives);
    EXPECT_LE(t.megabytes, c.megabytes * (1 + 1e-12));
    EXPECT_GT(t.count, 0u);
  }
}

// No collective repeats another, and none merely continues another. A chain of gathers whose
// intermediate result nobody reads would be a single gather.
TEST(ReferenceChoice, NeverMovesTheSameDataTwice) {
  for (const char* problem : {"block_1d8", "block_2d8x8", "llama8b_L2_8x8_einsum"}) {
    SCOPED_TRACE(problem);
    const Program p = lowered(problem);
    std::map<uint32_t, const ProgramStep*> writer;
    std::map<uint32_t, int> readers;
    for (const ProgramStep& s : p.steps) {
      for (ValueId v : s.inputs)
        if (v.valid()) ++readers[p.values[v].storage.v];
      for (ValueId v : s.outputs)
        if (v.valid()) writer[p.values[v].storage.v] = &s;
    }
    std::map<std::pair<std::string, std::vector<int64_t>>, int> done;
    for (const ProgramStep& s : p.steps) {
      if (s.collective.kind == CollectiveKind::kNone) continue;
      const ProgramValue& in = p.values[s.inputs[0]];
      std::vector<int64_t> what = {in.storage.v, in.offset_bytes};
      for (int64_t d : in.type.shape) what.push_back(d);
      for (uint8_t a : s.collective.axes) what.push_back(a);
      EXPECT_EQ(++done[std::pair(s.kernel, what)], 1) << s.kernel << " again";
      const auto before = writer.find(in.storage.v);
      if (before == writer.end() || before->second->kernel != s.kernel) continue;
      if (s.collective.kind == CollectiveKind::kAllToAll) continue;
      EXPECT_GT(readers[in.storage.v], 1) << "a chain of " << s.kernel;
    }
  }
}

TEST(ReferenceChoice, PassesLeaveNothingToDo) {
  for (const char* problem : {"block_2d8x8", "llama8b_L2_8x8_einsum"}) {
    SCOPED_TRACE(problem);
    Program p = lowered(problem);
    Monitor monitor;
    const auto first = run_passes(p, default_passes(), {}, monitor);
    ASSERT_TRUE(first.ok()) << first.status().message();
    const std::string text = to_text(p);
    const auto second = run_passes(p, default_passes(), {}, monitor);
    ASSERT_TRUE(second.ok()) << second.status().message();
    for (const PassReport& r : *second) EXPECT_EQ(r.changed, 0u) << r.name;
    EXPECT_EQ(to_text(p), text);
    EXPECT_GE(p.arena_bytes, p.live_peak_bytes);
    EXPECT_LE(static_cast<double>(p.arena_bytes), 1.003 * static_cast<double>(p.live_peak_bytes));
  }
}

TEST(ReferenceChoice, GivesTheSameProgramEveryTime) {
  EXPECT_EQ(to_text(lowered("block_2d8x8")), to_text(lowered("block_2d8x8")));
}

}  // namespace
}  // namespace shw
