#include "plan_fuzz_guard.h"

#include <cstring>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHW_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(SHW_ADDRESS_SANITIZER) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace shw::fuzz {
namespace {

int64_t up_to_multiple(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

class Guarding final : public runtime::cpu::HostAllocator {
 public:
  explicit Guarding(Guards guards) : guards_(std::move(guards)) {}
  void* allocate(size_t bytes, size_t alignment) noexcept override {
    auto* memory =
        static_cast<std::byte*>(::operator new(bytes, std::align_val_t(alignment), std::nothrow));
    if (memory == nullptr) return nullptr;
    std::memset(memory, guards_.empty() ? 0x11 : 0x22, bytes);
    for (const Guarded& g : guards_) {
      if (static_cast<size_t>(g.bytes) != bytes) continue;
      ASAN_POISON_MEMORY_REGION(memory, bytes);
      for (const auto& [first, last] : g.used)
        ASAN_UNPOISON_MEMORY_REGION(memory + first, static_cast<size_t>(last - first));
    }
    return memory;
  }
  void free(void* memory, size_t bytes, size_t alignment) noexcept override {
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    ::operator delete(memory, std::align_val_t(alignment), std::nothrow);
  }

 private:
  const Guards guards_;
};

Guarded lay_out(Program& program, StorageKind kind, int64_t odd, int64_t* total) {
  Guarded guarded;
  int64_t at = 0;
  for (ProgramStorage& s : program.storages) {
    if (s.kind != kind) continue;
    s.offset_bytes = at;
    guarded.used.emplace_back(at, at + s.bytes);
    at = up_to_multiple(at + s.bytes + program.alignment, program.alignment);
  }
  if (at == 0) return guarded;
  *total = guarded.bytes = at + odd;  // `odd` makes the size unique among the allocations
  return guarded;
}

}  // namespace

Guards move_apart(Program& program) {
  Guards guards;
  guards.push_back(lay_out(program, StorageKind::kArena, 7, &program.arena_bytes));
  guards.push_back(lay_out(program, StorageKind::kSession, 11, &program.session_bytes));
  guards.push_back(lay_out(program, StorageKind::kHost, 13, &program.host_bytes));
  guards.push_back(lay_out(program, StorageKind::kGroup, 17, &program.group_bytes));
  guards.push_back(lay_out(program, StorageKind::kHostSession, 19, &program.host_session_bytes));
  return guards;
}

std::shared_ptr<runtime::cpu::HostAllocator> guarding_allocator(Guards guards) {
  return std::make_shared<Guarding>(std::move(guards));
}

}  // namespace shw::fuzz
