// Collectives on a backend's streams, and how they end.
#include <functional>
#include <thread>

#include "cts/hal_test.h"
#include "cts/mpi_world.h"
#include "runtime/collective/local.h"

namespace shw::cts {
namespace {

using runtime::CollectiveSpec;

// One rank of a job, with its own device, stream and channels.
struct Rank {
  std::shared_ptr<runtime::Device> device;
  std::unique_ptr<runtime::ChannelProvider> provider;
  std::unique_ptr<runtime::Channel> channel;
  Fault fault;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<runtime::PreparedKernel> kernel;
  std::vector<void*> buffers;
  std::vector<MemorySpec> specs;

  void* allocate(int64_t bytes) {
    specs.push_back({bytes});
    buffers.push_back(*device->allocate(specs.back()));
    return buffers.back();
  }
  ~Rank() {
    stream.reset();
    for (size_t i = 0; i < buffers.size(); ++i) device->free(buffers[i], specs[i]);
  }
  // Waits for the stream. Returns its error, or else the error of the channels.
  Status finish() {
    const Status s = stream->synchronize();
    return s.ok() ? provider->async_status() : s;
  }
};

class ChannelTest : public BackendTest {
 protected:
  // Makes the ranks of this process. Returns false if a job with so many ranks is not possible.
  bool make_ranks(int64_t count) {
    if (!can_have_ranks(count)) return false;
    const Mesh mesh = *Mesh::parse("x=" + std::to_string(count));
    hub_ = runtime::LocalHub::create(mesh);
    for (int64_t r = 0; r < count; ++r) {
      ranks_.emplace_back();
      if (!has_rank(r)) continue;
      ranks_.back() = std::make_unique<Rank>();
      Rank& rank = *ranks_.back();
      rank.device = GetParam().make();
      rank.provider = mpi_world() != nullptr ? join_mpi_job(mesh)
                                             : GetParam().channels(hub_->provider(r), *rank.device);
      if (rank.provider == nullptr) return false;
      const uint8_t axes[] = {0};
      rank.channel = std::move(*rank.provider->channel(axes));
      rank.stream = std::move(*rank.device->create_stream({.fault = &rank.fault}));
    }
    return true;
  }
  using Values = std::vector<std::vector<float>>;
  // Checks the result of each rank. The operand of rank r is 10 r, 10 r + 1, …
  void expect(const runtime::CollectiveSpec& spec, size_t in, const Values& want) {
    expect_of_each([&](int64_t) { return spec; }, in, want);
  }
  void expect_of_each(const std::function<runtime::CollectiveSpec(int64_t rank)>& spec_of,
                      size_t in, const Values& want) {
    const auto out = static_cast<int64_t>(want[0].size() * sizeof(float));
    for (size_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r] != nullptr) launch(*ranks_[r], spec_of(static_cast<int64_t>(r)), in, out);
    for (size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r] == nullptr) continue;
      Rank& rank = *ranks_[r];
      const Status status = rank.finish();
      EXPECT_TRUE(status.ok()) << status.message();
      std::vector<float> got(want[r].size());
      EXPECT_TRUE(
          rank.device->copy(got.data(), rank.buffers[1], out, CopyKind::kDeviceToHost).ok());
      EXPECT_EQ(got, want[r]) << "rank " << r;
    }
  }

  std::shared_ptr<runtime::LocalHub> hub_;
  std::vector<std::unique_ptr<Rank>> ranks_;  // null: the rank is in another process

 private:
  static void launch(Rank& rank, const runtime::CollectiveSpec& spec, size_t in, int64_t out) {
    std::vector<float> values(in);
    for (size_t i = 0; i < in; ++i)
      values[i] = static_cast<float>(10 * rank.channel->member()) + static_cast<float>(i);
    rank.kernel = std::move(*rank.channel->prepare(spec));
    const auto bytes = static_cast<int64_t>(in * sizeof(float));
    void* x = rank.allocate(bytes);
    EXPECT_TRUE(rank.device->copy(x, values.data(), bytes, CopyKind::kHostToDevice).ok());
    rank.allocate(out);
    rank.allocate(rank.kernel->workspace_bytes());
    rank.kernel->launch(*rank.stream, rank.buffers.data());
    rank.stream->flush();
  }
};

TEST_P(ChannelTest, AllReduceSums) {
  if (!make_ranks(3)) GTEST_SKIP() << kOtherSize;
  const CollectiveSpec spec{CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 2};
  expect(spec, 2, {{30, 33}, {30, 33}, {30, 33}});
}

TEST_P(ChannelTest, AllGatherPutsMembersInOrder) {
  if (!make_ranks(2)) GTEST_SKIP() << kOtherSize;
  const CollectiveSpec spec{CollectiveKind::kAllGather, ReduceOp::kSum, Dtype::kF32, 2};
  expect(spec, 2, {{0, 1, 10, 11}, {0, 1, 10, 11}});
}

TEST_P(ChannelTest, ReduceScatterGivesEachItsPart) {
  if (!make_ranks(2)) GTEST_SKIP() << kOtherSize;
  const CollectiveSpec spec{CollectiveKind::kReduceScatter, ReduceOp::kMax, Dtype::kF32, 2};
  expect(spec, 4, {{10, 11}, {12, 13}});
}

TEST_P(ChannelTest, AllToAllExchanges) {
  if (!make_ranks(2)) GTEST_SKIP() << kOtherSize;
  const CollectiveSpec spec{CollectiveKind::kAllToAll, ReduceOp::kSum, Dtype::kF32, 1};
  expect(spec, 2, {{0, 10}, {1, 11}});
}

TEST_P(ChannelTest, PermuteGoesRound) {
  if (!make_ranks(3)) GTEST_SKIP() << kOtherSize;
  CollectiveSpec spec{CollectiveKind::kPermute, ReduceOp::kSum, Dtype::kF32, 2};
  expect_of_each(
      [&](int64_t rank) {
        spec.source = (rank + 1) % 3;
        spec.target = (rank + 2) % 3;
        return spec;
      },
      2, {{10, 11}, {20, 21}, {0, 1}});
}

TEST_P(ChannelTest, AnAbortEndsTheWaitForARankThatDoesNotCome) {
  if (!make_ranks(2)) GTEST_SKIP() << kOtherSize;
  const CollectiveSpec spec{CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 1};
  if (has_rank(0)) {
    Rank& lonely = *ranks_[0];
    lonely.kernel = std::move(*lonely.channel->prepare(spec));
    for (int64_t bytes : {int64_t{4}, int64_t{4}, lonely.kernel->workspace_bytes()})
      lonely.allocate(bytes);
    lonely.kernel->launch(*lonely.stream, lonely.buffers.data());
    lonely.stream->flush();
  }
  std::thread other([&] {
    if (has_rank(1)) ranks_[1]->provider->abort(Status(Code::kInternal, "broke"));
  });
  if (has_rank(0)) {
    Rank& lonely = *ranks_[0];
    const Status status = lonely.finish();
    EXPECT_EQ(status.code(), Code::kAborted);
    EXPECT_NE(status.message().find("broke"), std::string::npos) << status.message();
    lonely.fault.clear();
  }
  other.join();
  for (auto& rank : ranks_)
    if (rank != nullptr) rank->provider->reset();
  if (has_rank(0)) {
    Rank& lonely = *ranks_[0];
    EXPECT_TRUE(lonely.provider->async_status().ok());
    for (size_t i = 0; i < lonely.buffers.size(); ++i)
      lonely.device->free(lonely.buffers[i], lonely.specs[i]);
    lonely.specs.clear();
    lonely.buffers.clear();
  }
  expect(spec, 1, {{10}, {10}});
}

// Rank 1 reports the failure of a past run late. Rank 0 has reset already, so the abort must not
// end its new run.
TEST_P(ChannelTest, ALateAbortDoesNotReachARankThatHasReset) {
  if (!make_ranks(2)) GTEST_SKIP() << kOtherSize;
  if (has_rank(0)) ranks_[0]->provider->reset();
  if (has_rank(1)) {
    ranks_[1]->provider->abort(Status(Code::kInternal, "broke"));
    ranks_[1]->provider->reset();
  }
  expect({CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 1}, 1, {{10}, {10}});
}

SHW_CTS(ChannelTest);

}  // namespace
}  // namespace shw::cts
