// Storages of arena and session laid far from each other, with bytes between them that the address
// sanitizer watches.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "plan/program.h"
#include "runtime/cpu/device.h"

namespace shw::fuzz {

// An allocation of `bytes` is a memory of this kind, and these parts of it are used: first and last
// byte (behind the end).
struct Guarded {
  int64_t bytes = 0;
  std::vector<std::pair<int64_t, int64_t>> used;
};
using Guards = std::vector<Guarded>;

// Gives every storage of the arena and of the session bytes of its own.
Guards move_apart(Program& program);

// Memory of the heap, filled with bytes that are not zero; in what is as large as one of `guards`,
// only the parts that are used can be touched.
std::shared_ptr<runtime::cpu::HostAllocator> guarding_allocator(Guards guards);

}  // namespace shw::fuzz
