// Collectives on a backend's streams, and what ends them.
#include <thread>

#include "cts/hal_test.h"
#include "runtime/collective/local.h"

namespace shw::cts {
namespace {

using runtime::CollectiveSpec;

// One rank of a job: a device, a stream and channels of its own.
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
  // The error of the stream, or of the channels.
  Status finish() {
    const Status s = stream->synchronize();
    return s.ok() ? provider->async_status() : s;
  }
};

class ChannelTest : public BackendTest {
 protected:
  void make_ranks(int64_t count) {
    const Mesh mesh = *Mesh::parse("x=" + std::to_string(count));
    hub_ = runtime::LocalHub::create(mesh);
    for (int64_t r = 0; r < count; ++r) {
      ranks_.push_back(std::make_unique<Rank>());
      Rank& rank = *ranks_.back();
      rank.device = GetParam().make();
      rank.provider = GetParam().channels(hub_->provider(r), *rank.device);
      const uint8_t axes[] = {0};
      rank.channel = std::move(*rank.provider->channel(axes));
      rank.stream = std::move(*rank.device->create_stream({.fault = &rank.fault}));
    }
  }
  // What each rank has in the end; rank r brings 10 r, 10 r + 1, …
  std::vector<std::vector<float>> run(runtime::CollectiveSpec spec, size_t in, size_t out) {
    std::vector<std::vector<float>> results;
    for (auto& rank : ranks_) {
      std::vector<float> values(in);
      for (size_t i = 0; i < in; ++i)
        values[i] = static_cast<float>(10 * rank->channel->member()) + static_cast<float>(i);
      rank->kernel = std::move(*rank->channel->prepare(spec));
      const auto bytes = static_cast<int64_t>(in * sizeof(float));
      void* x = rank->allocate(bytes);
      EXPECT_TRUE(rank->device->copy(x, values.data(), bytes, CopyKind::kHostToDevice).ok());
      rank->allocate(static_cast<int64_t>(out * sizeof(float)));
      rank->allocate(rank->kernel->workspace_bytes());
      rank->kernel->launch(*rank->stream, rank->buffers.data());
      rank->stream->flush();
    }
    for (auto& rank : ranks_) {
      const Status status = rank->finish();
      EXPECT_TRUE(status.ok()) << status.message();
      results.emplace_back(out);
      EXPECT_TRUE(rank->device
                      ->copy(results.back().data(), rank->buffers[1],
                             static_cast<int64_t>(out * sizeof(float)), CopyKind::kDeviceToHost)
                      .ok());
    }
    return results;
  }

  std::shared_ptr<runtime::LocalHub> hub_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

using Values = std::vector<std::vector<float>>;

TEST_P(ChannelTest, AllReduceSums) {
  make_ranks(3);
  const CollectiveSpec spec{CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 2};
  EXPECT_EQ(run(spec, 2, 2), (Values{{30, 33}, {30, 33}, {30, 33}}));
}

TEST_P(ChannelTest, AllGatherPutsMembersInOrder) {
  make_ranks(2);
  const CollectiveSpec spec{CollectiveKind::kAllGather, ReduceOp::kSum, Dtype::kF32, 2};
  EXPECT_EQ(run(spec, 2, 4), (Values{{0, 1, 10, 11}, {0, 1, 10, 11}}));
}

TEST_P(ChannelTest, ReduceScatterGivesEachItsPart) {
  make_ranks(2);
  const CollectiveSpec spec{CollectiveKind::kReduceScatter, ReduceOp::kMax, Dtype::kF32, 2};
  EXPECT_EQ(run(spec, 4, 2), (Values{{10, 11}, {12, 13}}));
}

TEST_P(ChannelTest, AllToAllExchanges) {
  make_ranks(2);
  const CollectiveSpec spec{CollectiveKind::kAllToAll, ReduceOp::kSum, Dtype::kF32, 1};
  EXPECT_EQ(run(spec, 2, 2), (Values{{0, 10}, {1, 11}}));
}

TEST_P(ChannelTest, AnAbortEndsTheWaitForARankThatDoesNotCome) {
  make_ranks(2);
  const CollectiveSpec spec{CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 1};
  Rank& lonely = *ranks_[0];
  lonely.kernel = std::move(*lonely.channel->prepare(spec));
  for (int i = 0; i < 3; ++i) lonely.allocate(4);
  lonely.kernel->launch(*lonely.stream, lonely.buffers.data());
  lonely.stream->flush();
  std::thread other([&] { ranks_[1]->provider->abort(Status(Code::kInternal, "broke")); });
  const Status status = lonely.finish();
  other.join();
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("broke"), std::string::npos) << status.message();

  lonely.fault.clear();
  for (auto& rank : ranks_) rank->provider->reset();
  EXPECT_TRUE(lonely.provider->async_status().ok());
  for (size_t i = 0; i < lonely.buffers.size(); ++i)
    lonely.device->free(lonely.buffers[i], lonely.specs[i]);
  lonely.specs.clear();
  lonely.buffers.clear();
  EXPECT_EQ(run(spec, 1, 1), (Values{{10}, {10}}));
}

SHW_CTS(ChannelTest);

}  // namespace
}  // namespace shw::cts
