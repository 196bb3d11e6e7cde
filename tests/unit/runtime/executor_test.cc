// Executors on virtual ranks: programs built by hand, asynchronous runs, errors, and aborts.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/collective/local.h"
#include "runtime/cpu/device.h"
#include "runtime/host_kernel.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime {
namespace {

using shw::testing::make_tensor;
using shw::testing::ProgramBuilder;
using shw::testing::small_integer;
using shw::testing::values_of;
using shw::testing::view_of;
using Clock = std::chrono::steady_clock;

Layout layout(const char* text, int mesh_rank) { return *parse_layout(text, mesh_rank); }

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m,
                            int64_t n, int64_t k) {
  std::vector<double> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        c[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
  return c;
}

// relu(x·w1)·w2 on dp × tp. The batch is sharded over dp, w1 by columns and w2 by rows over tp, and
// an all-reduce follows.
std::shared_ptr<const Plan> megatron_mlp(int64_t dp, int64_t tp, int64_t batch, int64_t width,
                                         int64_t hidden) {
  ProgramBuilder b({{"dp", dp}, {"tp", tp}});
  const ValueId x = b.input("x", Dtype::kF32, {batch, width}, layout("S(0)R", 2));
  const ValueId w1 = b.input("w1", Dtype::kF32, {width, hidden}, layout("RS(1)", 2));
  const ValueId w2 = b.input("w2", Dtype::kF32, {hidden, width}, layout("RS(0)", 2));
  const int64_t rows = batch / dp, columns = hidden / tp;
  const ValueId h = b.compute("mm", {x, w1}, row_major(Dtype::kF32, {rows, columns}));
  const ValueId a = b.compute("relu", {h}, row_major(Dtype::kF32, {rows, columns}));
  const ValueId p = b.compute("mm", {a, w2}, row_major(Dtype::kF32, {rows, width}));
  const ValueId y = b.collective(CollectiveKind::kAllReduce, {1}, p, {rows, width});
  b.output("y", y, {batch, width}, layout("S(0)R", 2));
  return b.finish();
}

TEST(VirtualRanks, RunAMegatronMlpExactly) {
  for (auto [dp, tp] : {std::pair<int64_t, int64_t>{1, 1}, {2, 4}, {4, 2}, {1, 8}, {8, 1}}) {
    SCOPED_TRACE(dp);
    const int64_t batch = 8, width = 16, hidden = 24;
    auto job = VirtualRanks::create(megatron_mlp(dp, tp, batch, width, hidden));
    ASSERT_TRUE(job.ok()) << job.status().message();
    const HostTensor x = make_tensor(Dtype::kF32, {batch, width}, small_integer);
    const HostTensor w1 = make_tensor(Dtype::kF32, {width, hidden}, small_integer);
    const HostTensor w2 = make_tensor(Dtype::kF32, {hidden, width}, small_integer);
    const HostTensorView views[] = {view_of(x), view_of(w1), view_of(w2)};
    std::vector<double> h = product(values_of(x), values_of(w1), batch, hidden, width);
    for (double& v : h) v = std::max(v, 0.0);
    const std::vector<double> want = product(h, values_of(w2), batch, width, hidden);
    for (int repeat = 0; repeat < 3; ++repeat) {
      auto out = (*job)->run("step", views);
      ASSERT_TRUE(out.ok()) << out.status().message();
      EXPECT_EQ(values_of((*out)[0]), want);
    }
  }
}

TEST(VirtualRanks, ShardAndGatherEveryLayout) {
  for (const char* text : {"RRR", "S(0)RR", "S(1)S(0)R", "S(0)S(0)S(1)", "S(0)S(0)S(0)",
                           "S(0)S(0)S(0)|2,0,1", "S(1)RS(1)|2,1,0", "S(0)S(1)S(0)|2,1,0"}) {
    SCOPED_TRACE(text);
    ProgramBuilder b({{"a", 2}, {"b", 2}, {"c", 2}});
    const Layout l = layout(text, 3);
    const ValueId x = b.input("x", Dtype::kI32, {8, 16}, l);
    b.output("y", x, {8, 16}, l);
    auto job = VirtualRanks::create(b.finish());
    ASSERT_TRUE(job.ok()) << job.status().message();
    const HostTensor x_whole =
        make_tensor(Dtype::kI32, {8, 16}, [](int64_t i) { return static_cast<double>(i); });
    const HostTensorView views[] = {view_of(x_whole)};
    auto out = (*job)->run("step", views);
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ((*out)[0].data, x_whole.data);
  }
}

// A rank's piece of S(0)S(0) depends on which mesh dim cuts first.
TEST(VirtualRanks, LocalSliceCutsInTheOrderOfItsMeshDims) {
  for (const auto& [dims, text] : {std::pair<std::vector<int64_t>, const char*>{{0, 1}, "S(0)S(0)"},
                                   {{1, 0}, "S(0)S(0)|1,0"}}) {
    ProgramBuilder b({{"a", 2}, {"b", 3}});
    const ValueId x = b.input("x", Dtype::kF32, {12, 5}, layout("RR", 2));
    Attrs attrs;
    attrs.set(AttrKey::kDim, int64_t{0});
    attrs.set(AttrKey::kDims, dims);
    const ValueId y = b.compute("local_slice", {x}, row_major(Dtype::kF32, {2, 5}), attrs);
    b.output("y", y, {12, 5}, layout(text, 2));
    auto job = VirtualRanks::create(b.finish());
    ASSERT_TRUE(job.ok()) << job.status().message();
    const HostTensor whole = make_tensor(Dtype::kF32, {12, 5}, small_integer);
    const HostTensorView views[] = {view_of(whole)};
    auto out = (*job)->run("step", views);
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ((*out)[0].data, whole.data);
  }
}

TEST(VirtualRanks, ReportReplicasThatDiffer) {
  ProgramBuilder b({{"a", 2}});
  const ValueId x = b.input("x", Dtype::kF32, {2}, layout("S(0)", 1));
  b.output("y", x, {1}, layout("R", 1));
  auto job = VirtualRanks::create(b.finish());
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor whole = make_tensor(Dtype::kF32, {2}, [](int64_t i) { return double(i); });
  const HostTensorView views[] = {view_of(whole)};
  const auto out = (*job)->run("step", views);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.status().code(), Code::kInternal);
}

TEST(VirtualRanks, RefusePartialOutputs) {
  ProgramBuilder b({{"a", 2}});
  const ValueId x = b.input("x", Dtype::kF32, {2}, layout("R", 1));
  b.output("y", x, {2}, layout("P", 1));
  auto job = VirtualRanks::create(b.finish());
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor whole = make_tensor(Dtype::kF32, {2}, small_integer);
  const HostTensorView views[] = {view_of(whole)};
  EXPECT_EQ((*job)->run("step", views).status().code(), Code::kFailedPrecondition);
}

TEST(VirtualRanks, RefuseWrongInputs) {
  auto job = VirtualRanks::create(megatron_mlp(1, 2, 2, 4, 4));
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor x = make_tensor(Dtype::kF32, {2, 4}, small_integer);
  const HostTensor w = make_tensor(Dtype::kF32, {4, 4}, small_integer);
  const HostTensor bad = make_tensor(Dtype::kF64, {4, 4}, small_integer);
  const HostTensorView wrong_dtype[] = {view_of(x), view_of(w), view_of(bad)};
  EXPECT_EQ((*job)->run("step", wrong_dtype).status().code(), Code::kInvalidArgument);
  const HostTensorView wrong_shape[] = {view_of(w), view_of(w), view_of(w)};
  EXPECT_EQ((*job)->run("step", wrong_shape).status().code(), Code::kInvalidArgument);
  const HostTensorView too_few[] = {view_of(x)};
  EXPECT_EQ((*job)->run("step", too_few).status().code(), Code::kInvalidArgument);
  EXPECT_EQ((*job)->run("stop", too_few).status().code(), Code::kNotFound);
  const HostTensorView good[] = {view_of(x), view_of(w), view_of(w)};
  EXPECT_TRUE((*job)->run("step", good).ok()) << "a refused call must leave nothing behind";
}

// A device whose kernel "gate" waits until the test opens it.
class GateDevice final : public Device {
 public:
  const DeviceClass& device_class() const override { return cpu_.device_class(); }
  Result<void*> allocate(const MemorySpec& spec) override { return cpu_.allocate(spec); }
  void free(void* memory, const MemorySpec& spec) override { cpu_.free(memory, spec); }
  Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) override {
    return cpu_.copy(to, from, bytes, kind);
  }
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) override {
    return cpu_.create_stream(options);
  }
  Result<std::unique_ptr<Event>> create_event(const EventOptions& options) override {
    return cpu_.create_event(options);
  }
  bool has_kernel(std::string_view name) const override {
    return name == "gate" || cpu_.has_kernel(name);
  }
  Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view name,
                                                  const KernelArgs& args) override {
    if (name != "gate") return cpu_.prepare(name, args);
    return std::unique_ptr<PreparedKernel>(std::make_unique<GateKernel>());
  }

  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    std::atomic<int> entered{0};
    void set_open() {
      {
        std::lock_guard lock(mutex);
        open = true;
      }
      changed.notify_all();
    }
  };
  static Gate& gate() {
    static Gate g;
    return g;
  }

 private:
  class GateKernel final : public HostKernel {
   public:
    Status compute(void* const* buffers) noexcept override {
      Gate& g = gate();
      ++g.entered;
      std::unique_lock lock(g.mutex);
      g.changed.wait(lock, [&] { return g.open; });
      *static_cast<float*>(buffers[1]) = *static_cast<float*>(buffers[0]);
      return {};
    }
  };
  cpu::CpuDevice cpu_;
};

BufferRef buffer_of(const std::shared_ptr<Device>& device, std::vector<float> values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
  BufferRef b = *Buffer::allocate(device, {bytes});
  EXPECT_TRUE(device->copy(b->data(), values.data(), bytes, CopyKind::kHostToDevice).ok());
  return b;
}

TEST(Executor, EnqueueReturnsBeforeTheWorkIsDone) {
  GateDevice::gate().open = false;
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {1}, layout("R", 1));
  b.output("y", b.compute("gate", {x}, row_major(Dtype::kF32, {1})), {1}, layout("R", 1));
  auto device = std::make_shared<GateDevice>();
  auto hub = LocalHub::create(b.mesh());
  auto executor = Executor::create(b.finish(), device, hub->provider(0));
  ASSERT_TRUE(executor.ok()) << executor.status().message();
  const ProgramEntry& entry = *(*executor)->find_entry("step");

  BufferRef in = buffer_of(device, {7});
  const std::weak_ptr<Buffer> watched = in;
  std::vector<BufferRef> inputs{std::move(in)}, outputs(1);
  auto done = (*executor)->enqueue(entry, inputs, outputs);
  ASSERT_TRUE(done.ok()) << done.status().message();
  inputs.clear();
  EXPECT_FALSE(done->ready());
  EXPECT_FALSE(watched.expired()) << "inputs live until the run has ended";
  ASSERT_NE(outputs[0], nullptr) << "outputs exist at once";

  GateDevice::gate().set_open();
  EXPECT_TRUE(done->wait().ok());
  EXPECT_TRUE(done->ready());
  EXPECT_TRUE(watched.expired()) << "inputs are given back with the end of the run";
  EXPECT_EQ(*static_cast<float*>(outputs[0]->data()), 7.0f);
}

TEST(Executor, ARunWaitsForThatOfAnotherExecutor) {
  GateDevice::gate().open = false;
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {1}, layout("R", 1));
  b.output("y", b.compute("gate", {x}, row_major(Dtype::kF32, {1})), {1}, layout("R", 1));
  auto device = std::make_shared<GateDevice>();
  auto first = Executor::create(b.finish(), device, LocalHub::create(b.mesh())->provider(0));
  ASSERT_TRUE(first.ok()) << first.status().message();
  ProgramBuilder c({{"a", 1}});
  const ValueId z = c.input("z", Dtype::kF32, {1}, layout("R", 1));
  c.output("y", c.compute("neg", {z}, row_major(Dtype::kF32, {1})), {1}, layout("R", 1));
  auto second = Executor::create(c.finish(), device, LocalHub::create(c.mesh())->provider(0));
  ASSERT_TRUE(second.ok()) << second.status().message();

  std::vector<BufferRef> inputs{buffer_of(device, {3})}, middle(1), outputs(1);
  auto done1 = (*first)->enqueue(*(*first)->find_entry("step"), inputs, middle);
  ASSERT_TRUE(done1.ok());
  const Completion dependencies[] = {*done1};
  auto done2 = (*second)->enqueue(*(*second)->find_entry("step"), middle, outputs, dependencies);
  ASSERT_TRUE(done2.ok());
  EXPECT_FALSE(done2->ready());
  GateDevice::gate().set_open();
  EXPECT_TRUE(done2->wait().ok());
  EXPECT_EQ(*static_cast<float*>(outputs[0]->data()), -3.0f);
}

TEST(Executor, RunsInFlightKeepTheirOwnBuffers) {
  auto job = VirtualRanks::create(megatron_mlp(1, 2, 2, 4, 4), {.max_in_flight = 3});
  ASSERT_TRUE(job.ok()) << job.status().message();
  const ProgramEntry& entry = (*job)->program().entries[0];
  constexpr size_t kRuns = 20;
  struct Run {
    std::vector<float> x, w, y;
    Completion done;
  };
  std::vector<Run> runs(2 * kRuns);
  for (size_t i = 0; i < runs.size(); ++i) {
    Run& run = runs[i];
    run.x.assign(8, static_cast<float>(i / 2 + 1));  // both ranks get the same
    run.w.assign(8, 1);
    run.y.resize(8);
    const auto lend = [](std::vector<float>& v) { return Buffer::borrow(v.data(), 32, {}); };
    const std::vector<BufferRef> in{lend(run.x), lend(run.w), lend(run.w)};
    std::vector<BufferRef> out{lend(run.y)};
    auto done = (*job)->executor(static_cast<int64_t>(i % 2)).enqueue(entry, in, out);
    ASSERT_TRUE(done.ok()) << done.status().message();
    run.done = *done;
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    ASSERT_TRUE(runs[i].done.wait().ok());
    // Rows of x sum to 4·x. Each of the 4 hidden columns has that value, so their sum is 16·x.
    EXPECT_EQ(runs[i].y, std::vector<float>(8, 16 * static_cast<float>(i / 2 + 1))) << i;
  }
}

// An abort may come at any moment: all ranks must end, and after a reset everything must work
// again.
TEST(Executor, RecoversFromAnAbortAtAnyMoment) {
  auto job = VirtualRanks::create(megatron_mlp(2, 2, 4, 4, 4));
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor x = make_tensor(Dtype::kF32, {4, 4}, small_integer);
  const HostTensorView views[] = {view_of(x), view_of(x), view_of(x)};
  auto want = (*job)->run("step", views);
  ASSERT_TRUE(want.ok()) << want.status().message();
  for (int attempt = 0; attempt < 100; ++attempt) {
    SCOPED_TRACE(attempt);
    std::thread killer([&] {
      for (std::atomic<int> spin{0}; spin < attempt * 200; ++spin) {
      }
      (*job)->executor(attempt % 4).abort();
    });
    bool failed = false;
    while (!failed) {
      auto out = (*job)->run("step", views);
      failed = !out.ok();
      if (!failed) {
        EXPECT_EQ((*out)[0].data, (*want)[0].data);
        continue;
      }
      const Code code = out.status().code();
      EXPECT_TRUE(code == Code::kCancelled || code == Code::kAborted) << out.status().message();
    }
    killer.join();
    (*job)->reset();
  }
  auto after = (*job)->run("step", views);
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_EQ((*after)[0].data, (*want)[0].data);
}

// Two ranks, of which only one enters the collective.
struct LonelyRank {
  LonelyRank() {
    ProgramBuilder b({{"a", 2}});
    const ValueId x = b.input("x", Dtype::kF32, {2}, layout("S(0)", 1));
    const ValueId y = b.collective(CollectiveKind::kAllReduce, {0}, x, {1});
    b.output("y", y, {1}, layout("R", 1));
    job = std::move(*VirtualRanks::create(b.finish()));
  }
  Result<Completion> enqueue(int64_t rank) {
    std::shared_ptr<Device> device(std::shared_ptr<void>(), &job->device(rank));
    const float value = static_cast<float>(rank) + 1;
    storage[static_cast<size_t>(rank)] = value;
    inputs.assign(1, Buffer::borrow(&storage[static_cast<size_t>(rank)], sizeof(float), {}));
    outputs[static_cast<size_t>(rank)].assign(
        1, Buffer::borrow(&results[static_cast<size_t>(rank)], sizeof(float), {}));
    Executor& e = job->executor(rank);
    return e.enqueue(*e.find_entry("step"), inputs, outputs[static_cast<size_t>(rank)]);
  }
  std::unique_ptr<VirtualRanks> job;
  float storage[2], results[2] = {};
  std::vector<BufferRef> inputs, outputs[2];
};

TEST(Executor, AbortFreesARankWhosePeerNeverComes) {
  LonelyRank lonely;
  auto done = lonely.enqueue(0);
  ASSERT_TRUE(done.ok()) << done.status().message();
  const auto start = Clock::now();
  std::thread other([&] { lonely.job->executor(0).abort(); });
  const Status status = done->wait();
  other.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
}

TEST(Executor, AbortOfOneRankStopsTheOthers) {
  LonelyRank lonely;
  auto done = lonely.enqueue(0);
  ASSERT_TRUE(done.ok()) << done.status().message();
  lonely.job->executor(1).abort();
  const Status status = done->wait();
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("rank 1"), std::string::npos) << status.message();
}

TEST(Executor, ARankThatLeavesIsNotWaitedFor) {
  ProgramBuilder b({{"a", 2}});
  const ValueId x = b.input("x", Dtype::kF32, {2}, layout("S(0)", 1));
  b.output("y", b.collective(CollectiveKind::kAllReduce, {0}, x, {1}), {1}, layout("R", 1));
  const auto plan = b.finish();
  auto device = std::make_shared<cpu::CpuDevice>();
  auto hub = LocalHub::create(b.mesh());
  auto stays = Executor::create(plan, device, hub->provider(0));
  auto leaves = Executor::create(plan, device, hub->provider(1));
  ASSERT_TRUE(stays.ok() && leaves.ok());
  std::vector<BufferRef> in{buffer_of(device, {1})}, out(1);
  auto done = (*stays)->enqueue(*(*stays)->find_entry("step"), in, out);
  ASSERT_TRUE(done.ok());
  leaves->reset();
  const Status status = done->wait();
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("rank 1 has left"), std::string::npos) << status.message();
}

TEST(Executor, ErrorsStickUntilReset) {
  LonelyRank lonely;
  auto done = lonely.enqueue(0);
  ASSERT_TRUE(done.ok());
  lonely.job->executor(0).abort();
  EXPECT_EQ(done->wait().code(), Code::kCancelled);
  EXPECT_EQ(lonely.enqueue(0).status().code(), Code::kCancelled);
  EXPECT_EQ(lonely.enqueue(0).status().code(), Code::kCancelled);
  // The other rank learns of the error when it communicates, at the latest.
  auto late = lonely.enqueue(1);
  EXPECT_EQ(late.ok() ? late->wait().code() : late.status().code(), Code::kAborted);

  lonely.job->reset();
  auto done0 = lonely.enqueue(0), done1 = lonely.enqueue(1);
  ASSERT_TRUE(done0.ok() && done1.ok());
  EXPECT_TRUE(done0->wait().ok());
  EXPECT_TRUE(done1->wait().ok());
  EXPECT_EQ(lonely.results[0], 3.0f);
  EXPECT_EQ(done->wait().code(), Code::kCancelled) << "an old run keeps its own end";
}

TEST(Executor, DestructionEndsAnUnfinishedRun) {
  auto lonely = std::make_unique<LonelyRank>();
  auto done = lonely->enqueue(0);
  ASSERT_TRUE(done.ok());
  const Completion completion = *done;
  lonely->job.reset();
  EXPECT_TRUE(completion.ready());
  EXPECT_EQ(completion.wait().code(), Code::kCancelled);
}

TEST(Executor, ALateKernelErrorNamesItsStep) {
  ProgramBuilder b({{"a", 2}});
  const ValueId table = b.input("table", Dtype::kF32, {4, 2}, layout("R", 1));
  const ValueId indices = b.input("indices", Dtype::kI64, {2}, layout("S(0)", 1));
  const ValueId rows = b.compute("embedding", {table, indices}, row_major(Dtype::kF32, {1, 2}));
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0}, rows, {1, 2});
  b.output("y", all, {1, 2}, layout("R", 1));
  auto job = VirtualRanks::create(b.finish());
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor t = make_tensor(Dtype::kF32, {4, 2}, small_integer);
  const HostTensor bad =
      make_tensor(Dtype::kI64, {2}, [](int64_t i) { return i == 0 ? 1.0 : 4.0; });
  const HostTensorView views[] = {view_of(t), view_of(bad)};
  const auto out = (*job)->run("step", views);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.status().code(), Code::kOutOfRange) << out.status().message();
  EXPECT_EQ(out.status().node_index(), 0);
  EXPECT_EQ(out.status().node_name(), "embedding");

  (*job)->reset();
  const HostTensor good = make_tensor(Dtype::kI64, {2}, [](int64_t) { return 3.0; });
  const HostTensorView again[] = {view_of(t), view_of(good)};
  EXPECT_TRUE((*job)->run("step", again).ok());
}

TEST(Executor, RanksThatDisagreeAreToldSo) {
  auto hub = LocalHub::create(*Mesh::parse("a=2"));
  const auto reduce = [](int64_t count) {
    ProgramBuilder b({{"a", 2}});
    const ValueId x = b.input("x", Dtype::kF32, {count}, layout("R", 1));
    b.output("y", b.collective(CollectiveKind::kAllReduce, {0}, x, {count}), {count},
             layout("R", 1));
    return b.finish();
  };
  auto device = std::make_shared<cpu::CpuDevice>();
  auto first = Executor::create(reduce(4), device, hub->provider(0));
  auto second = Executor::create(reduce(5), device, hub->provider(1));
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<BufferRef> in1{buffer_of(device, {1, 2, 3, 4})}, out1(1);
  std::vector<BufferRef> in2{buffer_of(device, {1, 2, 3, 4, 5})}, out2(1);
  auto done1 = (*first)->enqueue(*(*first)->find_entry("step"), in1, out1);
  auto done2 = (*second)->enqueue(*(*second)->find_entry("step"), in2, out2);
  ASSERT_TRUE(done1.ok() && done2.ok());
  for (const Status& s : {done1->wait(), done2->wait()})
    EXPECT_TRUE(s.code() == Code::kFailedPrecondition || s.code() == Code::kAborted) << s.message();
}

TEST(Executor, RefusesAPlanForAnotherMesh) {
  auto plan = megatron_mlp(2, 2, 2, 4, 4);
  auto device = std::make_shared<cpu::CpuDevice>();
  auto hub = LocalHub::create(*Mesh::parse("a=4"));
  const auto executor = Executor::create(plan, device, hub->provider(0));
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(executor.status().message().find("dp=2,tp=2"), std::string::npos);
  EXPECT_NE(executor.status().message().find("a=4"), std::string::npos);
}

TEST(Executor, RefusesAnUnknownKernelWithItsPlace) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {1}, layout("R", 1));
  b.output("y", b.compute("frobnicate", {x}, row_major(Dtype::kF32, {1})), {1}, layout("R", 1));
  const auto job = VirtualRanks::create(b.finish());
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.status().code(), Code::kUnimplemented);
  EXPECT_EQ(job.status().node_name(), "frobnicate");
}

TEST(Executor, RefusesBuffersThatAreTooSmall) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {4}, layout("R", 1));
  b.output("y", b.compute("neg", {x}, row_major(Dtype::kF32, {4})), {4}, layout("R", 1));
  auto device = std::make_shared<cpu::CpuDevice>();
  auto executor = Executor::create(b.finish(), device, LocalHub::create(b.mesh())->provider(0));
  ASSERT_TRUE(executor.ok());
  const ProgramEntry& entry = *(*executor)->find_entry("step");
  std::vector<BufferRef> small{buffer_of(device, {1, 2, 3})}, out(1), none(1);
  EXPECT_EQ((*executor)->enqueue(entry, small, out).status().code(), Code::kInvalidArgument);
  EXPECT_EQ((*executor)->enqueue(entry, none, out).status().code(), Code::kInvalidArgument);
  EXPECT_EQ((*executor)->enqueue(entry, {}, out).status().code(), Code::kInvalidArgument);
  std::vector<float> odd(6);
  std::vector<BufferRef> crooked{
      Buffer::borrow(reinterpret_cast<std::byte*>(odd.data()) + 1, 16, {})};
  EXPECT_EQ((*executor)->enqueue(entry, crooked, out).status().code(), Code::kInvalidArgument);
}

// Scratch in an output's memory needs the same alignment as in the arena.
TEST(Executor, RefusesOutputsThatScratchCannotLieIn) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {64}, layout("R", 1));
  const TensorType type = row_major(Dtype::kF32, {64});
  const ValueId early = b.compute("neg", {x}, type);
  b.output("y", b.compute("neg", {early}, type), {64}, layout("R", 1));
  const auto plan = std::make_shared<Plan>(*b.finish());
  plan->program.storages[plan->program.values[early].storage] = {256, StorageKind::kInOutput, 1, 0};
  auto device = std::make_shared<cpu::CpuDevice>();
  auto executor = Executor::create(plan, device, LocalHub::create(b.mesh())->provider(0));
  ASSERT_TRUE(executor.ok());
  const ProgramEntry& entry = *(*executor)->find_entry("step");
  const std::vector<float> want(64, 3);
  std::vector<BufferRef> in{buffer_of(device, want)}, made(1);
  const auto run = (*executor)->enqueue(entry, in, made);
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run->wait().ok());
  EXPECT_EQ(std::memcmp(made[0]->data(), want.data(), 256), 0);
  alignas(256) std::byte memory[256 + 64];
  std::vector<BufferRef> crooked{Buffer::borrow(memory + 64, 256, {})};
  const Status refused = (*executor)->enqueue(entry, in, crooked).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("output 0, 'y', is not aligned to 256 bytes"), std::string::npos)
      << refused.message();
}

TEST(Buffer, ReleasesBorrowedMemoryOnce) {
  int released = 0;
  float value = 0;
  {
    BufferRef a = Buffer::borrow(&value, sizeof value, [&] { ++released; });
    const BufferRef b = a;
    a.reset();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace shw::runtime
