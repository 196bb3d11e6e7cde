// Exchanges of the bodies of manual regions in their groups, on virtual ranks, and the events that
// end them.
#include "runtime/region_group.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "cts/region_cases.h"
#include "runtime/virtual_ranks.h"

namespace shw::runtime {
namespace {

using cts::BodyPlace;
using std::chrono::milliseconds;

std::unique_ptr<VirtualRanks> job_of(const std::vector<Mesh::Axis>& mesh, const std::string& groups,
                                     const cts::BodyFn& body, milliseconds time_limit = {}) {
  auto job = VirtualRanks::create(cts::region_plan(mesh, groups),
                                  {.regions = {cts::region_body(body)}, .time_limit = time_limit});
  EXPECT_TRUE(job.ok()) << job.status().message();
  return job.ok() ? std::move(*job) : nullptr;
}

Status run_once(VirtualRanks& job) {
  const std::vector<float> x(static_cast<size_t>(job.num_ranks()));
  const HostTensorView in[] = {{row_major(Dtype::kF32, {job.num_ranks(), 1}), x.data()}};
  return job.run("step", in).status();
}

void expect_contains(const Status& status, const std::string& part) {
  EXPECT_NE(status.message().find(part), std::string::npos)
      << status.message() << "\nhas not: " << part;
}

TEST(RegionGroup, ExchangesInEveryGroupOfThreeMeshDims) {
  const auto job =
      job_of({{"a", 2}, {"b", 2}, {"c", 2}}, "a,c; c,a; b; a,b,c", cts::exchange_everything);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Status status = run_once(*job);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST(RegionGroup, HasOneMemberWhereTheMeshDimHasOneRank) {
  const Status status = run_once(*job_of({{"a", 1}}, "a", cts::exchange_everything));
  EXPECT_TRUE(status.ok()) << status.message();
}

// The groups have the same mesh dims as the program's own collectives, which run beside the body.
TEST(RegionGroup, DoesNotMeetTheCollectivesOfTheProgram) {
  shw::testing::ProgramBuilder b({{"a", 4}});
  const Layout rows = *parse_layout("S(0)", 1);
  Attrs attrs;
  attrs.set(AttrKey::kRegion, std::string("exchange"));
  attrs.set(AttrKey::kGroups, std::string("a"));
  const ValueId x = b.input("x", Dtype::kF32, {4, 1}, rows);
  ValueId beside = x;
  for (int i = 0; i < 8; ++i)
    beside = b.collective(CollectiveKind::kAllReduce, {0}, beside, {1, 1}, ReduceOp::kMax);
  b.output("y", b.compute("local_map", {x}, row_major(Dtype::kF32, {1, 1}), attrs), {4, 1}, rows);
  b.output("z", beside, {4, 1}, rows);
  auto job =
      VirtualRanks::create(b.finish(), {.regions = {cts::region_body(cts::exchange_everything)}});
  ASSERT_TRUE(job.ok()) << job.status().message();
  const Status status = run_once(**job);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(RegionGroup, TellsMembersThatCalledSomethingElse) {
  const auto job = job_of({{"a", 2}}, "a", [](const BodyPlace& place) {
    float send[2] = {}, receive[4] = {};
    return place.rank == 0 ? place.groups[0]->all_gather(send, receive, 2, Dtype::kF32)
                           : place.groups[0]->all_to_all(send, receive, 1, Dtype::kF32);
  });
  const Status status = run_once(*job);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition) << status.message();
  expect_contains(status,
                  "the ranks diverged: rank 0 dispatched all_gather[a] #1 of f32[2] for "
                  "node 0 (not finished); rank 1 dispatched all_to_all[a] #1 of f32[1]");
}

TEST(RegionGroup, TellsMembersWhoseCountsDiffer) {
  const auto job = job_of({{"a", 3}}, "a", [](const BodyPlace& place) {
    std::vector<float> send(16), receive(16);
    std::vector<int64_t> counts(3, 4), expected(3, 4);
    if (place.rank == 2) expected[1] = 3;
    return place.groups[0]->all_to_all_v(send.data(), counts.data(), receive.data(),
                                         expected.data(), Dtype::kF32);
  });
  const Status status = run_once(*job);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition) << status.message();
  expect_contains(status,
                  "the ranks diverged: rank 1 sends 4 elements to rank 2, which expects 3, "
                  "in all_to_all_v[a] #1 of f32 for node 0");
}

float g_memory[4];

TEST(RegionGroup, RefusesCountsAndBuffersThatAreNone) {
  const auto status_of = [](const std::function<Status(RegionGroup&)>& call) {
    return run_once(
        *job_of({{"a", 1}}, "a", [&](const BodyPlace& place) { return call(*place.groups[0]); }));
  };
  const int64_t one[] = {1}, two[] = {2}, less[] = {-1}, huge[] = {INT64_MAX / 2};
  const auto v = [&](const int64_t* send_counts, const int64_t* receive_counts,
                     const void* send = g_memory) {
    return status_of([=](RegionGroup& g) {
      return g.all_to_all_v(send, send_counts, g_memory, receive_counts, Dtype::kF32);
    });
  };
  for (const Status& status : {v(less, one), v(one, less), v(huge, one), v(one, two),
                               v(one, nullptr), v(one, one, nullptr)})
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  expect_contains(v(one, two), "this member sends 1 elements to itself, and expects 2");
  expect_contains(status_of([](RegionGroup& g) {
                    return g.all_gather(g_memory, g_memory + 2, -2, Dtype::kF32);
                  }),
                  "a count of elements is -2");
  expect_contains(status_of([](RegionGroup& g) {
                    return g.all_reduce(g_memory, g_memory, 2, Dtype::kC64, ReduceOp::kMax);
                  }),
                  "has no meaning");
}

// Rank 1's body fails before it enters the exchange. Afterwards everything must work again.
TEST(RegionGroup, AFailingBodyEndsTheWaitsOfTheOthers) {
  bool fails = true;
  std::vector<Status> seen(3);
  const auto job = job_of({{"a", 3}}, "a", [&](const BodyPlace& place) {
    if (fails && place.rank == 1) return Status(Code::kDataLoss, "no tokens");
    return seen[static_cast<size_t>(place.rank)] = cts::exchange_everything(place);
  });
  const Status status = run_once(*job);
  EXPECT_EQ(status.code(), Code::kDataLoss) << status.message();
  for (size_t r : {0u, 2u}) {
    EXPECT_EQ(seen[r].code(), Code::kAborted) << seen[r].message();
    expect_contains(seen[r], "stopped with the other ranks: rank 1: no tokens");
  }
  job->reset();
  fails = false;
  const Status again = run_once(*job);
  EXPECT_TRUE(again.ok()) << again.message();
}

// Rank 1's body does not enter the exchange until rank 0's body has got its error.
void expect_an_end_of_the_wait(milliseconds limit, const std::string& cause) {
  std::latch waits(1);
  std::atomic<bool> told{false};
  Status seen;
  const auto job = job_of(
      {{"a", 2}}, "a",
      [&](const BodyPlace& place) {
        if (place.rank == 0) waits.count_down();
        const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (place.rank == 1 && !told && std::chrono::steady_clock::now() < late)
          std::this_thread::sleep_for(milliseconds(1));
        float value = 1;
        const Status status =
            place.groups[0]->all_reduce(&value, &value, 1, Dtype::kF32, ReduceOp::kSum);
        if (place.rank == 0) {
          seen = status;
          told = true;
        }
        return status;
      },
      limit);
  std::thread other([&] {
    if (limit.count() > 0) return;
    waits.wait();
    job->executor(1).abort();
  });
  const Status status = run_once(*job);
  other.join();
  EXPECT_EQ(seen.code(), Code::kAborted) << seen.message();
  expect_contains(seen, cause);
  EXPECT_FALSE(status.ok());
  expect_contains(status, cause);
}

TEST(RegionGroup, AnAbortEndsTheWaitOfABody) {
  expect_an_end_of_the_wait(milliseconds(0), "aborted by the caller");
}

TEST(RegionGroup, ATimeLimitEndsTheWaitOfABody) {
  expect_an_end_of_the_wait(milliseconds(300), "its time limit");
}

TEST(RegionGroup, RefusesGroupsThatTheMeshDoesNotHave) {
  const auto job = VirtualRanks::create(cts::region_plan({{"a", 2}}, "a; b"),
                                        {.regions = {cts::region_body(cts::exchange_everything)}});
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.status().code(), Code::kInvalidArgument);
  expect_contains(job.status(), "'b' is no dim of the mesh a=2");
}

}  // namespace
}  // namespace shw::runtime
