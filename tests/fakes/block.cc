#include "fakes/block.h"

#include <ucontext.h>

#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

thread_local shw::fakes::Coordinates threadIdx, blockIdx, blockDim, gridDim;

namespace shw::fakes {
namespace {

constexpr size_t kStack = 64 << 10;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStack);
  bool has_ended = false;
  void* sanitizer = nullptr;  // what a sanitizer knows it by
#if defined(__SANITIZE_THREAD__)
  Fiber() { sanitizer = __tsan_create_fiber(0); }
  ~Fiber() { __tsan_destroy_fiber(sanitizer); }
#endif
};

// The scheduler of the calling thread.
struct Scheduler {
  std::vector<std::unique_ptr<Fiber>> fibers;
  ucontext_t home;
  void* home_sanitizer = nullptr;
  const void* home_stack = nullptr;
  size_t home_size = 0;
  Fiber* running = nullptr;
  const std::function<void()>* kernel = nullptr;
};
Scheduler& scheduler() {
  thread_local Scheduler s;
  return s;
}

void to_fiber(Scheduler& s, Fiber& fiber) {
  s.running = &fiber;
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, fiber.stack.get(), kStack);
  swapcontext(&s.home, &fiber.context);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
#if defined(__SANITIZE_THREAD__)
  s.home_sanitizer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber.sanitizer, 0);
#endif
  swapcontext(&s.home, &fiber.context);
#endif
}

void to_home(Scheduler& s) {
  Fiber& fiber = *s.running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fiber.has_ended ? nullptr : &fiber.sanitizer, s.home_stack,
                                 s.home_size);
  swapcontext(&fiber.context, &s.home);
  __sanitizer_finish_switch_fiber(fiber.sanitizer, &s.home_stack, &s.home_size);
#else
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(s.home_sanitizer, 0);
#endif
  swapcontext(&fiber.context, &s.home);
#endif
}

void fiber_main() {
  Scheduler& s = scheduler();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &s.home_stack, &s.home_size);
#endif
  (*s.kernel)();
  s.running->has_ended = true;
  to_home(s);
}

bool run_block(Scheduler& s, unsigned threads) {
  while (s.fibers.size() < threads) s.fibers.push_back(std::make_unique<Fiber>());
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = *s.fibers[t];
    fiber.has_ended = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  while (true) {  // from barrier to barrier
    unsigned ended = 0;
    for (unsigned t = 0; t < threads; ++t) {
      threadIdx = {t, 0, 0};
      to_fiber(s, *s.fibers[t]);
      ended += s.fibers[t]->has_ended;
    }
    if (ended == threads) return true;
    if (ended != 0) return false;
  }
}

}  // namespace

bool run_grid(Coordinates grid, Coordinates block, const std::function<void()>& kernel) {
  Scheduler& s = scheduler();
  s.kernel = &kernel;
  gridDim = grid;
  blockDim = block;
  for (unsigned b = 0; b < grid.x; ++b) {
    blockIdx = {b, 0, 0};
    if (!run_block(s, block.x)) return false;
  }
  return true;
}

}  // namespace shw::fakes

void __syncthreads() {
  using namespace shw::fakes;
  Scheduler& s = scheduler();
  const Coordinates me = threadIdx;
  to_home(s);
  threadIdx = me;
}
