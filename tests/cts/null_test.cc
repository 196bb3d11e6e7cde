// What a dry run counts.
#include <gtest/gtest.h>

#include "runtime/executor.h"
#include "runtime/null/channel.h"
#include "unit/runtime/program_builder.h"

namespace shw::cts {
namespace {

using runtime::BufferRef;
using runtime::null::Counts;
using runtime::null::NullDevice;

TEST(Null, CountsLaunchesCollectivesAndMemoryOfOneRankOfMany) {
  testing::ProgramBuilder b({{"a", 1024}});
  const Layout sharded = *parse_layout("S(0)", 1), replicated = *parse_layout("R", 1);
  const ValueId x = b.input("x", Dtype::kF32, {1024 * 100}, sharded);
  const ValueId y = b.compute("neg", {x}, row_major(Dtype::kF32, {100}));
  const ValueId z = b.collective(CollectiveKind::kAllReduce, {0}, y, {100});
  b.output("z", z, {100}, replicated);
  const auto plan = b.finish();
  auto device = std::make_shared<NullDevice>();
  auto executor = runtime::Executor::create(plan, device,
                                            runtime::null::make_channels(*device, b.mesh(), 1023));
  ASSERT_TRUE(executor.ok()) << executor.status().message();
  EXPECT_EQ(device->counts().memory_bytes, plan->program.arena_bytes);
  std::vector<BufferRef> in{*runtime::Buffer::allocate(device, {400})};
  for (int i = 0; i < 3; ++i) {
    std::vector<BufferRef> out(1);
    auto done = (*executor)->enqueue(*(*executor)->find_entry("step"), in, out);
    ASSERT_TRUE(done.ok()) << done.status().message();
    EXPECT_TRUE(done->wait().ok());
  }
  const Counts counts = device->counts();
  EXPECT_EQ(counts.launches, 6) << "neg, and the copy to the output";
  EXPECT_EQ(counts.collectives, 3);
  EXPECT_EQ(counts.collective_bytes, 3 * 400);
  EXPECT_EQ(counts.peak_memory_bytes, plan->program.arena_bytes + 2 * 400);
  EXPECT_EQ(counts.memory_bytes, plan->program.arena_bytes + 400) << "outputs are given back";
}

TEST(Null, RefusesWhatDoesNotFit) {
  NullDevice device(1000);
  const runtime::MemorySpec spec{600};
  auto memory = device.allocate(spec);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(device.allocate(spec).status().code(), Code::kResourceExhausted);
  device.free(*memory, spec);
  EXPECT_TRUE(device.allocate(spec).ok());
}

}  // namespace
}  // namespace shw::cts
