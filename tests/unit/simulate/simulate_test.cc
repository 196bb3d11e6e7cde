#include "simulate/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/simulate/sketch.h"

namespace shw {
namespace {

using testing::Sketch;
using Steps = std::vector<uint32_t>;

Simulation run(const Sketch& s, const SimulationOptions& options = {}) {
  return simulate(s.p, s.p.entries[0], options);
}

TEST(Simulate, AnEmptyEntryTakesNoTime) {
  const Simulation r = run(Sketch());
  EXPECT_EQ(r.total_us, 0);
  EXPECT_EQ(r.lower_bound_us, 0);
  EXPECT_TRUE(r.critical_path.empty());
  EXPECT_EQ(r.live.device_peak, 0);
}

TEST(Simulate, StepsOfOneQueueRunOneAfterAnother) {
  Sketch s;
  s.step(3, {}, {s.value(8)});
  s.step(4, {}, {s.value(8)});
  const Simulation r = run(s);
  EXPECT_EQ(r.steps[1].start_us, 3);
  EXPECT_EQ(r.total_us, 7);
  EXPECT_EQ(r.lower_bound_us, 7);  // compute
  EXPECT_EQ(r.longest_chain_us, 4);
  EXPECT_EQ(r.critical_path, (Steps{0, 1}));
}

// compute: a 0–10   b 10–30         c 35–40
// tp:                 r 10 ––––– 35
TEST(Simulate, AWaitStallsComputeForWhatACollectiveStillNeeds) {
  Sketch s;
  const ValueId a = s.value(8), r = s.value(8), b = s.value(8);
  s.step(10, {}, {a});
  s.collective(25, {1}, {a}, {r});
  s.step(20, {a}, {b});
  s.step(5, {b, r}, {s.value(8)});
  s.order(0, 1);
  s.order(1, 3);
  const Simulation t = run(s);
  EXPECT_EQ(t.steps[1].start_us, 10);
  EXPECT_EQ(t.steps[2].start_us, 10);
  EXPECT_EQ(t.steps[3].start_us, 35);
  EXPECT_EQ(t.total_us, 40);
  ASSERT_EQ(t.queues.size(), 2u);
  EXPECT_EQ(t.queues[1].axes, (std::vector<uint8_t>{1}));
  EXPECT_EQ(t.queues[0].busy_us, 35);
  EXPECT_EQ(t.queues[1].busy_us, 25);
  EXPECT_EQ(t.queues[1].exposed_us, 5);
  EXPECT_EQ(t.exposed_us, 5);
  EXPECT_EQ(t.one_after_another_us, 60);
  EXPECT_EQ(t.collectives_us, 25);
  EXPECT_EQ(t.critical_path, (Steps{0, 1, 3}));
  EXPECT_EQ(t.longest_chain, (Steps{0, 1, 3}));
  EXPECT_EQ(t.lower_bound_us, 40);
}

// Two collectives on two communicators run at the same time. If they share a queue, they run one
// after the other.
TEST(Simulate, CommunicatorsRunBesideEachOther) {
  Sketch s;
  s.collective(10, {0}, {}, {s.value(8)});
  s.collective(6, {1}, {}, {s.value(8)});
  s.step(1, {ValueId{0}, ValueId{1}}, {s.value(8)});
  s.order(1, 2);
  EXPECT_EQ(run(s).total_us, 11);
  SimulationOptions one;
  one.queue_per_communicator = false;
  const Simulation shared = run(s, one);
  EXPECT_EQ(shared.total_us, 17);
  EXPECT_EQ(shared.queues.size(), 2u);
  EXPECT_EQ(shared.exposed_us, 16);
}

// The order of its mesh dims numbers the members of a group, so these are two communicators. But
// both have the same ranks and send over the same links.
TEST(Simulate, GroupsThatNumberTheSameRanksInOtherOrdersShareTheirLinks) {
  Sketch s;
  s.collective(10, {0, 1}, {}, {s.value(8)});
  s.collective(10, {1, 0}, {}, {s.value(8)});
  EXPECT_EQ(s.p.streams.size(), 2u);
  const Simulation r = run(s);
  EXPECT_EQ(r.total_us, 20);
  EXPECT_EQ(r.lower_bound_us, 20);
  EXPECT_EQ(r.queues.size(), 2u);
}

// An event covers everything before it on its stream. So the wait for step 1 also covers step 0,
// which runs in another queue. Schedules omit waits because of this.
TEST(Simulate, AnEventCoversAllEarlierStepsOfItsStream) {
  Sketch s;
  s.collective(10, {0}, {}, {s.value(8)});
  s.collective(2, {1}, {}, {s.value(8)});
  s.step(1, {}, {s.value(8)});
  s.order(1, 2);
  EXPECT_EQ(run(s).steps[2].start_us, 2) << "a stream of its own";
  s.share_a_stream();
  const Simulation r = run(s);
  EXPECT_EQ(r.steps[2].start_us, 10);
  EXPECT_EQ(r.steps[2].cause, 0u);
  EXPECT_EQ(r.queues[1].exposed_us, 10);
  EXPECT_EQ(r.queues[2].exposed_us, 0);
}

// A wait of a stream covers all later steps of the stream, whatever their queue.
TEST(Simulate, AWaitHoldsForTheRestOfTheStream) {
  Sketch s;
  s.step(7, {}, {s.value(8)});
  s.collective(1, {0}, {}, {s.value(8)});
  s.collective(1, {1}, {}, {s.value(8)});
  s.order(0, 1);
  EXPECT_EQ(run(s).steps[2].start_us, 0) << "a stream of its own";
  s.share_a_stream();
  EXPECT_EQ(run(s).steps[2].start_us, 7);
}

// compute: idle until 9 µs. Of these, 3 µs are for the gather over tp, and 6 µs for the sum over
// dp, which reads the gather's result.
TEST(Simulate, AStallIsSharedByTheCollectivesThatItWaitsForInTurn) {
  Sketch s;
  const ValueId x = s.value(8), y = s.value(8);
  s.collective(3, {1}, {}, {x});
  s.collective(6, {0}, {x}, {y});
  s.step(1, {y}, {s.value(8)});
  s.order(1, 2);
  const Simulation r = run(s);
  EXPECT_EQ(r.queues[1].exposed_us, 3);
  EXPECT_EQ(r.queues[2].exposed_us, 6);
  EXPECT_EQ(r.at(0).exposed_us, 3);
  EXPECT_EQ(r.at(1).exposed_us, 6);
  EXPECT_EQ(r.at(2).exposed_us, 0);
  EXPECT_EQ(r.total_us, r.queues[0].busy_us + r.exposed_us);
}

TEST(Simulate, ACollectiveAfterTheLastComputeStepIsExposed) {
  Sketch s;
  const ValueId x = s.value(8);
  s.step(4, {}, {x});
  s.collective(9, {0}, {x}, {s.value(8)});
  s.order(0, 1);
  EXPECT_EQ(run(s).exposed_us, 9);
  EXPECT_EQ(run(s).total_us, 13);
}

// Before schedule-collectives, all steps are on the compute stream.
TEST(Simulate, ACollectiveOnTheComputeStreamBlocksIt) {
  Sketch s;
  const ValueId x = s.value(8);
  s.step(4, {}, {x});
  s.collective(9, {0}, {x}, {s.value(8)}).stream = kComputeStream;
  s.step(5, {x}, {s.value(8)});
  const Simulation r = run(s);
  EXPECT_EQ(r.total_us, 18);
  EXPECT_EQ(r.queues[0].busy_us, 9);
  EXPECT_EQ(r.exposed_us, 9);
  EXPECT_EQ(r.critical_path, (Steps{0, 1, 2}));
}

// An in-place update runs after all reads of the old value, even if no event says so.
TEST(Simulate, AnUpdateWaitsForEarlierReads) {
  Sketch s;
  const ValueId state = s.value(8, StorageKind::kState);
  s.collective(12, {0}, {state}, {s.value(8)});
  s.step(2, {state}, {state}).in_place = 0;
  const Simulation r = run(s);
  EXPECT_EQ(r.steps[1].start_us, 12);
  EXPECT_EQ(r.longest_chain, (Steps{0, 1}));
  EXPECT_EQ(r.lower_bound_us, 14);
}

TEST(Simulate, TheHostLaunchesStepsInOrder) {
  Sketch s;
  s.step(1, {}, {s.value(8)});
  s.step(1, {}, {s.value(8)});
  s.step(20, {}, {s.value(8)});
  SimulationOptions o;
  o.launch_us = 3;
  const Simulation r = run(s, o);
  EXPECT_EQ(r.steps[0].start_us, 3);
  EXPECT_EQ(r.steps[1].start_us, 6);
  EXPECT_EQ(r.steps[2].start_us, 9);
  EXPECT_EQ(r.total_us, 29);
  EXPECT_EQ(r.exposed_us, 0);  // the host's fault, not a communicator's
}

TEST(Simulate, PricesCanBeOthersThanTheProgramHolds) {
  Sketch s;
  s.step(1, {}, {s.value(8)});
  s.step(-1, {}, {s.value(8)});
  EXPECT_EQ(run(s).total_us, 1);  // no step takes less than 0 µs
  const double prices[] = {2, 5};
  SimulationOptions o;
  o.step_us = prices;
  EXPECT_EQ(run(s, o).total_us, 7);
}

// An activation is copied to host memory while compute goes on, and back in front of its use.
// compute: a 0–10   b 10–30         d 38–40
// to host:          o 10–18
// from host:               f 30–38
TEST(Simulate, CopiesToAndFromHostMemoryRunOnTheirLinks) {
  Sketch s;
  const ValueId a = s.value(100), host = s.value(100), back = s.value(100), b = s.value(10);
  s.step(10, {}, {a});
  s.step(8, {a}, {host});
  s.step(20, {}, {b});
  s.step(8, {host}, {back});
  s.step(2, {b, back}, {s.value(10)});
  std::vector<uint8_t> in_host(s.p.storages.size(), 0);
  in_host[s.p.values[host].storage.v] = 1;
  SimulationOptions o;
  o.in_host = in_host;
  const Simulation r = run(s, o);
  EXPECT_EQ(r.steps[2].start_us, 10);
  EXPECT_EQ(r.steps[3].start_us, 30);
  EXPECT_EQ(r.total_us, 40);
  EXPECT_EQ(r.queues[1].kind, QueueKind::kToHost);
  EXPECT_EQ(r.queues[2].kind, QueueKind::kFromHost);
  EXPECT_EQ(r.queues[2].exposed_us, 8);
  EXPECT_EQ(r.exposed_us, 0);
  EXPECT_EQ(r.live.host, (std::vector<int64_t>{0, 100, 100, 100, 0}));
  EXPECT_EQ(r.live.arena, (std::vector<int64_t>{100, 100, 10, 110, 120}));
  EXPECT_EQ(r.live.host_peak, 100);
  EXPECT_EQ(run(s).total_us, 48);  // all in device memory: five compute steps
}

// The same, for a program that itself states which storages are in host memory.
TEST(Simulate, StoragesInHostMemoryAreNotOfTheDevice) {
  Sketch s;
  const ValueId a = s.value(100), host = s.value(100, StorageKind::kHost), back = s.value(100);
  s.step(10, {}, {a});
  s.step(8, {a}, {host});
  s.step(20, {}, {s.value(10)});
  s.step(8, {host}, {back});
  s.step(2, {back}, {s.value(10)});
  const Simulation r = run(s);
  EXPECT_EQ(r.total_us, 40);
  EXPECT_EQ(r.queues[1].kind, QueueKind::kToHost);
  EXPECT_EQ(r.queues[2].kind, QueueKind::kFromHost);
  EXPECT_EQ(r.live.host, (std::vector<int64_t>{0, 100, 100, 100, 0}));
  EXPECT_EQ(r.live.host_peak, 100);
  EXPECT_EQ(r.live.device_peak, 110);
}

TEST(Simulate, WhatEarlierEntriesRecordedIsReady) {
  Sketch s;
  s.collective(50, {0}, {}, {s.value(8)});
  s.next_entry();
  s.step(4, {}, {s.value(8)});
  s.order(0, 1);
  const Simulation r = simulate(s.p, s.p.entries[1]);
  EXPECT_EQ(r.first_step, 1u);
  EXPECT_EQ(r.at(1).start_us, 0);
  EXPECT_EQ(r.total_us, 4);
}

TEST(LiveCurves, CountStoragesFromTheirFirstToTheirLastStep) {
  Sketch s;
  const ValueId x = s.input(1000), a = s.value(100), b = s.value(10);
  ProgramValue view = s.p.values[a];
  view.type = row_major(Dtype::kI8, {50});
  const ValueId half = s.p.values.push_back(view);
  s.step(1, {x}, {a});
  s.step(1, {half}, {b});
  s.step(1, {b}, {s.value(1)});
  const LiveCurves c = run(s).live;
  EXPECT_EQ(c.arena, (std::vector<int64_t>{100, 110, 11}));
  EXPECT_EQ(c.peak[static_cast<size_t>(StorageKind::kArena)], 110);
  EXPECT_EQ(c.peak[static_cast<size_t>(StorageKind::kInput)], 1000);
  EXPECT_EQ(c.device_peak, 1110);
  EXPECT_EQ(c.device_peak_step, 1u);
}

TEST(LiveCurves, AResultInPlaceTakesNoMemoryOfItsOwn) {
  Sketch s;
  const ValueId state = s.value(64, StorageKind::kState), gradient = s.value(32);
  s.step(1, {}, {gradient});
  s.step(1, {state, gradient}, {state}).in_place = 0;
  const LiveCurves c = run(s).live;
  EXPECT_EQ(c.arena, (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(c.peak[static_cast<size_t>(StorageKind::kState)], 64);
  EXPECT_EQ(c.device_peak, 96);
}

// `saved` is written in the middle of the first entry and stays live. The second entry holds it
// throughout.
TEST(LiveCurves, ASessionHoldsItsStoragesToTheEnd) {
  Sketch s;
  const ValueId a = s.value(5), saved = s.value(70, StorageKind::kSession);
  s.step(1, {}, {a});
  s.step(1, {a}, {saved});
  s.step(1, {a}, {s.value(3)});
  s.next_entry();
  s.step(1, {}, {s.value(2)});
  s.step(1, {saved}, {s.value(1)});
  s.step(1, {}, {s.value(4)});
  const LiveCurves forward = live_curves(s.p, s.p.entries[0]);
  EXPECT_EQ(forward.session, (std::vector<int64_t>{0, 70, 70}));
  EXPECT_EQ(forward.device_peak, 78);
  EXPECT_EQ(forward.device_peak_step, 2u);
  const LiveCurves backward = live_curves(s.p, s.p.entries[1]);
  EXPECT_EQ(backward.session, (std::vector<int64_t>{70, 70, 70}));
  EXPECT_EQ(backward.device_peak, 74);
}

// Random programs: steps on both streams that read earlier results. Events are placed where streams
// need them, and some more.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {
    const uint32_t n = 20 + below(60);
    for (uint32_t i = 0; i < n; ++i) add(i);
    for (uint32_t k = below(6); k > 0; --k) add_order();
  }
  // Adds one more event from an earlier step to a later one.
  void add_order() {
    const auto n = static_cast<uint32_t>(s.p.steps.size());
    const uint32_t second = 1 + below(n - 1);
    s.order(below(second), second);
  }
  uint32_t below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }

  Sketch s;

 private:
  void add(uint32_t i) {
    std::vector<ValueId> in;
    Steps from;
    const bool communicates = below(3) == 0;
    for (uint32_t k = i == 0 ? 0 : below(3); k > 0; --k) {
      from.push_back(below(i));
      in.push_back(s.p.steps[from.back()].outputs[0]);
    }
    const ValueId out = s.value(1 + below(100));
    const double us = 0.1 * below(200);
    if (communicates)
      s.collective(us, {static_cast<uint8_t>(below(2))}, in, {out});
    else
      s.step(us, in, {out});
    for (uint32_t f : from)
      if (s.p.steps[f].stream != s.p.steps[i].stream) s.order(f, i);
  }
  std::mt19937 random_;
};

class SimulateRandomly : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SimulateRandomly, ::testing::Range(0u, 200u));

TEST_P(SimulateRandomly, KeepsWhatTheHeaderSays) {
  RandomProgram random(GetParam());
  const Program& p = random.s.p;
  const Simulation r = run(random.s);
  EXPECT_GE(r.total_us, r.lower_bound_us);
  EXPECT_LE(r.total_us, r.one_after_another_us + 1e-9);
  EXPECT_NEAR(r.total_us, r.queues[0].busy_us + r.exposed_us, 1e-9 * (1 + r.total_us));
  std::vector<double> queue_end(r.queues.size(), 0);
  for (uint32_t i = 0; i < p.steps.size(); ++i) {
    EXPECT_GE(r.steps[i].start_us, queue_end[r.steps[i].queue]);
    queue_end[r.steps[i].queue] = r.steps[i].end_us;
    EXPECT_EQ(r.steps[i].end_us, r.steps[i].start_us + p.steps[i].cost_us);
    const uint32_t cause = r.steps[i].cause;
    EXPECT_EQ(r.steps[i].start_us, cause == kNoStep ? 0 : r.steps[cause].end_us);
    for (ValueId v : p.steps[i].inputs) {
      const uint32_t writer = p.values[v].storage.v;  // step i makes storage i
      EXPECT_GE(r.steps[i].start_us, r.steps[writer].end_us);
    }
    for (uint32_t e : p.steps[i].waits)
      for (uint32_t k = 0; k < i; ++k) {
        if (p.steps[k].records != e) continue;
        EXPECT_GE(r.steps[i].start_us, r.steps[k].end_us);
      }
  }
  double along = 0;
  for (uint32_t i : r.critical_path) along += p.steps[i].cost_us;
  EXPECT_NEAR(along, r.total_us, 1e-9 * (1 + r.total_us));
  along = 0;
  for (uint32_t i : r.longest_chain) along += p.steps[i].cost_us;
  EXPECT_EQ(along, r.longest_chain_us);
}

TEST_P(SimulateRandomly, AnotherOrderBetweenStepsNeverMakesItShorter) {
  RandomProgram random(GetParam());
  double before = run(random.s).total_us;
  for (int k = 0; k < 10; ++k) {
    random.add_order();
    const double after = run(random.s).total_us;
    EXPECT_GE(after, before);
    before = after;
  }
}

TEST_P(SimulateRandomly, OneQueueForAllCollectivesIsNeverFaster) {
  const RandomProgram random(GetParam());
  SimulationOptions one;
  one.queue_per_communicator = false;
  EXPECT_GE(run(random.s, one).total_us, run(random.s).total_us);
}

TEST_P(SimulateRandomly, EqualProgramsGiveEqualBits) {
  const RandomProgram random(GetParam()), again(GetParam());
  const Simulation a = run(random.s), b = run(again.s);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_EQ(a.steps[i].start_us, b.steps[i].start_us);
    EXPECT_EQ(a.steps[i].cause, b.steps[i].cause);
  }
  EXPECT_EQ(a.critical_path, b.critical_path);
  EXPECT_EQ(a.exposed_us, b.exposed_us);
}

// If neighbouring steps are on different streams and neither depends on the other, their order in
// the program has no effect on time.
TEST_P(SimulateRandomly, IndependentNeighboursMayChangePlaces) {
  RandomProgram random(GetParam());
  Program& p = random.s.p;
  const Simulation before = run(random.s);
  uint32_t swaps = 0;
  for (uint32_t i = 0; i + 1 < p.steps.size(); ++i) {
    ProgramStep &a = p.steps[i], &b = p.steps[i + 1];
    const bool reads = std::ranges::any_of(b.inputs, [&](ValueId v) { return v == a.outputs[0]; });
    const bool waits = a.records != kNoEvent && std::ranges::count(b.waits, a.records) > 0;
    if (a.stream == b.stream || reads || waits) continue;
    std::swap(a, b);
    const Simulation after = run(random.s);
    EXPECT_EQ(after.total_us, before.total_us);
    EXPECT_NEAR(after.exposed_us, before.exposed_us, 1e-9 * (1 + before.exposed_us));
    EXPECT_EQ(after.steps[i].start_us, before.steps[i + 1].start_us);
    std::swap(a, b);
    ++swaps;
  }
  EXPECT_GT(swaps, 0u);
}

// Compares the arena's curve with the definition, storage by storage and step by step.
TEST_P(SimulateRandomly, LiveBytesAreThoseOfTheDefinition) {
  const RandomProgram random(GetParam());
  const Program& p = random.s.p;
  const LiveCurves c = live_curves(p, p.entries[0]);
  const auto touches = [&](uint32_t i, StorageId s) {
    const auto in = [&](std::span<const ValueId> list) {
      return std::ranges::any_of(list, [&](ValueId v) { return p.values[v].storage == s; });
    };
    return in(p.steps[i].inputs) || in(p.steps[i].outputs);
  };
  std::vector<int64_t> expected(p.steps.size(), 0);
  for (uint32_t s = 0; s < p.storages.size(); ++s) {
    bool begun = false;
    for (uint32_t i = 0; i < p.steps.size(); ++i) {
      begun |= touches(i, StorageId{s});
      bool later = false;
      for (auto k = i; k < p.steps.size(); ++k) later |= touches(k, StorageId{s});
      if (begun && later) expected[i] += p.storages[StorageId{s}].bytes;
    }
  }
  EXPECT_EQ(c.arena, expected);
  const std::vector<int64_t> in_passes = LiveBytes::of(p, touched_storages(p)).bytes();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), in_passes.begin()));
  EXPECT_EQ(c.peak[static_cast<size_t>(StorageKind::kArena)], *std::ranges::max_element(expected));
}

}  // namespace
}  // namespace shw
