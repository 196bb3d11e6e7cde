// Runs plans whose steps are in groups, and the same steps one by one.
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
Attrs along(std::vector<int64_t> dims);  // and the dims stay, with one element

struct Ran {
  std::vector<HostTensor> results;
  int launches = 0;  // of one run
};
Ran run(const std::shared_ptr<const Plan>& plan, bool fuse, bool graphs = false);
// Gives what ran in groups.
Ran expect_same_bits(const std::shared_ptr<const Plan>& plan);
void expect_launches(const Ran& ran, int launches);

// The source of each group of a program, as a GPU gets it.
std::vector<std::string> sources_of(const Program& program);
// By the real compiler, which needs no GPU; each for one of several architectures, as compiling
// takes a second. Skips where NVRTC is missing.
void expect_to_compile(const std::vector<std::string>& sources);

}  // namespace shw::runtime::cuda::group_runs
