// Worlds of one process, and worlds of processes over a transport that can fail.
#include "runtime/world/world.h"

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <latch>
#include <thread>

#include "cts/collective_cases.h"
#include "cts/region_cases.h"
#include "runtime/cpu/device.h"
#include "runtime/world/process_rank.h"
#include "tools/execute.h"
#include "unit/runtime/loop_transport.h"

namespace shw::runtime {
namespace {

using shw::testing::Fabric;
using shw::testing::LoopTransport;
using shw::testing::ProgramBuilder;
using std::chrono::milliseconds;

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nhas not: " << part;
}

// Runs `body` for each rank of a multi-process world, each on its own thread.
using RankBody = std::function<void(const std::shared_ptr<ProcessWorld>&)>;
void on_ranks(const std::shared_ptr<Fabric>& fabric, milliseconds timeout, const RankBody& body) {
  std::vector<std::thread> threads;
  for (int64_t r = 0; r < fabric->size(); ++r)
    threads.emplace_back([&, r] {
      WorldOptions options;
      options.timeout = timeout;
      auto world = create_message_world(std::make_unique<LoopTransport>(fabric, r), options);
      ASSERT_TRUE(world.ok());
      body(*world);
    });
  for (std::thread& t : threads) t.join();
}

constexpr milliseconds kLong{60000}, kShort{400};
constexpr milliseconds kAnswered{2000};  // all answer in this time, even on a busy machine

cts::CollectiveCase gather_case(int64_t ranks, int64_t count = 3) {
  return {{{"a", ranks}}, {0}, CollectiveKind::kAllGather, ReduceOp::kSum, Dtype::kF32, count};
}

// Runs this process's rank of the one-collective program of `c` once.
Status run_case(const std::shared_ptr<ProcessWorld>& world, const cts::CollectiveCase& c) {
  const HostTensor x = cts::input_of(c, 1);
  const HostTensorView in[] = {{x.type, x.data.data()}};
  SHW_ASSIGN_OR_RETURN(const auto rank, ProcessRank::create(cts::plan_of(c), world));
  return rank->run("step", in).status();
}

TEST(MessageWorld, CollectivesGiveTheBitsOfVirtualRanks) {
  const auto fabric = std::make_shared<Fabric>(4);
  on_ranks(fabric, kLong, [](const auto& world) {
    const auto run = [&](auto plan, const auto& in) {
      auto rank = ProcessRank::create(plan, world);
      return rank.ok() ? (*rank)->run("step", in) : rank.status();
    };
    for (const cts::CollectiveCase& c : cts::collective_cases()) {
      const Status s = cts::check_collective(c, world->rank() == 0, run);
      EXPECT_TRUE(s.ok()) << s.message();
    }
    const Status s = cts::check_groups_side_by_side(world->rank() == 0, run);
    EXPECT_TRUE(s.ok()) << s.message();
  });
  EXPECT_EQ(fabric->closed, std::vector<bool>(4, true));
}

// Runs this process's rank of a region with the body `body` once.
Status run_body(const std::shared_ptr<ProcessWorld>& world, const std::vector<Mesh::Axis>& mesh,
                const std::string& groups, const cts::BodyFn& body) {
  const std::vector<float> x(static_cast<size_t>(world->num_ranks()));
  const HostTensorView in[] = {{row_major(Dtype::kF32, {world->num_ranks(), 1}), x.data()}};
  SHW_ASSIGN_OR_RETURN(const auto rank, ProcessRank::create(cts::region_plan(mesh, groups), world,
                                                            {.regions = {cts::region_body(body)}}));
  return rank->run_only("step", in);
}

TEST(MessageWorld, BodiesOfRegionsExchangeData) {
  const auto fabric = std::make_shared<Fabric>(4);
  on_ranks(fabric, kLong, [](const auto& world) {
    const Status s =
        run_body(world, {{"a", 2}, {"b", 2}}, "a; b; a,b; b,a", cts::exchange_everything);
    EXPECT_TRUE(s.ok()) << s.message();
  });
  EXPECT_EQ(fabric->closed, std::vector<bool>(4, true));
}

TEST(MessageWorld, BodiesWhoseCountsDifferAreToldSo) {
  const auto fabric = std::make_shared<Fabric>(3);
  std::vector<Status> statuses(3);
  on_ranks(fabric, kLong, [&](const auto& world) {
    statuses[static_cast<size_t>(world->rank())] =
        run_body(world, {{"a", 3}}, "a", [](const cts::BodyPlace& place) {
          std::vector<float> send(300000), receive(300000);
          std::vector<int64_t> counts(3, 100000), expected(3, 100000);
          if (place.rank == 2) expected[1] = 3;
          return place.groups[0]->all_to_all_v(send.data(), counts.data(), receive.data(),
                                               expected.data(), Dtype::kF32);
        });
  });
  for (const Status& s : statuses) {
    EXPECT_TRUE(s.code() == Code::kFailedPrecondition || s.code() == Code::kAborted);
    expect_contains(s.message(),
                    "the ranks diverged: rank 1 sends 100000 elements to rank 2, which expects 3, "
                    "in all_to_all_v[a] #1 of f32 for node 0");
  }
}

TEST(MessageWorld, ABodyThatWaitsIsToldWhoIsDead) {
  const auto fabric = std::make_shared<Fabric>(2);
  on_ranks(fabric, kShort, [&](const auto& world) {
    const Status s = run_body(world, {{"a", 2}}, "a", [&](const cts::BodyPlace& place) {
      if (place.rank == 1) fabric->silence(1);
      return cts::exchange_everything(place);
    });
    EXPECT_FALSE(s.ok());
    if (world->rank() == 0) {
      EXPECT_EQ(s.code(), Code::kDeadlineExceeded) << s.message();
      expect_contains(s.message(), "rank 1 does not answer: it is dead, stopped or unreachable");
    }
  });
}

// A world that counts its gathers.
class CountingWorld final : public ProcessWorld {
 public:
  explicit CountingWorld(std::shared_ptr<ProcessWorld> world) : world_(std::move(world)) {}
  int gathers = 0;

  int64_t rank() const override { return world_->rank(); }
  int64_t rank_on_host() const override { return world_->rank_on_host(); }
  runtime::Timeout timeout() const override { return world_->timeout(); }
  int64_t num_ranks() const override { return world_->num_ranks(); }
  std::span<const int64_t> local_ranks() const override { return world_->local_ranks(); }
  Result<std::unique_ptr<ChannelProvider>> begin_join(int64_t rank, const Mesh& mesh,
                                                      const ProgramIdentity& program) override {
    return world_->begin_join(rank, mesh, program);
  }
  void end_join(int64_t rank, bool has_joined) override { world_->end_join(rank, has_joined); }
  void abort(const Status& cause) override { world_->abort(cause); }
  Status status() const override { return world_->status(); }
  Result<std::vector<std::vector<std::byte>>> gather_at_root(
      std::span<const std::byte> mine) override {
    ++gathers;
    return world_->gather_at_root(mine);
  }

 private:
  const std::shared_ptr<ProcessWorld> world_;
};

TEST(MessageWorld, RepeatedRunsGatherTheirOutputsOnce) {
  const auto fabric = std::make_shared<Fabric>(2);
  on_ranks(fabric, kLong, [](const auto& world) {
    const auto c = gather_case(2);
    const HostTensor x = cts::input_of(c, 1);
    const auto* bytes = reinterpret_cast<const uint8_t*>(x.data.data());
    const auto counting = std::make_shared<CountingWorld>(world);
    auto rank = ProcessRank::create(cts::plan_of(c), counting);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    const auto done =
        tools::execute_on(**rank, {"step", 5}, {{"x", {x.type, {bytes, bytes + x.data.size()}}}});
    ASSERT_TRUE(done.ok()) << done.status().message();
    EXPECT_EQ(counting->gathers, 1);
    EXPECT_EQ(done->outputs.size(), world->rank() == 0 ? 1u : 0u);
  });
}

TEST(MessageWorld, TellsWhoIsDead) {
  const auto fabric = std::make_shared<Fabric>(3);
  std::vector<Status> statuses(3);
  std::vector<std::chrono::steady_clock::duration> took(3);
  on_ranks(fabric, kShort, [&](const auto& world) {
    const auto c = gather_case(3);
    const HostTensor x = cts::input_of(c, 1);
    const HostTensorView in[] = {{x.type, x.data.data()}};
    auto rank = ProcessRank::create(cts::plan_of(c), world);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    if (world->rank() == 1) return fabric->silence(1);
    const auto began = std::chrono::steady_clock::now();
    statuses[static_cast<size_t>(world->rank())] = (*rank)->run("step", in).status();
    took[static_cast<size_t>(world->rank())] = std::chrono::steady_clock::now() - began;
  });
  for (size_t r : {0u, 2u}) {
    // One of the ranks reports first. The other has waited as long, or is told by the first.
    EXPECT_TRUE(statuses[r].code() == Code::kDeadlineExceeded ||
                statuses[r].code() == Code::kAborted)
        << statuses[r].message();
    expect_contains(statuses[r].message(),
                    "waited 0.4 s in all_gather[a] #1 of f32[3] for node 0: ");
    expect_contains(statuses[r].message(),
                    "rank 1 does not answer: it is dead, stopped or unreachable");
    if (statuses[r].code() == Code::kDeadlineExceeded) {
      EXPECT_GE(took[r], kShort);
    }
    EXPECT_LT(took[r], kLong / 2);
  }
  EXPECT_EQ(fabric->closed, std::vector<bool>(3, false)) << "nobody waits for the dead at the end";
}

TEST(MessageWorld, TellsWhoDoesNotCome) {
  const auto fabric = std::make_shared<Fabric>(2);
  std::latch told(2);
  on_ranks(fabric, kAnswered, [&](const auto& world) {
    const auto c = gather_case(2);
    auto rank = ProcessRank::create(cts::plan_of(c), world);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    if (world->rank() == 1) return told.arrive_and_wait();
    const HostTensor x = cts::input_of(c, 1);
    const HostTensorView in[] = {{x.type, x.data.data()}};
    const Status s = (*rank)->run("step", in).status();
    EXPECT_EQ(s.code(), Code::kDeadlineExceeded);
    expect_contains(s.message(),
                    "rank 0 waited 2 s in all_gather[a] #1 of f32[3] for node 0: rank 1 "
                    "has not arrived: it has dispatched no collective yet");
    told.count_down();
  });
}

// Both ranks have finished one collective. Then they execute different ones.
TEST(MessageWorld, RanksThatDivergeAreToldWhatEachDispatched) {
  const auto fabric = std::make_shared<Fabric>(2);
  std::vector<Status> statuses(2);
  on_ranks(fabric, kLong, [&](const auto& world) {
    const bool odd = world->rank() == 1;
    ProgramBuilder b({{"a", 2}});
    const Layout layout = *parse_layout("R", 1);
    const ValueId x = b.input("x", Dtype::kF32, {6}, layout);
    const ValueId y = b.collective(CollectiveKind::kAllReduce, {0}, x, {6});
    const ValueId z = b.collective(odd ? CollectiveKind::kAllReduce : CollectiveKind::kAllToAll,
                                   {0}, y, {6}, ReduceOp::kMax);
    b.output("z", z, {6}, layout);
    auto rank = ProcessRank::create(b.finish(), world);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    const std::vector<float> values(6);
    const HostTensorView in[] = {{row_major(Dtype::kF32, {6}), values.data()}};
    statuses[static_cast<size_t>(odd)] = (*rank)->run("step", in).status();
  });
  for (const Status& s : statuses) {
    EXPECT_TRUE(s.code() == Code::kFailedPrecondition || s.code() == Code::kAborted);
    expect_contains(s.message(), "the ranks diverged: rank ");
    expect_contains(s.message(), "all_to_all[a] #2 of f32[3] for node 1");
    expect_contains(s.message(), "all_reduce(max)[a] #2 of f32[6] for node 1");
    expect_contains(s.message(), "all_reduce(sum)[a] #1 of f32[6] for node 0");
  }
}

TEST(MessageWorld, RefusesDifferentPrograms) {
  const auto fabric = std::make_shared<Fabric>(3);
  on_ranks(fabric, kLong, [&](const auto& world) {
    Plan plan = *cts::plan_of(gather_case(3));
    plan.checksum = world->rank() == 2 ? 22 : 11;
    const Status s =
        ProcessRank::create(std::make_shared<const Plan>(std::move(plan)), world).status();
    EXPECT_EQ(s.code(), Code::kFailedPrecondition);
    expect_contains(s.message(), "would run different programs together: checksums of the plans ");
    expect_contains(s.message(), "rank 2");
    // After the refusal, both ranks run the same program again.
    EXPECT_TRUE(run_case(world, gather_case(3)).ok());
  });
}

TEST(MessageWorld, ARankThatMakesNoExecutorIsNamed) {
  const auto fabric = std::make_shared<Fabric>(3);
  std::latch told(3);
  on_ranks(fabric, kAnswered, [&](const auto& world) {
    if (world->rank() == 1) return told.arrive_and_wait();
    const Status s = run_case(world, gather_case(3));
    told.count_down();
    EXPECT_EQ(s.code(), Code::kDeadlineExceeded);
    expect_contains(s.message(), "for all ranks to make an executor; there is none of rank 1");
  });
}

TEST(MessageWorld, AnAbortStopsTheOthersAndAResetBeginsAnew) {
  const auto fabric = std::make_shared<Fabric>(2);
  std::barrier together(2);
  on_ranks(fabric, kLong, [&](const auto& world) {
    const auto c = gather_case(2);
    const HostTensor x = cts::input_of(c, 1);
    const HostTensorView in[] = {{x.type, x.data.data()}};
    auto rank = ProcessRank::create(cts::plan_of(c), world);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    for (int repeat = 0; repeat < 3; ++repeat) {
      if (world->rank() == 1) {
        std::this_thread::sleep_for(milliseconds(20));
        (*rank)->executor().abort();
      } else {
        const Status s = (*rank)->run("step", in).status();
        EXPECT_EQ(s.code(), Code::kAborted);
        expect_contains(s.message(), "stopped with the other ranks: rank 1: aborted by the caller");
      }
      (*rank)->executor().reset();
      const auto out = (*rank)->run("step", in);
      EXPECT_TRUE(out.ok()) << out.status().message();
      together.arrive_and_wait();  // the next abort is for the next run
    }
  });
  EXPECT_EQ(fabric->closed, std::vector<bool>(2, true));
}

TEST(MessageWorld, AbortingTheWorldStopsEverythingForGood) {
  const auto fabric = std::make_shared<Fabric>(3);
  std::latch joined(3);
  on_ranks(fabric, kLong, [&](const auto& world) {
    const auto c = gather_case(3);
    auto rank = ProcessRank::create(cts::plan_of(c), world);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    joined.arrive_and_wait();
    if (world->rank() == 2) {
      std::this_thread::sleep_for(milliseconds(20));
      world->abort(Status(Code::kCancelled, "enough"));
    }
    const HostTensor x = cts::input_of(c, 1);
    const HostTensorView in[] = {{x.type, x.data.data()}};
    const Status s = (*rank)->run("step", in).status();
    EXPECT_EQ(s.code(), world->rank() == 2 ? Code::kCancelled : Code::kAborted);
    expect_contains(s.message(), "enough");
    (*rank)->executor().reset();
    EXPECT_FALSE((*rank)->run("step", in).ok());
    EXPECT_FALSE(run_case(world, c).ok());
    EXPECT_FALSE(world->status().ok());
  });
  EXPECT_EQ(fabric->closed, std::vector<bool>(3, false));
}

TEST(MessageWorld, ARankThatLeavesTheJobIsNotWaitedFor) {
  const auto fabric = std::make_shared<Fabric>(2);
  on_ranks(fabric, kLong, [&](const auto& world) {
    const auto c = gather_case(2);
    auto rank = ProcessRank::create(cts::plan_of(c), world);
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    if (world->rank() == 1) return;
    const HostTensor x = cts::input_of(c, 1);
    const HostTensorView in[] = {{x.type, x.data.data()}};
    const Status s = (*rank)->run("step", in).status();
    EXPECT_EQ(s.code(), Code::kAborted);
    expect_contains(s.message(), "rank 1 has left the job");
  });
}

// A rank that fails to make its executor cannot try again in this job. The others must learn the
// cause.
TEST(MessageWorld, ARankThatCannotMakeItsExecutorEndsTheJob) {
  const auto fabric = std::make_shared<Fabric>(2);
  on_ranks(fabric, kLong, [&](const auto& world) {
    const auto c = gather_case(2);
    ExecutorOptions options;
    options.graphs = world->rank() == 1;
    const auto rank = ProcessRank::create(cts::plan_of(c), world, options);
    if (world->rank() == 1) {
      EXPECT_EQ(rank.status().code(), Code::kUnimplemented);
      return;
    }
    ASSERT_TRUE(rank.ok()) << rank.status().message();
    const HostTensor x = cts::input_of(c, 1);
    const HostTensorView in[] = {{x.type, x.data.data()}};
    const Status s = (*rank)->run("step", in).status();
    EXPECT_EQ(s.code(), Code::kAborted);
    expect_contains(s.message(), "rank 1: a cpu device captures no graphs");
  });
}

// ---- Worlds of one process

ProgramIdentity program(uint64_t checksum) {
  ProgramIdentity p;
  p.checksum = checksum;
  return p;
}

TEST(LocalWorld, RefusesDifferentPrograms) {
  const auto world = create_local_world(2, {});
  const Mesh mesh = *Mesh::parse("a=2");
  Joining first(*world, 0), second(*world, 1);
  ASSERT_TRUE(first.begin(mesh, program(1)).ok());
  first.succeeded();
  const auto refused = second.begin(mesh, program(2));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  expect_contains(refused.status().message(),
                  "rank 1 and rank 0 would run different programs together: checksums of the plans "
                  "2 and 1 (of the same graph, options and mesh");
}

TEST(LocalWorld, TellsWhoDoesNotCome) {
  WorldOptions options;
  options.timeout = kShort;
  const auto world = create_local_world(3, options);
  const auto c = gather_case(3);
  const auto plan = cts::plan_of(c);
  const Mesh mesh = *Mesh::parse("a=3");
  const auto device = std::make_shared<cpu::CpuDevice>();
  std::vector<std::unique_ptr<Executor>> executors;
  for (int64_t r = 0; r < 3; ++r) {
    Joining joining(*world, r);
    auto provider = joining.begin(mesh, identity_of(*plan));
    ASSERT_TRUE(provider.ok());
    auto executor = Executor::create(plan, device, std::move(*provider));
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    joining.succeeded();
    executors.push_back(std::move(*executor));
  }
  std::vector<Completion> done;
  for (size_t r : {0u, 2u}) {
    auto buffer = Buffer::allocate(device, {12});
    ASSERT_TRUE(buffer.ok());
    std::vector<BufferRef> in{*buffer}, out(1);
    auto completion = executors[r]->enqueue(plan->program.entries[0], in, out);
    ASSERT_TRUE(completion.ok());
    done.push_back(*completion);
  }
  for (const Completion& completion : done) {
    const Status s = completion.wait();
    EXPECT_TRUE(s.code() == Code::kDeadlineExceeded || s.code() == Code::kAborted) << s.message();
    expect_contains(s.message(),
                    "in all_gather[a] #1 of f32[3] for node 0: rank 1 has not arrived: it "
                    "has dispatched no collective yet");
  }
}

TEST(LocalWorld, AbortingTheWorldStopsEverythingForGood) {
  const auto world = create_local_world(2, {});
  const Mesh mesh = *Mesh::parse("a=2");
  Joining joining(*world, 0);
  const auto provider = joining.begin(mesh, {});
  ASSERT_TRUE(provider.ok());
  joining.succeeded();
  EXPECT_TRUE((*provider)->async_status().ok());
  world->abort(Status(Code::kCancelled, "enough"));
  EXPECT_FALSE((*provider)->async_status().ok());
  EXPECT_EQ(world->status().code(), Code::kCancelled);
  (*provider)->reset();
  EXPECT_FALSE((*provider)->async_status().ok());
  Joining late(*world, 1);
  EXPECT_EQ(late.begin(mesh, {}).status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace shw::runtime
