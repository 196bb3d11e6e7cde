#include "runtime/host_kernel.h"

#include <new>

#include "runtime/hal.h"

namespace shw::runtime {

void HostKernel::launch(Stream& stream, void* const* buffers) { stream.host(*this, buffers); }

template <class F>
void HostKernel::describing(Status& result, F&& work) noexcept {
  try {
    work();
    if (!result.ok()) result.at_node(origin.node, origin.kernel);
  } catch (const std::bad_alloc&) {
    // If memory runs out while the place is added to an error, the error is kept without it. This
    // text is short enough to be stored without the heap.
    if (result.ok()) result = Status(Code::kResourceExhausted, "out of memory");
  }
}

Status HostKernel::run(void* const* buffers) noexcept {
  Status result;
  describing(result, [&] { result = compute(buffers); });
  return result;
}

Progress HostKernel::advance(void* const* buffers, Waker& waker, Status& result) noexcept {
  Progress progress = Progress::kDone;
  describing(result, [&] { progress = try_compute(buffers, waker, result); });
  return progress;
}

}  // namespace shw::runtime
