// Collectives of every kind, dtype and reduction on four fake devices. The fake NCCL adds in the
// order of the ranks, as virtual ranks do, so the bits are equal. On a GPU, sums of reals can
// differ.
#include <gtest/gtest.h>

#include "cts/collective_cases.h"
#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"

namespace shw::runtime::cuda {
namespace {

const RankBackend kFakes = testing::fake_ranks();

Result<std::vector<HostTensor>> run(const std::shared_ptr<const Plan>& plan,
                                    const std::vector<HostTensorView>& in, bool graphs) {
  SHW_ASSIGN_OR_RETURN(const auto ranks, VirtualRanks::create(plan, {.graphs = graphs}, kFakes));
  return ranks->run("step", in);
}

class CudaCollectives : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Graphs, CudaCollectives, ::testing::Bool());

TEST_P(CudaCollectives, GiveTheBitsOfVirtualRanks) {
  const auto on_fakes = [](const auto& plan, const auto& in) { return run(plan, in, GetParam()); };
  for (const cts::CollectiveCase& c : cts::collective_cases()) {
    const Status s = cts::check_collective(c, true, on_fakes);
    EXPECT_TRUE(s.ok()) << s.message();
  }
  const Status s = cts::check_groups_side_by_side(true, on_fakes);
  EXPECT_TRUE(s.ok()) << s.message();
}

TEST(CudaCollectivesTest, WithoutMeaningAreRefused) {
  const cts::CollectiveCase of_complex{{{"a", 2}},     {0},         CollectiveKind::kAllReduce,
                                       ReduceOp::kMax, Dtype::kC64, 4};
  const HostTensor x = cts::input_of(of_complex, 1);
  const Status s = run(cts::plan_of(of_complex), {{x.type, x.data.data()}}, false).status();
  EXPECT_EQ(s.code(), Code::kInvalidArgument) << s.message();
}

}  // namespace
}  // namespace shw::runtime::cuda
