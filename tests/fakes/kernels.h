// The kernels that the fake driver can launch: those of the CUDA backend, compiled for the host.
#pragma once
#include <functional>
#include <string_view>

#include "support/status.h"

namespace shw::fakes {

// Where the host finds what a device address stands for. OUT_OF_RANGE: in no live memory.
using Translate = std::function<Result<void*>(const void*)>;
// A kernel with its parameters, to be called for every thread.
using BoundKernel = std::function<void()>;

struct FakeKernel {
  std::string_view program, name;
  // Copies the parameters, as cuLaunchKernel does; what it gives translates their pointers.
  std::function<std::function<Result<BoundKernel>(const Translate&)>(void** parameters)> bind;
};
const FakeKernel* find_kernel(std::string_view name);  // null: there is none

}  // namespace shw::fakes
