// Graphs whose sizes are known only at run time. They are planned in buckets on meshes and run on
// virtual ranks at every size.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "plan/plan.h"
#include "plan/report.h"
#include "run_plan.h"
#include "runtime/entry.h"
#include "tiny_model.h"
#include "verify/verify_run.h"

namespace shw {
namespace {

using runtime::choose_bucket;
using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::SymbolSize;
using runtime::VirtualRanks;
using testing::f32;
using testing::floats;
using testing::ranks_of;

std::shared_ptr<const Plan> planned(const std::string& name, const std::string& mesh,
                                    const std::vector<std::string>& buckets,
                                    const std::string& cache_layout = "") {
  std::ifstream file(SHW_TEST_DATA "/symbolic/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  const auto graph = parse_graph(text.str());
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return nullptr;
  CompileOptions options;
  options.mesh = mesh;
  for (const std::string& b : buckets) options.buckets.push_back(*parse_bucket_sizes(b));
  if (!cache_layout.empty()) options.pins = {{"buffer.cache", cache_layout}};
  return testing::planned(write_graph(*graph), options);
}

std::vector<float> waves(size_t n, float step) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = std::sin(step * static_cast<float>(i)) * 0.7f;
  return v;
}

class Buckets : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Meshes, Buckets, ::testing::Values("a=1", "a=4", "a=2,b=2", "a=3"),
                         [](const auto& c) { return testing::test_name(c.param); });

// ---- a cache of keys, decoded token by token

constexpr int64_t kLength = 64, kWidth = 8;

class Decoding {
 public:
  explicit Decoding(const std::shared_ptr<const Plan>& plan)
      : ranks_(ranks_of(plan)), x_(waves(kLength * kWidth, 1)) {}

  std::vector<float> whole() {
    std::vector<float> causal(kLength * kLength, 0);
    for (size_t i = 0; i < kLength; ++i)
      for (size_t j = i + 1; j < kLength; ++j) causal[i * kLength + j] = -1e30f;
    const HostTensorView in[] = {f32(x_, {kLength, kWidth}), f32(causal, {kLength, kLength})};
    const auto out = ranks_->run("full", in);
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? floats((*out)[0]) : std::vector<float>();
  }

  // The row of one token. The mask pads the run to the size of its bucket.
  std::vector<float> token(int64_t position, const ProgramEntry& bucket) {
    const int64_t size = bucket.bucket[0];
    std::vector<float> mask(static_cast<size_t>(size), -1e30f);
    std::fill(mask.begin(), mask.begin() + position + 1, 0.0f);
    const std::vector<float> row(x_.begin() + position * kWidth,
                                 x_.begin() + (position + 1) * kWidth);
    const HostTensorView in[] = {
        f32(row, {1, kWidth}), {row_major(Dtype::kI64, {1}), &position}, f32(mask, {1, size})};
    const auto out = ranks_->run(bucket.name, in);
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? floats((*out)[0]) : std::vector<float>(kWidth);
  }
  const Program& program() const { return ranks_->program(); }

 private:
  std::unique_ptr<VirtualRanks> ranks_;
  std::vector<float> x_;
};

void expect_decoding_is_the_whole_pass(const std::shared_ptr<const Plan>& plan) {
  ASSERT_NE(plan, nullptr);
  Decoding decoding(plan);
  const std::vector<float> expected = decoding.whole();
  ASSERT_EQ(expected.size(), static_cast<size_t>(kLength * kWidth));
  int small = 0;
  for (int64_t position = 0; position < kLength; ++position) {
    const SymbolSize size[] = {{"cache", position + 1}};
    const auto bucket = choose_bucket(plan->program, "decode", size);
    ASSERT_TRUE(bucket.ok()) << bucket.status().message();
    small += (*bucket)->bucket[0] == 16;
    const std::vector<float> got = decoding.token(position, **bucket);
    for (size_t d = 0; d < kWidth; ++d)
      EXPECT_NEAR(got[d], expected[static_cast<size_t>(position * kWidth) + d], 2e-6)
          << "position " << position;
  }
  EXPECT_EQ(small, 16);
}

TEST_P(Buckets, DecodingWithACacheIsTheWholeForwardPass) {
  expect_decoding_is_the_whole_pass(planned("decode.swt", GetParam(), {"decode:cache=16,64"}));
}

// The result must not depend on how the cache is sharded, even along the dim of which buckets take
// slices.
TEST(ShardedCache, DecodingIsTheWholeForwardPass) {
  for (const auto& [mesh, layout] :
       {std::pair("a=4", "S(0)"), std::pair("a=4", "S(1)"), std::pair("a=2,b=2", "S(0)S(1)"),
        std::pair("a=2,b=2", "S(1)S(1)"), std::pair("a=3", "S(0)")}) {
    SCOPED_TRACE(std::string(mesh) + " " + layout);
    const auto plan = planned("decode.swt", mesh, {"decode:cache=16,64"}, layout);
    ASSERT_NE(plan, nullptr);
    for (const Port& port : plan->program.ports)
      if (port.name == "buffer.cache") {
        EXPECT_EQ(to_string(port.layout, static_cast<int>(plan->program.mesh.size())), layout);
      }
    expect_decoding_is_the_whole_pass(plan);
  }
}

TEST_P(Buckets, ShareOneStateAndItsLayout) {
  const auto plan = planned("decode.swt", GetParam(), {"decode:cache=16,64"});
  ASSERT_NE(plan, nullptr);
  const Program& p = plan->program;
  int states = 0, masks = 0;
  for (uint32_t i = 0; i < p.storages.size(); ++i)
    states += p.storages[StorageId{i}].kind == StorageKind::kState;
  for (const Port& port : p.ports)
    if (port.name == "input.mask") {
      ++masks;
      EXPECT_EQ(to_string(port.sizes[1], p.symbols), "cache");
    }
  EXPECT_EQ(states, 1);
  EXPECT_EQ(masks, 2);
  ASSERT_EQ(p.symbols.size(), 1u);
  EXPECT_EQ(p.symbols[0], (Symbol{"cache", 1, 64, 1, 16}));
  EXPECT_NE(plan_text(*plan, {}).find("buckets  decode: cache=16; cache=64\n"), std::string::npos);
}

// Only one bucket of an entry runs at a time, so a rank holds the ports of the largest bucket only.
TEST_P(Buckets, AreNotHeldAllAtOnce) {
  const auto both = planned("decode.swt", GetParam(), {"decode:cache=16,64"}),
             large = planned("decode.swt", GetParam(), {"decode:cache=64"});
  ASSERT_TRUE(both != nullptr && large != nullptr);
  for (const PortRole role : {PortRole::kInput, PortRole::kBuffer, PortRole::kResult})
    EXPECT_EQ(port_bytes(both->program, role), port_bytes(large->program, role));
  EXPECT_GT(port_bytes(both->program, PortRole::kInput), 0);
  EXPECT_EQ(both->summary.memory_program_bytes - both->program.arena_bytes,
            large->summary.memory_program_bytes - large->program.arena_bytes);
}

// The cache is updated in place, so it is held once. Values that entries share are also held once.
TEST(Memory, OfThePlanIsWhatARankHolds) {
  const auto plan = planned("decode.swt", "a=1", {"decode:cache=16,64"});
  ASSERT_NE(plan, nullptr);
  constexpr int64_t kCache = 64 * 8 * 4, kRow = 8 * 4, kPosition = 8, kMask = 64 * 4,
                    kAll = 64 * 8 * 4, kCausal = 64 * 64 * 4;
  EXPECT_EQ(plan->summary.memory_program_bytes,
            plan->program.arena_bytes + plan->program.session_bytes + kCache + kRow + kPosition +
                kMask + kRow + kAll + kCausal + kAll);
}

TEST(ChooseBucket, TakesTheSmallestThatFits) {
  const auto plan = planned("two_sizes.swt", "a=2", {"batch=8,16,64", "prefix=4,16"});
  ASSERT_NE(plan, nullptr);
  const auto chosen = [&](int64_t batch, int64_t prefix) {
    const SymbolSize sizes[] = {{"prefix", prefix}, {"batch", batch}};
    const auto entry = choose_bucket(plan->program, "forward", sizes);
    return entry.ok() ? (*entry)->name : entry.status().message();
  };
  EXPECT_EQ(chosen(4, 4), "forward@batch=8,prefix=4");
  EXPECT_EQ(chosen(8, 8), "forward@batch=8,prefix=16");
  EXPECT_EQ(chosen(12, 4), "forward@batch=16,prefix=4");
  EXPECT_EQ(chosen(64, 16), "forward@batch=64,prefix=16");
  EXPECT_EQ(chosen(6, 4), "symbol 'batch': 6 is not a multiple of 4");
  EXPECT_EQ(chosen(0, 4), "symbol 'batch': 0 is not from 4 to 64");
  EXPECT_EQ(chosen(68, 4),
            "no bucket of entry 'forward' is large enough for batch=68; the largest has batch=64");
}

TEST(ChooseBucket, SaysWhatItLacks) {
  const auto plan = planned("decode.swt", "a=1", {"decode:cache=8,16"});
  ASSERT_NE(plan, nullptr);
  const auto words = [&](const char* entry, const std::vector<SymbolSize>& sizes) {
    const auto chosen = choose_bucket(plan->program, entry, sizes);
    return chosen.ok() ? (*chosen)->name : chosen.status().message();
  };
  EXPECT_EQ(words("decode", {{"cache", 17}}),
            "no bucket of entry 'decode' is large enough for cache=17; the largest has cache=16");
  const SymbolSize too_large[] = {{"cache", 17}};
  EXPECT_EQ(choose_bucket(plan->program, "decode", too_large).status().code(), Code::kOutOfRange);
  EXPECT_EQ(words("decode", {{"cache", 3}, {"cache", 3}}),
            "the size of symbol 'cache' is given twice");
  EXPECT_EQ(words("decode", {}), "entry 'decode' depends on 'cache', whose size is not given");
  EXPECT_EQ(words("decode", {{"batch", 1}}), "entry 'decode' does not depend on 'batch'");
  EXPECT_EQ(words("full", {}), "full");
  EXPECT_EQ(words("full", {{"cache", 1}}), "entry 'full' does not depend on 'cache'");
  EXPECT_EQ(words("other", {}), "the plan has no entry 'other'");
  EXPECT_EQ(runtime::find_entry(plan->program, "decode").status().message(),
            "the plan has no entry 'decode' of one size; it has the buckets decode@cache=8, "
            "decode@cache=16");
}

// ---- forward and backward of two symbols, in a session

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, size_t m,
                           size_t k, size_t n, bool a_transposed) {
  std::vector<float> c(m * n, 0);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t l = 0; l < k; ++l)
        sum += double{a_transposed ? a[l * m + i] : a[i * k + l]} * double{b[l * n + j]};
      c[i * n + j] = static_cast<float>(sum * 0.5);
    }
  return c;
}

TEST_P(Buckets, BackwardFindsTheForwardOfItsSizes) {
  const auto plan = planned("two_sizes.swt", GetParam(), {"batch=8,16", "prefix=4,8"});
  ASSERT_NE(plan, nullptr);
  ASSERT_EQ(plan->program.entries.size(), 8u);
  const auto ranks = ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  const std::vector<float> w = waves(32 * 32, 0.3f);
  for (const int64_t batch : {16, 8})
    for (const int64_t prefix : {4, 8}) {
      const SymbolSize sizes[] = {{"batch", batch}, {"prefix", prefix}};
      const auto forward = choose_bucket(plan->program, "forward", sizes);
      const auto backward = choose_bucket(plan->program, "backward", sizes);
      ASSERT_TRUE(forward.ok() && backward.ok());
      const auto rows = static_cast<size_t>(batch + prefix);
      const std::vector<float> all = waves(rows * 32, 0.7f), g = waves(rows * 32, 1.1f);
      const std::vector<float> e(all.begin(), all.begin() + prefix * 32),
          x(all.begin() + prefix * 32, all.end());
      const HostTensorView in[] = {f32(w, {32, 32}), f32(x, {batch, 32}), f32(e, {prefix, 32})};
      const auto y = ranks->run((*forward)->name, in);
      ASSERT_TRUE(y.ok()) << y.status().message();
      const std::vector<float> want_y = product(all, w, rows, 32, 32, false),
                               want_dw = product(all, g, 32, rows, 32, true);
      const std::vector<float> got_y = floats((*y)[0]);
      ASSERT_EQ(got_y.size(), want_y.size());
      for (size_t i = 0; i < got_y.size(); ++i) EXPECT_NEAR(got_y[i], want_y[i], 1e-5);
      const HostTensorView tangent[] = {f32(g, {batch + prefix, 32})};
      const auto dw = ranks->run((*backward)->name, tangent);
      ASSERT_TRUE(dw.ok()) << dw.status().message();
      const std::vector<float> got_dw = floats((*dw)[0]);
      for (size_t i = 0; i < got_dw.size(); ++i) EXPECT_NEAR(got_dw[i], want_dw[i], 1e-5);
    }
}

TEST(Verification, KnowsTheBucketsOfThePlan) {
  const auto plan = planned("two_sizes.swt", "a=2", {"batch=8,16", "prefix=4,8"});
  ASSERT_NE(plan, nullptr);
  const auto ranks = ranks_of(plan);
  const std::string name = "forward@batch=16,prefix=8";
  const std::vector<float> w = waves(32 * 32, 0.3f), x = waves(16 * 32, 0.7f), e = waves(8 * 32, 1);
  const HostTensorView in[] = {f32(w, {32, 32}), f32(x, {16, 32}), f32(e, {8, 32})};
  const auto out = ranks->run(name, in);
  ASSERT_TRUE(out.ok()) << out.status().message();
  const HostTensorView view[] = {{(*out)[0].type, (*out)[0].data.data()}};
  VerifyOptions options;
  options.entry = name;
  Monitor monitor;
  const auto report = verify_run(*plan, in, view, {}, options, monitor);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->num_wrong, 0);
}

}  // namespace
}  // namespace shw
