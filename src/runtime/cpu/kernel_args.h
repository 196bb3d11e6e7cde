// The interface of this backend's kernels, and the checks that every prepare() makes first.
#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/host_kernel.h"
#include "runtime/step_args.h"

namespace shw::runtime::cpu {

// A function that prepares a kernel is marked [[gnu::cold]], so it is optimised for size: it runs
// only once per step.
using Prepared = Result<std::unique_ptr<HostKernel>>;

// An entry of the backend's kernel table.
struct Kernel {
  std::string_view name;
  // INVALID_ARGUMENT: the types or attributes are invalid for such a step. UNIMPLEMENTED: they are
  // valid, but this backend does not support them.
  Prepared (*prepare)(const KernelArgs& args);
};

// The backend's kernel table, in kernel_table.cc.
std::span<const Kernel* const> kernel_table();

template <class K, class... A>
Prepared make_kernel(A&&... a) {
  return std::unique_ptr<HostKernel>(std::make_unique<K>(std::forward<A>(a)...));
}

}  // namespace shw::runtime::cpu
