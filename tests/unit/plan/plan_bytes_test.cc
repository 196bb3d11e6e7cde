#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "plan/plan.h"
#include "plan_generated.h"
#include "sample.h"
#include "support/hash.h"

namespace shw {
namespace {

using testing::sample_plan;
using Bytes = std::vector<uint8_t>;

// Recomputes the checksum after a deliberate change. Later checks must then find damage that the
// checksum no longer reveals.
Bytes with_checksum(Bytes bytes) {
  const uint64_t hash = hash_bytes(bytes.data(), bytes.size() - 8);
  std::memcpy(bytes.data() + bytes.size() - 8, &hash, 8);
  return bytes;
}

TEST(PlanBytes, RoundTripIsTheIdentity) {
  const Bytes bytes = write_plan(sample_plan());
  const auto plan = read_plan(bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(write_plan(*plan), bytes);
  EXPECT_EQ(to_text(plan->program), to_text(sample_plan().program));
  EXPECT_EQ(plan->summary.graph_hash, sample_plan().summary.graph_hash);
  EXPECT_EQ(plan->summary.decisions[0].operand_layouts, "RR, RR");
  ASSERT_EQ(plan->summary.memory_shares.size(), 2u);
  EXPECT_EQ(plan->summary.memory_shares[0].module_path, "layers.0");
  EXPECT_EQ(plan->summary.memory_shares[1].bytes, 300);
  const ProgramStep &a = plan->program.steps[2], b = sample_plan().program.steps[2];
  EXPECT_EQ(a.attrs, b.attrs);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
}

TEST(PlanBytes, KeepSymbolsAndBuckets) {
  Plan plan = sample_plan();
  plan.program.symbols = {{"n", 0, INT64_MAX, 4, 0}};
  plan.program.entries[0].bucket_of = "all";
  plan.program.entries[0].bucket = {8};
  plan.program.ports[PortId{0}].sizes = {{0, {{0, 1}}}, {8, {}}};
  const Bytes bytes = write_plan(plan);
  const auto read = read_plan(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->program.symbols, plan.program.symbols);
  EXPECT_EQ(read->program.entries[0].bucket_of, "all");
  EXPECT_EQ(read->program.entries[0].bucket, plan.program.entries[0].bucket);
  EXPECT_EQ(read->program.ports[PortId{0}].sizes, plan.program.ports[PortId{0}].sizes);
  EXPECT_EQ(write_plan(*read), bytes);
}

TEST(PlanBytes, AreTheSameEveryTime) {
  EXPECT_EQ(write_plan(sample_plan()), write_plan(sample_plan()));
}

TEST(PlanBytes, EveryBitFlipIsDataLoss) {
  Bytes bytes = write_plan(sample_plan());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    const auto plan = read_plan(bytes);
    ASSERT_FALSE(plan.ok()) << "bit " << bit;
    ASSERT_EQ(plan.status().code(), Code::kDataLoss) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

TEST(PlanBytes, EveryTruncationIsDataLoss) {
  const Bytes bytes = write_plan(sample_plan());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto plan = read_plan(std::span(bytes).first(size));
    ASSERT_FALSE(plan.ok()) << size;
    ASSERT_EQ(plan.status().code(), Code::kDataLoss) << size;
  }
}

TEST(PlanBytes, AnotherFormatVersionSaysBothSides) {
  Bytes bytes = write_plan(sample_plan());
  const uint32_t version = 2;
  std::memcpy(bytes.data() + bytes.size() - 16, &version, 4);
  const auto plan = read_plan(with_checksum(bytes));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(plan.status().message().find("format version 2"), std::string::npos);
  EXPECT_NE(plan.status().message().find("reads version 1"), std::string::npos);
}

// Before the memory pass storages have no offsets: the executor must refuse such a program.
TEST(PlanBytes, AProgramWithoutItsMemoryPlanIsRefused) {
  Plan plan = sample_plan();
  for (ProgramStorage& s : plan.program.storages) s.offset_bytes = -1;
  plan.program.arena_bytes = plan.program.live_peak_bytes = 0;
  ASSERT_TRUE(verify(plan.program, false).ok());
  const auto read = read_plan(write_plan(plan));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::kDataLoss);
  EXPECT_NE(read.status().message().find("offset -1 is not a multiple"), std::string::npos)
      << read.status().message();
}

TEST(PlanBytes, AGraphIsNoPlan) {
  Bytes bytes = write_plan(sample_plan());
  std::memcpy(bytes.data() + 4, "SWGR", 4);
  const auto plan = read_plan(with_checksum(bytes));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), Code::kDataLoss);
  EXPECT_NE(plan.status().message().find("identifier"), std::string::npos);
}

TEST(PlanBytes, AreReadAtAnyAlignment) {
  const Bytes bytes = write_plan(sample_plan());
  for (size_t shift = 0; shift < 16; ++shift) {
    Bytes moved(shift, 0);
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    const auto plan = read_plan(std::span(moved).subspan(shift));
    ASSERT_TRUE(plan.ok()) << shift << ": " << plan.status().message();
  }
}

// With a corrected checksum, every change of a single byte must still give a status or a valid
// plan, never a crash.
TEST(PlanBytes, SurvivesEveryByteBehindTheChecksum) {
  const Bytes bytes = write_plan(sample_plan());
  size_t refused = 0;
  for (size_t i = 0; i + 16 < bytes.size(); ++i)
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0xff}) {
      Bytes changed = bytes;
      changed[i] = value;
      const auto plan = read_plan(with_checksum(changed));
      if (plan.ok()) {
        EXPECT_TRUE(verify(plan->program, false).ok());
      } else {
        ++refused;
      }
    }
  EXPECT_GT(refused, bytes.size());
}

// Plans of released versions stay readable (capi/ABI.md, rule 28). When the format or the version
// changes on purpose, run this test with --gtest_also_run_disabled_tests to write the sample again.
// The tool makes the other plan: `import examples/data/llama_tiny…`, `plan --mesh dp=2,tp=4
// --strip-graph`. For the plan with host memory, add `--hardware '{"name": "linked", "base":
// "h100", "device": {"host_bytes_per_s": 1e12, "launch_us": 0.001}}' --recompute auto --memory
// 640KiB --host-memory 1GB`.
TEST(PlanBytes, DISABLED_WritesTheSample) {
  const Bytes bytes = write_plan(sample_plan());
  std::ofstream(std::filesystem::path(SHW_TEST_DATA) / "plans/v1/sample.swplan", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

TEST(PlanBytes, ReadsThePlansOfReleases) {
  const std::filesystem::path folder = std::filesystem::path(SHW_TEST_DATA) / "plans";
  size_t read = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".swplan") continue;
    SCOPED_TRACE(file.path().string());
    std::ifstream in(file.path(), std::ios::binary);
    const Bytes bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto plan = read_plan(bytes);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(write_plan(*plan), bytes);
    ++read;
  }
  EXPECT_GT(read, 0u);
}

TEST(PlanBytes, KeepAPermute) {
  Plan plan = sample_plan();
  ProgramStep& step = plan.program.steps[3];
  step.kernel = "collective_permute";
  step.collective = {CollectiveKind::kPermute, ReduceOp::kSum, {1, 0}, {0, 1}};
  const auto back = read_plan(write_plan(plan));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->program.steps[3].collective, step.collective);
  EXPECT_NE(to_text(back->program).find(" = collective_permute["), std::string::npos);
  EXPECT_NE(to_text(back->program).find(" -> "), std::string::npos);
}

}  // namespace
}  // namespace shw
