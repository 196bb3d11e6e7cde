#include "cuda/group_runs.h"

#include <algorithm>

#include "runtime/cuda/plugin/device.h"
#include "runtime/cuda/plugin/fused_source.h"
#include "runtime/fusion/group_steps.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/group_plans.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda::group_runs {

using testing::fake_calls;
using testing::make_tensor;
using testing::view_of;

Attrs with(AttrKey key, AttrValue value) {
  Attrs attrs;
  attrs.set(key, std::move(value));
  return attrs;
}
Attrs along(std::vector<int64_t> dims) {
  Attrs attrs = with(AttrKey::kDims, std::move(dims));
  attrs.set(AttrKey::kKeepDim, true);
  return attrs;
}

Ran run(const std::shared_ptr<const Plan>& plan, bool fuse, bool graphs) {
  Ran ran;
  auto device = CudaDevice::open(testing::cuda_options());
  EXPECT_TRUE(device.ok()) << device.status().message();
  ExecutorOptions options;
  options.fuse = fuse;
  options.graphs = graphs;
  const RankBackend backend{[&](int64_t) { return *device; }, {}};
  auto ranks = VirtualRanks::create(plan, options, backend);
  EXPECT_TRUE(ranks.ok()) << ranks.status().message() << " at " << ranks.status().node_name();
  if (!ranks.ok()) return ran;
  std::vector<HostTensor> inputs;
  for (const PortId id : plan->program.entries[0].inputs) {
    const TensorType& type = plan->program.ports[id].global;
    const bool whole = type.dtype == Dtype::kI64;
    inputs.push_back(make_tensor(type.dtype, type.shape, [&](int64_t i) {
      return whole ? static_cast<double>(i % 7)
                   : static_cast<double>((i * 37 + id.v * 11) % 101) / 50.0 - 1.0;
    }));
  }
  std::vector<HostTensorView> views;
  for (const HostTensor& t : inputs) views.push_back(view_of(t));
  const auto launched = [] { return fake_calls("cuLaunchKernel") + fake_calls("cublasLtMatmul"); };
  const int before = launched();
  auto results = (*ranks)->run(plan->program.entries[0].name, views);
  ran.launches = launched() - before;
  EXPECT_TRUE(results.ok()) << results.status().message();
  if (results.ok()) ran.results = std::move(*results);
  return ran;
}

Ran expect_same_bits(const std::shared_ptr<const Plan>& plan) {
  const auto groups = testing::in_groups(*plan);
  Ran together = run(groups, true);
  const Ran alone = run(groups, false);
  EXPECT_EQ(together.results.size(), alone.results.size());
  for (size_t i = 0; i < std::min(together.results.size(), alone.results.size()); ++i)
    EXPECT_EQ(together.results[i].data, alone.results[i].data) << "output " << i;
  if (!testing::is_on_gpu()) {
    EXPECT_LT(together.launches, alone.launches);
  }
  return together;
}

void expect_launches(const Ran& ran, int launches) {
  if (!testing::is_on_gpu()) {
    EXPECT_EQ(ran.launches, launches);
  }
}

std::vector<std::string> sources_of(const Program& program) {
  auto device = CudaDevice::open(testing::cuda_options());
  EXPECT_TRUE(device.ok()) << device.status().message();
  const Mesh mesh = *Mesh::create(program.mesh);
  const UseCounts uses = count_uses(program);
  std::vector<std::string> sources;
  for (const FusedGroup& fused : program.fused_groups) {
    const SlicedGroup group = slice_group(program, uses, fused);
    const GroupSteps steps(program, group.members, mesh, 0);
    const auto read = read_fused_steps(*(*device)->context(), steps.steps());
    const auto source = write_fused_source(read, group.members.size(), kMostBlockThreads);
    EXPECT_TRUE(source) << fused_group_text(program, fused);
    if (source) sources.push_back(source->text);
  }
  return sources;
}

void expect_to_compile(const std::vector<std::string>& sources) {
  const auto nvrtc = open_nvrtc({});
  if (!nvrtc.ok()) GTEST_SKIP() << "not run: " << nvrtc.status().message();
  int turn = 0;
  const std::pair<int, int> capabilities[] = {{8, 0}, {9, 0}, {10, 0}};
  for (const std::string& source : sources) {
    const auto [major, minor] = capabilities[turn++ % 3];
    const auto binary = compile_program(*nvrtc, kFusedKernelName, source, major, minor);
    ASSERT_TRUE(binary.ok()) << binary.status().message() << source;
    EXPECT_EQ(binary->substr(1, 3), "ELF");
  }
}

}  // namespace shw::runtime::cuda::group_runs
