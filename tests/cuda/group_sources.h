// Kernels that are generated for a program's groups, for the real compiler: it needs no GPU.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/fakes.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/cuda/plugin/fused_source.h"
#include "runtime/fusion/group_steps.h"

namespace shw::testing {

// The source of each group of a program, as a GPU gets it.
inline std::vector<std::string> sources_of(const Program& program) {
  auto device = runtime::cuda::CudaDevice::open(cuda_options());
  EXPECT_TRUE(device.ok()) << device.status().message();
  const Mesh mesh = *Mesh::create(program.mesh);
  const UseCounts uses = count_uses(program);
  std::vector<std::string> sources;
  for (const FusedGroup& fused : program.fused_groups) {
    const runtime::SlicedGroup group = runtime::slice_group(program, uses, fused);
    const runtime::GroupSteps steps(program, group.members, mesh, 0);
    const auto read = runtime::cuda::read_fused_steps(*(*device)->context(), steps.steps());
    const auto source = runtime::cuda::write_fused_source(read, group.members.size(),
                                                          runtime::cuda::kMostBlockThreads);
    EXPECT_TRUE(source) << fused_group_text(program, fused);
    if (source) sources.push_back(source->text);
  }
  return sources;
}

// Each for one of several architectures: compiling takes a second. Skips where NVRTC is missing.
inline void expect_to_compile(const std::vector<std::string>& sources) {
  using namespace runtime::cuda;
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

}  // namespace shw::testing
