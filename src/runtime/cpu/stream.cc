#include "runtime/cpu/stream.h"

#include <bit>
#include <cstring>

#include "runtime/cpu/gemm.h"

namespace shw::runtime::cpu {

CpuStream::CpuStream(Fault& fault, int64_t capacity, std::shared_ptr<HostAllocator> allocator)
    : fault_(fault),
      allocator_(std::move(allocator)),
      ring_(std::bit_ceil(static_cast<uint64_t>(capacity < 16 ? 16 : capacity))) {
  mask_ = ring_.size() - 1;
  fault_.add_listener(this);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (...) {
    fault_.remove_listener(this);
    throw;
  }
}

CpuStream::~CpuStream() {
  flush();
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  thread_.join();
  fault_.remove_listener(this);
}

void CpuStream::record(Event& event) {
  if (CpuEvent::cast(event) == nullptr)
    return fault_.raise(invalid_argument("an event of another backend was recorded"));
  auto& e = static_cast<CpuEvent&>(event);
  push({Kind::kRecord, 0, &e, nullptr, e.next_record()});
}

void CpuStream::wait(const Event& event) {
  const CpuEvent* e = CpuEvent::cast(event);
  if (e == nullptr)
    return fault_.raise(invalid_argument("a stream was to wait for an event of another backend"));
  const uint64_t record = e->last_record();
  if (e->done(record)) return;
  push({Kind::kWait, 0, const_cast<CpuEvent*>(e), nullptr, record});
}

void CpuStream::host(HostWork& work, void* const* buffers) {
  push({Kind::kWork, 0, &work, buffers, 0});
}

void CpuStream::copy(void* to, const void* from, int64_t bytes, CopyKind) {
  if (bytes > 0) push({Kind::kCopy, 0, to, from, static_cast<uint64_t>(bytes)});
}

void CpuStream::fill(void* to, std::byte value, int64_t bytes) {
  if (bytes > 0)
    push({Kind::kFill, static_cast<uint8_t>(value), to, nullptr, static_cast<uint64_t>(bytes)});
}

Result<void*> CpuStream::allocate(const MemorySpec& spec) {
  return cpu::allocate(*allocator_, spec);
}

void CpuStream::free(void* memory, const MemorySpec& spec) {
  const auto log2 = std::countr_zero(static_cast<uint64_t>(spec.alignment));
  push({Kind::kFree, static_cast<uint8_t>(log2), memory, nullptr,
        static_cast<uint64_t>(spec.bytes)});
}

Status CpuStream::synchronize() {
  record(synchronized_);
  flush();
  synchronized_.await(synchronized_.last_record());
  return fault_.status();
}

void CpuStream::push(const Command& command) {
  if (pushed_ - known_taken_ == ring_.size()) {
    known_taken_ = taken_.load(std::memory_order_acquire);
    if (pushed_ - known_taken_ == ring_.size()) {
      flush();
      std::unique_lock lock(mutex_);
      producer_sleeps_.store(true, std::memory_order_seq_cst);
      room_.wait(lock, [&] {
        known_taken_ = taken_.load(std::memory_order_seq_cst);
        return pushed_ - known_taken_ < ring_.size();
      });
      producer_sleeps_.store(false, std::memory_order_relaxed);
    }
  }
  ring_[pushed_++ & mask_] = command;
}

void CpuStream::flush() {
  published_.store(pushed_, std::memory_order_seq_cst);
  if (consumer_sleeps_.load(std::memory_order_seq_cst)) {
    { std::lock_guard lock(mutex_); }
    more_.notify_one();
  }
}

bool CpuStream::next(Command& command) {
  const uint64_t taken = taken_.load(std::memory_order_relaxed);
  if (published_.load(std::memory_order_acquire) == taken) {
    std::unique_lock lock(mutex_);
    consumer_sleeps_.store(true, std::memory_order_seq_cst);
    more_.wait(lock,
               [&] { return published_.load(std::memory_order_seq_cst) != taken || ending_; });
    consumer_sleeps_.store(false, std::memory_order_relaxed);
    if (published_.load(std::memory_order_acquire) == taken) return false;
  }
  command = ring_[taken & mask_];
  taken_.store(taken + 1, std::memory_order_seq_cst);
  if (producer_sleeps_.load(std::memory_order_seq_cst)) {
    { std::lock_guard lock(mutex_); }
    room_.notify_one();
  }
  return true;
}

void CpuStream::serve() {
  use_one_gemm_thread();
  Command command;
  while (next(command)) execute(command);
}

void CpuStream::execute(const Command& c) {
  switch (c.kind) {
    case Kind::kWork: {
      if (fault_.raised()) return;
      Status s = static_cast<HostWork*>(c.object)->run(static_cast<void* const*>(c.operand));
      if (!s.ok()) fault_.raise(std::move(s));
      return;
    }
    case Kind::kCopy:
      if (!fault_.raised()) std::memcpy(c.object, c.operand, c.number);
      return;
    case Kind::kFill:
      if (!fault_.raised()) std::memset(c.object, c.detail, c.number);
      return;
    case Kind::kFree:
      return cpu::free(*allocator_, c.object,
                       {static_cast<int64_t>(c.number), int64_t{1} << c.detail});
    case Kind::kRecord:
      return static_cast<CpuEvent*>(c.object)->complete(c.number);
    case Kind::kWait:
      return await(*static_cast<const CpuEvent*>(c.object), c.number);
  }
}

void CpuStream::await(const CpuEvent& event, uint64_t record) {
  if (event.done(record)) return;
  {
    std::lock_guard lock(waiting_mutex_);
    waiting_on_ = &event;
  }
  event.await(record, fault_);
  std::lock_guard lock(waiting_mutex_);
  waiting_on_ = nullptr;
}

void CpuStream::on_fault() noexcept {
  std::lock_guard lock(waiting_mutex_);
  if (waiting_on_ != nullptr) waiting_on_->wake();
}

}  // namespace shw::runtime::cpu
