#include "fakes/block.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
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

enum class State { kReady, kAtBlockBarrier, kAtWarpBarrier, kEnded };

struct Copy {
  void* to;
  const void* from;
  size_t size;
};

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStack);
  State state = State::kEnded;
  unsigned exchanges = 0;
  std::vector<Copy> copies;   // copies that the thread has begun
  void* sanitizer = nullptr;  // the sanitizer's handle of the fiber
#if defined(__SANITIZE_THREAD__)
  Fiber() { sanitizer = __tsan_create_fiber(0); }
  ~Fiber() { __tsan_destroy_fiber(sanitizer); }
#endif
};

// The scheduler of the calling host thread.
struct Scheduler {
  std::vector<std::unique_ptr<Fiber>> fibers;
  ucontext_t home;
  void* home_sanitizer = nullptr;
  const void* home_stack = nullptr;
  size_t home_size = 0;
  Fiber* running = nullptr;
  // by thread; two sets, since some lanes may call exchange() again while others still read
  std::vector<Shown> shown[2];
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
  __sanitizer_start_switch_fiber(fiber.state == State::kEnded ? nullptr : &fiber.sanitizer,
                                 s.home_stack, s.home_size);
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
  s.running->state = State::kEnded;
  to_home(s);
}

void start(Fiber& fiber) {
  fiber.state = State::kReady;
  fiber.exchanges = 0;
  fiber.copies.clear();
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStack;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
}

using Fibers = std::span<std::unique_ptr<Fiber>>;

bool are_all(Fibers fibers, State state) {
  return std::ranges::all_of(fibers, [&](const auto& f) { return f->state == state; });
}
// Returns false if not all fibers have reached this barrier.
bool release(Fibers fibers, State barrier) {
  if (!are_all(fibers, barrier)) return false;
  for (const auto& fiber : fibers) fiber->state = State::kReady;
  return true;
}

bool run_block(Scheduler& s, unsigned threads) {
  while (s.fibers.size() < threads) s.fibers.push_back(std::make_unique<Fiber>());
  for (auto& shown : s.shown) shown.resize(std::max<size_t>(shown.size(), threads));
  const Fibers fibers = Fibers(s.fibers).first(threads);
  for (const auto& fiber : fibers) start(*fiber);
  while (true) {  // each turn runs the threads to their next barrier
    for (unsigned t = 0; t < threads; ++t) {
      if (fibers[t]->state != State::kReady) continue;
      threadIdx = {t, 0, 0};
      to_fiber(s, *fibers[t]);
    }
    if (are_all(fibers, State::kEnded)) return true;
    bool is_released = release(fibers, State::kAtBlockBarrier);
    for (unsigned w = 0; w < threads; w += kWarp)
      is_released |=
          release(fibers.subspan(w, std::min(kWarp, threads - w)), State::kAtWarpBarrier);
    if (!is_released) return false;
  }
}

// Switches back to the scheduler until all threads have reached the barrier.
void wait_at(State barrier) {
  Scheduler& s = scheduler();
  const Coordinates me = threadIdx;
  s.running->state = barrier;
  to_home(s);
  threadIdx = me;
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

const Shown* exchange(const void* mine, size_t size) {
  Scheduler& s = scheduler();
  std::vector<Shown>& shown = s.shown[s.running->exchanges++ % 2];
  std::memcpy(shown[threadIdx.x].bytes, mine, size);
  wait_at(State::kAtWarpBarrier);
  return &shown[threadIdx.x / kWarp * kWarp];
}

void copy_later(void* to, const void* from, size_t size) {
  scheduler().running->copies.push_back({to, from, size});
}
void finish_copies_of_thread() {
  std::vector<Copy>& copies = scheduler().running->copies;
  for (const Copy& c : copies)
    if (c.from != nullptr)
      std::memcpy(c.to, c.from, c.size);
    else
      std::memset(c.to, 0, c.size);
  copies.clear();
}

}  // namespace shw::fakes

void __syncthreads() { shw::fakes::wait_at(shw::fakes::State::kAtBlockBarrier); }
