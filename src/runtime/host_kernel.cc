#include "runtime/host_kernel.h"

#include <new>

#include "runtime/hal.h"

namespace shw::runtime {

void HostKernel::launch(Stream& stream, void* const* buffers) { stream.host(*this, buffers); }

Status HostKernel::run(void* const* buffers) noexcept {
  Status status;
  try {
    status = compute(buffers);
    if (!status.ok()) status.at_node(origin.node, origin.kernel);
  } catch (const std::bad_alloc&) {
    // The error itself, if there is one already, is worth more than its place. The text is short
    // enough to be stored without the heap.
    if (status.ok()) status = Status(Code::kResourceExhausted, "out of memory");
  }
  return status;
}

Progress HostKernel::advance(void* const* buffers, Waker& waker, Status& result) noexcept {
  try {
    if (try_compute(buffers, waker, result) == Progress::kWaits) return Progress::kWaits;
    if (!result.ok()) result.at_node(origin.node, origin.kernel);
  } catch (const std::bad_alloc&) {  // as above
    if (result.ok()) result = Status(Code::kResourceExhausted, "out of memory");
  }
  return Progress::kDone;
}

}  // namespace shw::runtime
