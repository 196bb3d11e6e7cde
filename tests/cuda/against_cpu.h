// Runs a kernel on the CPU and on the CUDA backend, and compares the results. The CUDA backend runs
// on the fakes or on a GPU.
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

// A fixture with a device of the fakes, or with a GPU (fakes.h).
class OnCuda : public ::testing::Test {
 protected:
  void SetUp() override;
  std::shared_ptr<runtime::Device> device_;
};

// A null entry: the operand is absent.
using Inputs = std::vector<const cts::Window*>;
using Outputs = std::vector<cts::Window*>;

// The mesh and the rank of a step.
struct OfRank {
  std::string mesh = "x=1";
  int64_t rank = 0;
};

// Launches a kernel once, on a new stream.
Status run_kernel(runtime::Device& device, const std::string& kernel, const Inputs& inputs,
                  const Outputs& outputs, const Attrs& attrs = {}, const OfRank& of = {});

// Runs both backends on copies of `outputs`, so that the bytes between the elements are compared,
// too. Integers and truth values must be equal. Reals may differ by the rounding of their dtype
// times `slack`.
void expect_as_on_the_cpu(runtime::Device& cuda, const std::string& kernel, const Inputs& inputs,
                          const Outputs& outputs, const Attrs& attrs = {}, double slack = 1,
                          const OfRank& of = {});

}  // namespace shw::testing
