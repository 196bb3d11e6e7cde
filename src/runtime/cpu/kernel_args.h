// What a kernel of this backend is, and what every prepare() checks first.
#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/host_kernel.h"
#include "runtime/step_args.h"

namespace shw::runtime::cpu {

// What makes a kernel is [[gnu::cold]], which is to say compiled for size: it runs once a step.
using Prepared = Result<std::unique_ptr<HostKernel>>;

// A line of the backend's table.
struct Kernel {
  std::string_view name;
  // INVALID_ARGUMENT: the types or attributes are not those of such a step. UNIMPLEMENTED: they
  // are, but this backend cannot do it.
  Prepared (*prepare)(const KernelArgs& args);
};

// The backend's kernels: the table of kernel_table.cc.
std::span<const Kernel* const> kernel_table();

template <class K, class... A>
Prepared make_kernel(A&&... a) {
  return std::unique_ptr<HostKernel>(std::make_unique<K>(std::forward<A>(a)...));
}

}  // namespace shw::runtime::cpu
