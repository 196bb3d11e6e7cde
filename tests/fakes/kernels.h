// The kernels that the fake driver can launch: the CUDA backend's kernels, compiled for the host.
#pragma once
#include <functional>
#include <string_view>

#include "support/status.h"

namespace shw::fakes {

// Maps a device address to an address that the host can access. OUT_OF_RANGE: the address is in no
// live memory.
using Translate = std::function<Result<void*>(const void*)>;
// A kernel with bound parameters; it is called once for each thread.
using BoundKernel = std::function<void()>;

struct FakeKernel {
  std::string_view program, name;
  // Copies the parameters, as cuLaunchKernel does. The function that it returns translates the
  // pointers among them.
  std::function<std::function<Result<BoundKernel>(const Translate&)>(void** parameters)> bind;
};
const FakeKernel* find_kernel(std::string_view name);  // null: there is none

}  // namespace shw::fakes
