#include "support/parallel.h"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace shw {

uint32_t num_threads(uint32_t wanted) {
  return wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

void run_on_threads(uint32_t threads, const std::function<void()>& body) {
  if (threads <= 1) return body();
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads - 1);
  try {
    while (others.size() + 1 < threads) others.emplace_back(guarded);
  } catch (const std::exception&) {
    // The threads that could be started do the work.
  }
  guarded();
  for (std::thread& t : others) t.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace shw
