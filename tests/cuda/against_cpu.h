// Runs a kernel on the CPU and on the CUDA backend, over the fakes or on a GPU, and compares the
// results.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cts/window.h"
#include "cuda/fakes.h"
#include "runtime/hal.h"
#include "tensor/attrs.h"

namespace shw::testing {

// A device of the fakes, or a GPU (fakes.h).
class OnCuda : public ::testing::Test {
 protected:
  void SetUp() override;
  std::shared_ptr<runtime::Device> device_;
};

// Null: absent.
using Inputs = std::vector<const cts::Window*>;
using Outputs = std::vector<cts::Window*>;

// The rank that a step is of.
struct OfRank {
  std::string mesh = "x=1";
  int64_t rank = 0;
};

// One launch of a kernel on a stream of its own.
Status run_kernel(runtime::Device& device, const std::string& kernel, const Inputs& inputs,
                  const Outputs& outputs, const Attrs& attrs = {}, const OfRank& of = {});

// Both backends write over copies of `outputs`, so that bytes between the elements count, too.
// Integers and truth values must be the same; reals within the rounding of their dtype times
// `slack`.
void expect_as_on_the_cpu(runtime::Device& cuda, const std::string& kernel, const Inputs& inputs,
                          const Outputs& outputs, const Attrs& attrs = {}, double slack = 1,
                          const OfRank& of = {});

}  // namespace shw::testing
