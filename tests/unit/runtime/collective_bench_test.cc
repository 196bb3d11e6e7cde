// Times of collectives: sizes, bandwidths and checks are exact, and times are present.
#include "runtime/bench/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "import/nccl_tests.h"
#include "runtime/bench/rank_backend.h"

namespace shw::runtime {
namespace {

CollectiveBenchOptions few(std::vector<Mesh::Axis> mesh) {
  CollectiveBenchOptions options;
  options.mesh = *Mesh::create(std::move(mesh));
  options.min_bytes = 64;
  options.max_bytes = 1 << 14;
  options.warm_up = 1;
  options.repeats = 3;
  return options;
}

TEST(CollectiveBench, ChecksEveryCollectiveInEveryDtype) {
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kI32, Dtype::kI64}) {
    CollectiveBenchOptions options = few({{"a", 4}});
    options.dtype = dtype;
    const auto result = bench_collectives(options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->wrong(), 0) << dtype_name(dtype);
    ASSERT_EQ(result->collectives.size(), 5u);
    for (const CollectiveTimes& times : result->collectives) {
      EXPECT_EQ(times.sizes.size(), 5u) << "64, 256, …, 16384";
      for (const CollectiveTime& t : times.sizes) {
        EXPECT_GT(t.seconds, 0);
        EXPECT_DOUBLE_EQ(t.algorithm_bandwidth, static_cast<double>(t.bytes) / t.seconds);
      }
    }
  }
}

// As in nccl-tests, sizes are of the gathered or scattered tensor, and counts are of one rank's
// part.
TEST(CollectiveBench, CountsAndFactorsAreThoseOfNcclTests) {
  const auto result = bench_collectives(few({{"a", 4}}));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const double factors[] = {0.75, 0.75, 1.5, 0.75, 1};
  const int64_t parts[] = {4, 4, 1, 4, 1};
  for (size_t c = 0; c < 5; ++c)
    for (const CollectiveTime& t : result->collectives[c].sizes) {
      EXPECT_EQ(t.count * 4 * parts[c], t.bytes);
      EXPECT_DOUBLE_EQ(t.bus_bandwidth, factors[c] * t.algorithm_bandwidth);
    }
}

TEST(CollectiveBench, GroupsAlongOneDimWorkSideBySide) {
  CollectiveBenchOptions options = few({{"a", 2}, {"b", 3}});
  options.group = {"b"};
  const auto result = bench_collectives(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->ranks, 6);
  EXPECT_EQ(result->group_size, 3);
  EXPECT_EQ(result->wrong(), 0);
}

TEST(CollectiveBench, IsReadAsOutputOfNcclTests) {
  const auto result = bench_collectives(few({{"a", 4}}));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto runs = import::parse_nccl_tests(to_text(*result));
  ASSERT_TRUE(runs.ok()) << runs.status().message();
  for (const char* name :
       {"all_gather", "reduce_scatter", "all_reduce", "all_to_all", "collective_permute"}) {
    const auto run = std::ranges::find(*runs, name, &import::NcclTestRun::collective);
    ASSERT_NE(run, runs->end()) << name;
    EXPECT_EQ(run->devices_per_node, 4);
    EXPECT_EQ(run->rows.size(), 5u);
  }
}

// Channels that move no data: every element that a rank should have received is wrong.
class IdleChannel final : public Channel {
 public:
  explicit IdleChannel(std::unique_ptr<Channel> real) : real_(std::move(real)) {}
  int64_t member() const override { return real_->member(); }
  int64_t size() const override { return real_->size(); }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec&) override {
    class Nothing final : public PreparedKernel {
      void launch(Stream&, void* const*) override {}
    };
    return std::unique_ptr<PreparedKernel>(std::make_unique<Nothing>());
  }

 private:
  const std::unique_ptr<Channel> real_;
};
class IdleProvider final : public ChannelProvider {
 public:
  explicit IdleProvider(std::unique_ptr<ChannelProvider> real) : real_(std::move(real)) {}
  int64_t rank() const override { return real_->rank(); }
  const Mesh& mesh() const override { return real_->mesh(); }
  Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) override {
    SHW_ASSIGN_OR_RETURN(auto real, real_->channel(axes));
    return std::unique_ptr<Channel>(std::make_unique<IdleChannel>(std::move(real)));
  }
  void abort(const Status& cause) override { real_->abort(cause); }
  void reset() override { real_->reset(); }

 private:
  const std::unique_ptr<ChannelProvider> real_;
};

TEST(CollectiveBench, CountsWrongElements) {
  CollectiveBenchOptions options = few({{"a", 2}});
  options.backend.channels = [](std::unique_ptr<ChannelProvider> real, Device&) {
    return Result<std::unique_ptr<ChannelProvider>>(
        std::make_unique<IdleProvider>(std::move(real)));
  };
  const auto result = bench_collectives(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const CollectiveTimes& times : result->collectives)
    for (const CollectiveTime& t : times.sizes) EXPECT_GE(t.wrong, 2 * t.count);
  EXPECT_NE(to_text(*result).find("FAILED"), std::string::npos);
}

TEST(CollectiveBench, RefusesWhatItCannotTime) {
  const auto code = [](auto&& change) {
    CollectiveBenchOptions options = few({{"a", 2}});
    change(options);
    return bench_collectives(options).status().code();
  };
  using O = CollectiveBenchOptions;
  EXPECT_EQ(code([](O& o) { o.factor = 1; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](O& o) { o.max_bytes = 8; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](O& o) { o.repeats = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](O& o) { o.dtype = Dtype::kBool; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](O& o) { o.group = {"b"}; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](O& o) { o.backend = *rank_backend("null", 2); }), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace shw::runtime
