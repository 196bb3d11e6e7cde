#include "runtime/cuda/plugin/stream.h"

#include <algorithm>
#include <thread>

#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {
namespace {

DevicePointer device_pointer(const void* p) { return reinterpret_cast<DevicePointer>(p); }

}  // namespace

CudaStream::CudaStream(std::shared_ptr<Context> context, const StreamOptions& options)
    : context_(std::move(context)),
      fault_(*options.fault),
      calls_(static_cast<size_t>(std::max<int64_t>(options.capacity, 1))) {}

Result<std::unique_ptr<Stream>> CudaStream::create(std::shared_ptr<Context> context,
                                                   const StreamOptions& options) {
  const Driver& driver = context->driver();
  const Current current(*context);
  std::unique_ptr<CudaStream> stream(new CudaStream(context, options));
  void* page = nullptr;
  SHW_RETURN_IF_ERROR(driver.check(
      driver.allocate_host(&page, sizeof(Page), kHostMemoryPortable | kHostMemoryMapped),
      "memory for the errors of a CUDA stream"));
  stream->page_ = new (page) Page{};
  if (options.native != nullptr) {
    stream->handle_ = static_cast<StreamHandle>(options.native);
    return std::unique_ptr<Stream>(std::move(stream));
  }
  int least = 0, greatest = 0;  // the greatest priority is the smaller number
  SHW_RETURN_IF_ERROR(
      driver.check(driver.priority_range(&least, &greatest), "asking for stream priorities"));
  const int priority = std::clamp(least - options.priority, greatest, least);
  SHW_RETURN_IF_ERROR(
      driver.check(driver.create_stream(&stream->handle_, kStreamNonBlocking, priority),
                   "making a CUDA stream"));
  stream->is_own_ = true;
  return std::unique_ptr<Stream>(std::move(stream));
}

CudaStream::~CudaStream() {
  const Current current(*context_);
  const Driver& driver = context_->driver();
  // Also for a stream of the caller, because queued work uses this object.
  if (handle_ != nullptr) (void)driver.synchronize_stream(handle_);
  if (is_own_) (void)driver.destroy_stream(handle_);
  if (page_ != nullptr) (void)driver.free_host(page_);
}

void CudaStream::raise(Status status, const StepOrigin& origin) {
  if (status.ok()) return;
  if (Status earlier = lost(); !earlier.ok()) return fault_.raise_late(std::move(earlier));
  if (!origin.kernel.empty()) status.at_node(origin.node, origin.kernel);
  if (capture_ != nullptr) {
    if (capture_->error.ok()) capture_->error = std::move(status);
    return;
  }
  fault_.raise(std::move(status));
}

void CudaStream::record(Event& event) {
  if (&event.device_class() != &cuda::device_class())
    return raise(invalid_argument("an event of another backend was recorded"));
  const Current current(*context_);
  Status status = static_cast<CudaEvent&>(event).record(handle_, capture_);
  if (status.ok()) return;
  // An event without a record counts as reached, so no work may be left before it. Work that waits
  // for other ranks is ended by the fault.
  raise(std::move(status));
  if (capture_ == nullptr) (void)context_->driver().synchronize_stream(handle_);
}

void CudaStream::wait(const Event& event) {
  if (&event.device_class() != &cuda::device_class())
    return raise(invalid_argument("a stream was to wait for an event of another backend"));
  const Current current(*context_);
  const auto& ours = static_cast<const CudaEvent&>(event);
  const EventHandle handle = ours.handle();
  if (ours.capture() != nullptr && !ours.capture()->streams.empty()) join(ours.capture());
  raise(context_->driver().check(context_->driver().wait_event(handle_, handle, 0),
                                 "waiting for a CUDA event"));
}

void CudaStream::call_host(void* pointer) {
  auto& call = *static_cast<HostCall*>(pointer);
  Status status = call.work->run(call.buffers);
  if (!status.ok()) call.fault->raise(std::move(status));
  call.pending.store(false, std::memory_order_release);
}

// Waits while the ring is full. A lost device makes no more calls, so its places are reused.
CudaStream::HostCall& CudaStream::free_call() {
  HostCall& call = calls_[next_call_];
  next_call_ = (next_call_ + 1) % calls_.size();
  while (call.pending.load(std::memory_order_acquire)) {
    const DriverError error = context_->driver().query_stream(handle_);
    if (error != kDriverSuccess && error != kDriverNotReady) break;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return call;
}

void CudaStream::host(HostWork& work, void* const* buffers) {
  if (capture_ != nullptr)  // its place in the ring would stay occupied
    return raise(unimplemented("host work in a CUDA graph"));
  const Current current(*context_);
  HostCall& call = free_call();
  call.work = &work;
  call.buffers = buffers;
  call.fault = &fault_;
  call.pending = true;
  const Driver& driver = context_->driver();
  Status status =
      driver.check(driver.launch_host(handle_, call_host, &call), "calling the host from a stream");
  if (!status.ok()) call.pending = false;
  raise(std::move(status));
}

Status copy_on(const Driver& d, StreamHandle stream, void* to, const void* from, int64_t bytes,
               CopyKind kind) {
  const auto size = static_cast<size_t>(bytes);
  DriverError error = kDriverSuccess;
  switch (kind) {
    case CopyKind::kHostToDevice:
      error = d.copy_to_device(device_pointer(to), from, size, stream);
      break;
    case CopyKind::kDeviceToHost:
      error = d.copy_to_host(to, device_pointer(from), size, stream);
      break;
    case CopyKind::kDeviceToDevice:
      error = d.copy_on_device(device_pointer(to), device_pointer(from), size, stream);
      break;
  }
  return d.check(error, "copying on a CUDA stream");
}

void CudaStream::copy(void* to, const void* from, int64_t bytes, CopyKind kind) {
  if (bytes == 0) return;
  const Current current(*context_);
  raise(copy_on(context_->driver(), handle_, to, from, bytes, kind));
}

void CudaStream::fill(void* to, std::byte value, int64_t bytes) {
  if (bytes == 0) return;
  const Current current(*context_);
  const Driver& d = context_->driver();
  raise(d.check(d.fill(device_pointer(to), static_cast<unsigned char>(value),
                       static_cast<size_t>(bytes), handle_),
                "filling device memory"));
}

Result<void*> CudaStream::allocate(const MemorySpec& spec) {
  if (spec.kind != MemoryKind::kDevice || spec.alignment > int64_t{kMemoryAlignment})
    return unimplemented("a CUDA stream gives device memory aligned to 256 bytes at most");
  const Current current(*context_);
  DevicePointer memory = 0;
  const auto bytes = static_cast<size_t>(std::max<int64_t>(spec.bytes, 1));
  SHW_RETURN_IF_ERROR(
      context_->driver().check(context_->driver().allocate_async(&memory, bytes, handle_),
                               "allocating device memory on a stream"));
  return reinterpret_cast<void*>(memory);
}

void CudaStream::free(void* memory, const MemorySpec&) {
  const Current current(*context_);
  raise(context_->driver().check(context_->driver().free_async(device_pointer(memory), handle_),
                                 "giving back device memory on a stream"));
}

Status CudaStream::reported() const {
  std::lock_guard lock(mutex_);
  DeviceError& page = page_->error;
  if (std::atomic_ref(page.ready).load(std::memory_order_acquire) == 0) return {};
  if (!was_told_) {
    was_told_ = true;
    Status error(Code::kOutOfRange, "index " + std::to_string(page.value) + " into a table of " +
                                        std::to_string(page.bound) + " rows");
    error.at_node(page.node, kernel_name(page.kernel));
    fault_.raise(error);
    return error;
  }
  if (fault_.raised()) return {};
  page = {};  // the fault was cleared, so no kernel is running that could report an error
  was_told_ = false;
  return {};
}

Status CudaStream::status() const {
  SHW_RETURN_IF_ERROR(reported());
  return lost();
}

Status CudaStream::lost() const {
  const std::lock_guard lock(capture_mutex_);
  if (capture_ != nullptr) return {};
  const Current current(*context_);
  const DriverError error = context_->driver().query_stream(handle_);
  if (error == kDriverNotReady) return {};
  return context_->driver().check(error, "the CUDA device is lost");
}

void CudaStream::count() {
  if (capture_ != nullptr || !counts_) return;
  put_.fetch_add(1);
  const Current current(*context_);
  const Driver& driver = context_->driver();
  const DriverError error = driver.write_value(handle_, device_pointer(&page_->reached),
                                               static_cast<unsigned>(put_.load()), 0);
  counts_ = error != kDriverNotSupported;
  if (counts_) raise(driver.check(error, "counting the launches of a CUDA stream"));
}

Stream::Counts CudaStream::counts() const {
  const unsigned reached = std::atomic_ref(page_->reached).load(std::memory_order_acquire);
  const uint64_t put = put_.load();
  return {put, put - (static_cast<unsigned>(put) - reached), counts_.load()};
}

Status CudaStream::synchronize() {
  {
    const Current current(*context_);
    SHW_RETURN_IF_ERROR(context_->driver().check(context_->driver().synchronize_stream(handle_),
                                                 "the CUDA device is lost"));
  }
  SHW_RETURN_IF_ERROR(reported());
  return fault_.status();
}

Status CudaStream::launch(FunctionHandle function, int64_t blocks, int threads, void** parameters) {
  if (blocks == 0) return {};
  const Current current(*context_);
  const auto grid = static_cast<unsigned>(std::min<int64_t>(blocks, context_->max_blocks()));
  const Driver& driver = context_->driver();
  return driver.check(driver.launch(function, grid, 1, 1, static_cast<unsigned>(threads), 1, 1, 0,
                                    handle_, parameters, nullptr),
                      "launching a CUDA kernel");
}

}  // namespace shw::runtime::cuda
