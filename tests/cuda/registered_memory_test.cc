// The memory that collectives use is registered with each communicator if NCCL supports it.
#include <gtest/gtest.h>

#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda {
namespace {

using testing::fake_calls;
using testing::fake_leaks;
using testing::Injected;
using testing::make_tensor;
using testing::ProgramBuilder;
using testing::small_integer;
using testing::view_of;

const RankBackend kRanks = testing::fake_ranks();

// Two ranks that run a collective on memory of the arena.
std::unique_ptr<VirtualRanks> make_ranks() {
  ProgramBuilder b({{"a", 2}});
  const Layout rows = *parse_layout("S(0)", 1);
  const ValueId x = b.input("x", Dtype::kF32, {4, 4}, rows);
  const ValueId y = b.compute("relu", {x}, row_major(Dtype::kF32, {2, 4}));
  b.output("y", b.collective(CollectiveKind::kAllReduce, {0}, y, {2, 4}), {4, 4}, rows);
  auto made = VirtualRanks::create(b.finish(), {}, kRanks);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? std::move(*made) : nullptr;
}
Result<std::vector<HostTensor>> run(VirtualRanks& ranks) {
  const HostTensor x = make_tensor(Dtype::kF32, {4, 4}, small_integer);
  const HostTensorView views[] = {view_of(x)};
  return ranks.run("step", views);
}

// Counts the calls of a function since construction.
struct Calls {
  explicit Calls(const char* call) : function(call), before(fake_calls(call)) {}
  int count() const { return fake_calls(function) - before; }
  const char* function;
  int before;
};

TEST(CudaRegisteredMemory, IsRegisteredOnceWithEachCommunicatorAndGivenBack) {
  const int leaks = fake_leaks();
  const Calls given("ncclMemAlloc"), added("ncclCommRegister"), removed("ncclCommDeregister"),
      used("a registered operand");
  {
    const auto ranks = make_ranks();
    EXPECT_EQ(given.count(), 2) << "the arena of each rank";
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(run(*ranks).ok());
    EXPECT_EQ(added.count(), 2);
    EXPECT_EQ(used.count(), 3 * 2);
    ranks->reset();  // makes new communicators
    ASSERT_TRUE(run(*ranks).ok());
    EXPECT_EQ(added.count(), 4);
    EXPECT_EQ(removed.count(), 0);
  }
  EXPECT_EQ(removed.count(), 2) << "before the memory is given back";
  EXPECT_EQ(fake_leaks(), leaks);
}

TEST(CudaRegisteredMemory, ThatNcclDoesNotGiveIsTheDrivers) {
  const int leaks = fake_leaks();
  {
    const Injected none("ncclMemAlloc", 5);
    const Calls added("ncclCommRegister");
    const auto ranks = make_ranks();
    ASSERT_TRUE(run(*ranks).ok());
    EXPECT_EQ(added.count(), 2) << "it is registered all the same";
  }
  EXPECT_EQ(fake_leaks(), leaks);
}

TEST(CudaRegisteredMemory, ThatCannotBeRegisteredIsAnErrorOfTheRun) {
  const auto ranks = make_ranks();
  {
    const Injected fault("ncclCommRegister", 3);
    EXPECT_NE(run(*ranks).status().message().find("NCCL: "), std::string::npos);
  }
  ranks->reset();
  EXPECT_TRUE(run(*ranks).ok());
}

}  // namespace
}  // namespace shw::runtime::cuda
