// Runs plans on every backend: the guarantees of an executor hold on all of them.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "cts/backends.h"
#include "cts/mpi_world.h"
#include "cts/region_cases.h"
#include "plan/plan.h"
#include "runtime/world/process_rank.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::cts {
namespace {

using runtime::BufferRef;
using runtime::Completion;
using runtime::ExecutorOptions;
using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::VirtualRanks;
using testing::make_tensor;
using testing::ProgramBuilder;
using testing::small_integer;
using testing::values_of;
using testing::view_of;

Layout layout(const char* text, int mesh_rank) { return *parse_layout(text, mesh_rank); }

// Twice the sum over the ranks of relu(x) + x, with work on both streams.
std::shared_ptr<const Plan> small_plan(int64_t ranks, int64_t count) {
  ProgramBuilder b({{"a", ranks}});
  const ValueId x = b.input("x", Dtype::kF32, {ranks * count}, layout("S(0)", 1));
  const TensorType piece = row_major(Dtype::kF32, {count});
  const ValueId r = b.compute("relu", {x}, piece);
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0}, r, {count});
  const ValueId sum = b.compute("add", {all, x}, piece);
  const ValueId again = b.collective(CollectiveKind::kAllReduce, {0}, sum, {count});
  b.output("y", again, {count}, layout("R", 1));
  return b.finish();
}

std::vector<double> expected(const std::vector<double>& x, size_t ranks, size_t count) {
  std::vector<double> y(count);
  for (size_t i = 0; i < count; ++i) {
    double relu = 0, sum = 0;
    for (size_t r = 0; r < ranks; ++r) {
      relu += std::max(x[r * count + i], 0.0);
      sum += x[r * count + i];
    }
    y[i] = relu * static_cast<double>(ranks) + sum;
  }
  return y;
}

// Runs a plan on all ranks of a job with whole tensors. The ranks are virtual ranks, or the
// processes of an MPI job, in which rank 0 has the outputs.
class WholeJob {
 public:
  WholeJob(const std::shared_ptr<const Plan>& plan, const ExecutorOptions& options,
           const Backend& backend) {
    if (mpi_world() == nullptr) {
      auto made = VirtualRanks::create(plan, options, backend.ranks());
      EXPECT_TRUE(made.ok()) << made.status().message();
      if (made.ok()) here_ = std::move(*made);
    } else {
      auto made = runtime::ProcessRank::create(plan, mpi_world(), options);
      EXPECT_TRUE(made.ok()) << made.status().message();
      if (made.ok()) one_ = std::move(*made);
    }
  }
  Result<std::vector<HostTensor>> run(std::string_view entry,
                                      std::span<const HostTensorView> inputs) {
    return here_ != nullptr ? here_->run(entry, inputs) : one_->run(entry, inputs);
  }
  void reset() { here_ != nullptr ? here_->reset() : one_->executor().reset(); }

 private:
  std::unique_ptr<VirtualRanks> here_;
  std::unique_ptr<runtime::ProcessRank> one_;
};

class ExecutorTest : public BackendTest {
 protected:
  WholeJob whole_job(const std::shared_ptr<const Plan>& plan, ExecutorOptions options = {}) {
    options.graphs = GetParam().graphs;
    return WholeJob(plan, options, GetParam());
  }
  std::unique_ptr<VirtualRanks> job(std::shared_ptr<const Plan> plan,
                                    ExecutorOptions options = {}) {
    options.graphs = GetParam().graphs;
    auto made = VirtualRanks::create(std::move(plan), options, GetParam().ranks());
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? std::move(*made) : nullptr;
  }
  void run_training_step(const char* plan);
  void expect_result(const HostTensor& y, const HostTensor& x, size_t ranks) {
    if (!can().computes) return;
    EXPECT_EQ(values_of(y), expected(values_of(x), ranks, static_cast<size_t>(y.type.numel())));
  }
};

// Some backends compute in memory that the host cannot access. They refuse a region with groups.
TEST_P(ExecutorTest, BodiesOfRegionsExchangeData) {
  if (!can_have_ranks(4)) GTEST_SKIP() << kOtherSize;
  const auto plan = region_plan({{"a", 2}, {"b", 2}}, "a; b; a,b; b,a");
  const ExecutorOptions options{.regions = {region_body(exchange_everything)}};
  if (can().computes && !can().host_access) {
    const auto refused = VirtualRanks::create(plan, options, GetParam().ranks()).status();
    EXPECT_EQ(refused.code(), Code::kUnimplemented) << refused.message();
    EXPECT_NE(refused.message().find("exchange data from the host"), std::string::npos);
    return;
  }
  auto ranks_of_job = whole_job(plan, options);
  const HostTensor x = make_tensor(Dtype::kF32, {4, 1}, small_integer);
  const HostTensorView in[] = {view_of(x)};
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto y = ranks_of_job.run("step", in);
    EXPECT_TRUE(y.ok()) << y.status().message();
  }
}

TEST_P(ExecutorTest, RunsAPlanAgainAndAgain) {
  bool has_run = false;
  for (int64_t ranks : {1, 2, 4}) {
    if (!can_have_ranks(ranks)) continue;
    has_run = true;
    auto ranks_of_job = whole_job(small_plan(ranks, 8), {.max_in_flight = 2});
    // the inputs, and so pointers and graphs, change each time
    for (int repeat = 0; repeat < 5; ++repeat) {
      const HostTensor x = make_tensor(Dtype::kF32, {ranks * 8},
                                       [&](int64_t i) { return small_integer(i + repeat); });
      const HostTensorView views[] = {view_of(x)};
      auto out = ranks_of_job.run("step", views);
      ASSERT_TRUE(out.ok()) << out.status().message();
      if (has_rank(0)) expect_result((*out)[0], x, static_cast<size_t>(ranks));
    }
  }
  if (!has_run) GTEST_SKIP() << kOtherSize;
}

// The buffers of one run in flight.
struct Flight {
  std::vector<BufferRef> in, out{1};
  Completion done;
};

BufferRef upload(VirtualRanks& job, int64_t rank, const std::vector<float>& values) {
  std::shared_ptr<runtime::Device> device(std::shared_ptr<void>(), &job.device(rank));
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
  BufferRef buffer = *runtime::Buffer::allocate(device, {bytes});
  EXPECT_TRUE(
      device->copy(buffer->data(), values.data(), bytes, runtime::CopyKind::kHostToDevice).ok());
  return buffer;
}

Flight enqueue(VirtualRanks& job, int64_t rank, const std::vector<float>& x) {
  Flight flight;
  flight.in = {upload(job, rank, x)};
  auto done = job.executor(rank).enqueue(job.program().entries[0], flight.in, flight.out);
  EXPECT_TRUE(done.ok()) << done.status().message();
  if (done.ok()) flight.done = *done;
  return flight;
}

TEST_P(ExecutorTest, RunsInFlightKeepTheirOwnBuffers) {
  auto ranks = job(small_plan(2, 1), {.max_in_flight = 3});
  std::vector<Flight> flights;
  for (int i = 0; i < 20; ++i)
    flights.push_back(enqueue(*ranks, i % 2, {static_cast<float>(i / 2)}));
  for (size_t i = 0; i < flights.size(); ++i) {
    ASSERT_TRUE(flights[i].done.wait().ok()) << flights[i].done.wait().message();
    if (!can().computes) continue;
    float y = 0;
    const int64_t rank = static_cast<int64_t>(i) % 2;
    ASSERT_TRUE(ranks->device(rank)
                    .copy(&y, flights[i].out[0]->data(), 4, runtime::CopyKind::kDeviceToHost)
                    .ok());
    EXPECT_EQ(y, 6 * static_cast<float>(i / 2)) << i;  // 2 (x + x) + (x + x)
  }
}

TEST_P(ExecutorTest, GivesBuffersBackWithTheEndOfARun) {
  auto ranks = job(small_plan(1, 4));
  Flight flight = enqueue(*ranks, 0, {1, 2, 3, 4});
  const std::weak_ptr<runtime::Buffer> watched = flight.in[0];
  flight.in.clear();
  EXPECT_TRUE(flight.done.wait().ok());
  EXPECT_TRUE(watched.expired());
}

// y = rows of a table. An index out of range is detected only when the kernel runs.
std::shared_ptr<const Plan> lookup_plan() {
  ProgramBuilder b({{"a", 2}});
  const ValueId table = b.input("table", Dtype::kF32, {4, 2}, layout("R", 1));
  const ValueId indices = b.input("indices", Dtype::kI64, {2}, layout("S(0)", 1));
  const ValueId rows = b.compute("embedding", {table, indices}, row_major(Dtype::kF32, {1, 2}));
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0}, rows, {1, 2});
  b.output("y", all, {1, 2}, layout("R", 1));
  return b.finish();
}

Status look_up(WholeJob& job, double index) {
  const HostTensor t = make_tensor(Dtype::kF32, {4, 2}, small_integer);
  const HostTensor indices =
      make_tensor(Dtype::kI64, {2}, [&](int64_t i) { return i == 0 ? 1.0 : index; });
  const HostTensorView views[] = {view_of(t), view_of(indices)};
  return job.run("step", views).status();
}

TEST_P(ExecutorTest, AFailingKernelIsNamedAndStopsTheOtherRanks) {
  if (!can_have_ranks(2)) GTEST_SKIP() << kOtherSize;
  auto ranks = whole_job(lookup_plan());
  const Status status = look_up(ranks, 4);
  if (has_rank(1)) {
    EXPECT_EQ(status.code(), Code::kOutOfRange) << status.message();
    EXPECT_EQ(status.node_name(), "embedding");
  } else {
    EXPECT_EQ(status.code(), Code::kAborted) << status.message();
    EXPECT_NE(status.message().find("index 4"), std::string::npos) << status.message();
  }
}

TEST_P(ExecutorTest, AFailingKernelIsForgottenByReset) {
  if (!can_have_ranks(2)) GTEST_SKIP() << kOtherSize;
  auto ranks = whole_job(lookup_plan());
  EXPECT_FALSE(look_up(ranks, 4).ok());
  ranks.reset();
  const Status status = look_up(ranks, 3);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(ExecutorTest, AnAbortAtAnyMomentEndsAndIsForgottenByReset) {
  auto ranks = job(small_plan(2, 4));
  const HostTensor x = make_tensor(Dtype::kF32, {8}, small_integer);
  const HostTensorView views[] = {view_of(x)};
  for (int attempt = 0; attempt < 30; ++attempt) {
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(attempt * 20));
      ranks->executor(attempt % 2).abort();
    });
    Status status;
    while (status.ok()) status = ranks->run("step", views).status();
    killer.join();
    EXPECT_TRUE(status.code() == Code::kCancelled || status.code() == Code::kAborted)
        << status.message();
    ranks->reset();
    auto out = ranks->run("step", views);
    ASSERT_TRUE(out.ok()) << out.status().message();
    expect_result((*out)[0], x, 2);
  }
}

TEST_P(ExecutorTest, DestructionEndsARunWhosePeerNeverComes) {
  auto ranks = job(small_plan(2, 1));
  const Flight flight = enqueue(*ranks, 0, {1});
  ranks->executor(0).abort();
  EXPECT_EQ(flight.done.wait().code(), Code::kCancelled);
  ranks->reset();
  const Flight again = enqueue(*ranks, 0, {1});
  const Completion done = again.done;
  // The buffers are released first: a device that the test does not own is gone with the job, and
  // buffers must not outlive it.
  const_cast<Flight&>(again) = {};
  const_cast<Flight&>(flight) = {};
  ranks.reset();
  EXPECT_TRUE(done.ready());
  EXPECT_EQ(done.wait().code(), Code::kCancelled);
}

TEST_P(ExecutorTest, ATimeLimitEndsARunWhosePeerNeverComes) {
  auto ranks = job(small_plan(2, 1), {.time_limit = std::chrono::milliseconds(60)});
  const Flight flight = enqueue(*ranks, 0, {1});
  EXPECT_EQ(flight.done.wait().code(), Code::kDeadlineExceeded);
}

// A planned training step of a small LLaMA on eight ranks. Every backend that computes must produce
// the same bits. In the second plan some results of the forward pass are kept in host memory.
TEST_P(ExecutorTest, ATrainingStepIsTheSameToTheBit) { run_training_step("llama_tiny_2x4"); }
TEST_P(ExecutorTest, ATrainingStepWithHostMemoryIsTheSameToTheBit) {
  run_training_step("llama_tiny_host_2x4");
}
void ExecutorTest::run_training_step(const char* name) {
  std::ifstream file(std::string(SHW_TEST_DATA "/plans/v1/") + name + ".swplan", std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  auto plan = read_plan(bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto shared = std::make_shared<const Plan>(std::move(*plan));
  if (!can_have_ranks(8)) GTEST_SKIP() << kOtherSize;
  const ProgramEntry& entry = shared->program.entries[0];
  std::vector<HostTensor> inputs;
  std::vector<HostTensorView> views;
  for (PortId id : entry.inputs) {
    const Port& port = shared->program.ports[id];
    const bool whole = port.global.dtype == Dtype::kI64;  // tokens are whole numbers
    inputs.push_back(make_tensor(port.global.dtype, port.global.shape, [&](int64_t i) {
      return whole ? static_cast<double>(i % 7) : small_integer(i) / 8;
    }));
  }
  for (const HostTensor& input : inputs) views.push_back(view_of(input));
  const auto want = (*VirtualRanks::create(shared))->run(entry.name, views);
  ASSERT_TRUE(want.ok()) << want.status().message();
  auto ranks = whole_job(shared);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto got = ranks.run(entry.name, views);
    ASSERT_TRUE(got.ok()) << got.status().message();
    if (!can().computes) continue;
    for (size_t i = 0; i < got->size(); ++i)
      EXPECT_TRUE((*got)[i].data == (*want)[i].data) << shared->program.output(entry, i).name;
  }
}

// Two jobs of one rank each. The plans compute y = −x, or copy rows of a table.
class ChainTest : public BackendTest {
 protected:
  static std::shared_ptr<const Plan> negation() {
    ProgramBuilder b({{"a", 1}});
    const ValueId x = b.input("x", Dtype::kF32, {2}, layout("R", 1));
    b.output("y", b.compute("neg", {x}, row_major(Dtype::kF32, {2})), {2}, layout("R", 1));
    return b.finish();
  }
  // This plan copies rows[0], and its index is out of range.
  static std::shared_ptr<const Plan> failure() {
    ProgramBuilder b({{"a", 1}});
    const ValueId x = b.input("x", Dtype::kF32, {1, 2}, layout("R", 1));
    const ValueId i = b.compute("full", {}, row_major(Dtype::kI64, {1}), wrong_index());
    const ValueId y = b.compute("embedding", {x, i}, row_major(Dtype::kF32, {1, 2}));
    b.output("y", y, {1, 2}, layout("R", 1));
    return b.finish();
  }
  static Attrs wrong_index() {
    Attrs attrs;
    attrs.set(AttrKey::kFillValue, int64_t{7});
    return attrs;
  }
  std::unique_ptr<VirtualRanks> job(std::shared_ptr<const Plan> plan) {
    auto made = VirtualRanks::create(std::move(plan), {},
                                     {[this](int64_t) { return device_; }, GetParam().channels});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(*made);
  }
  // Enqueues a run of `second` on the output of `first` for input {1, 2}.
  Result<Completion> enqueue(VirtualRanks& first, VirtualRanks& second) {
    in_ = {upload(first, 0, {1, 2})};
    middle_.assign(1, nullptr);
    out_.assign(1, nullptr);
    SHW_ASSIGN_OR_RETURN(const Completion done,
                         first.executor(0).enqueue(first.program().entries[0], in_, middle_));
    return second.executor(0).enqueue(second.program().entries[0], middle_, out_, {&done, 1});
  }
  std::vector<BufferRef> in_, middle_, out_;
};

TEST_P(ChainTest, ARunWaitsForARunOfAnotherExecutor) {
  auto first = job(negation()), second = job(negation());
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto done = enqueue(*first, *second);
    ASSERT_TRUE(done.ok()) << done.status().message();
    ASSERT_TRUE(done->wait().ok()) << done->wait().message();
    if (!can().computes) continue;
    float y[2];
    ASSERT_TRUE(device_->copy(y, out_[0]->data(), 8, runtime::CopyKind::kDeviceToHost).ok());
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], 2);
  }
}

TEST_P(ChainTest, ARunFailsWithTheRunItWaitsFor) {
  auto first = job(failure()), second = job(negation());
  auto done = enqueue(*first, *second);
  if (!done.ok()) return;  // `first` had failed before `second` was enqueued
  const Status status = done->wait();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("index 7"), std::string::npos) << status.message();
}

TEST_P(ChainTest, ARunDoesNotWaitForAnotherBackend) {
  auto first = job(negation());
  for (const Backend& backend : backends()) {
    if (backend.name == GetParam().name) continue;
    auto second = VirtualRanks::create(negation(), {}, backend.ranks());
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(enqueue(*first, **second).status().code(), Code::kFailedPrecondition);
  }
}

SHW_CTS_EXECUTORS(ExecutorTest);
SHW_CTS(ChainTest);

}  // namespace
}  // namespace shw::cts
