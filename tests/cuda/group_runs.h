// Runs plans whose steps are in groups, and compares them with the same steps run one by one.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cuda/fakes.h"
#include "plan/plan.h"
#include "runtime/host_tensor.h"

namespace shw::runtime::cuda::group_runs {

Attrs with(AttrKey key, AttrValue value);
Attrs along(std::vector<int64_t> dims);  // reduces `dims` and keeps them with size 1

struct Ran {
  std::vector<HostTensor> results;
  int launches = 0;  // kernel launches in one run
};
Ran run(const std::shared_ptr<const Plan>& plan, bool fuse, bool graphs = false);
// Returns the run with groups.
Ran expect_same_bits(const std::shared_ptr<const Plan>& plan);
void expect_launches(const Ran& ran, int launches);

// The source of each group of a program, as it is compiled for a GPU.
std::vector<std::string> sources_of(const Program& program);
// Compiles the sources with the real NVRTC, which needs no GPU. Each source is compiled for only
// one of several architectures, since one compilation takes a second. Skips the test if NVRTC is
// missing.
void expect_to_compile(const std::vector<std::string>& sources);

}  // namespace shw::runtime::cuda::group_runs
