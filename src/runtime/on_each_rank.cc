#include "runtime/on_each_rank.h"

#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace shw::runtime {
namespace {

// Turns exceptions into errors, because they must not leave a thread.
Status guarded(const std::function<Status(int64_t rank)>& enqueue, int64_t rank) {
  try {
    return enqueue(rank);
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");
  }
}

}  // namespace

Status on_each_rank(int64_t ranks, const Device& device,
                    const std::function<Status(int64_t rank)>& enqueue) {
  if (ranks == 1 || device.can().host_access || !device.can().computes) {
    for (int64_t r = 0; r < ranks; ++r) SHW_RETURN_IF_ERROR(enqueue(r));
    return {};
  }
  std::vector<Status> results(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(ranks));
  for (size_t r = 0; r < results.size(); ++r) {
    const auto serve = [&, r] { results[r] = guarded(enqueue, static_cast<int64_t>(r)); };
    try {
      threads.emplace_back(serve);
    } catch (const std::system_error&) {  // no more threads: this thread takes over
      serve();
    }
  }
  for (std::thread& t : threads) t.join();
  // Only one rank has the cause; the errors of the others only say that they were stopped.
  Status first;
  for (Status& s : results)
    if (!s.ok() && (first.ok() || first.code() == Code::kAborted)) first = std::move(s);
  return first;
}

}  // namespace shw::runtime
