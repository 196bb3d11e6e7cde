// Decoding with keys and values in pages, on fake GPUs.
#include "paged_decode.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "cuda/fake_ranks.h"

namespace shw::runtime::cuda {
namespace {

using testing::PagedDecode;

std::unique_ptr<VirtualRanks> decoding_ranks(const PagedDecode& model, const char* mesh) {
  CompileOptions options;
  options.mesh = mesh;
  options.pins = {{"buffer.keys.*", "RS(2)"}, {"buffer.values.*", "RS(2)"}};
  if (std::string_view(mesh) == "a=1") options.pins.clear();
  Monitor monitor;
  const auto compiled = compile(model.graph(), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return nullptr;
  auto plan = read_plan(compiled->bytes);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (!plan.ok()) return nullptr;
  auto ranks = VirtualRanks::create(std::make_shared<const Plan>(std::move(*plan)), {},
                                    testing::fake_ranks());
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  return ranks.ok() ? std::move(*ranks) : nullptr;
}

TEST(PagedDecodeOnFakes, IsTheWholeForwardPass) {
  for (const char* mesh : {"a=1", "dp=2,tp=2"})
    for (const char* window : {"", ", window_left=4"}) {
      SCOPED_TRACE(std::string(mesh) + window);
      const PagedDecode model{.window = window};
      const auto ranks = decoding_ranks(model, mesh);
      ASSERT_NE(ranks, nullptr);
      model.expect_same(*ranks);
    }
}

TEST(PagedDecodeOnFakes, APageThatThereIsNotIsRefused) {
  const PagedDecode model;
  const auto ranks = decoding_ranks(model, "a=1");
  ASSERT_NE(ranks, nullptr);
  model.expect_refused(*ranks);
}

}  // namespace
}  // namespace shw::runtime::cuda
