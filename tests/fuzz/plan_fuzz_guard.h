// Places the storages of the arena and of the session far apart. The address sanitizer watches the
// bytes between them.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "plan/program.h"
#include "runtime/cpu/device.h"

namespace shw::fuzz {

// An allocation of exactly `bytes` is of this kind. `used` lists the begin and the end of each part
// that may be accessed.
struct Guarded {
  int64_t bytes = 0;
  std::vector<std::pair<int64_t, int64_t>> used;
};
using Guards = std::vector<Guarded>;

// Gives every storage of the arena and of the session its own bytes.
Guards move_apart(Program& program);

// Heap memory, filled with non-zero bytes. If an allocation has the size of one of `guards`, only
// its used parts may be accessed.
std::shared_ptr<runtime::cpu::HostAllocator> guarding_allocator(Guards guards);

}  // namespace shw::fuzz
