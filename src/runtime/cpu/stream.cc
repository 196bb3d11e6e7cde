#include "runtime/cpu/stream.h"

#include <bit>
#include <cstring>
#include <optional>
#include <thread>

namespace shw::runtime::cpu {

CpuStream::CpuStream(Fault& fault, int64_t capacity, std::shared_ptr<HostAllocator> allocator,
                     std::shared_ptr<Workers> workers)
    : fault_(fault),
      allocator_(std::move(allocator)),
      workers_(std::move(workers)),
      ring_(std::bit_ceil(static_cast<uint64_t>(capacity < 16 ? 16 : capacity))) {
  mask_ = ring_.size() - 1;
  waiter_.waker = this;
  fault_.add_listener(this);
  try {
    workers_->hire();
  } catch (...) {
    fault_.remove_listener(this);
    throw;
  }
}

CpuStream::~CpuStream() {
  (void)synchronize();
  fault_.remove_listener(this);
  // From here on no thread wakes the stream, but a worker may still be finishing with it.
  while (state_.load(std::memory_order_seq_cst) != State::kIdle) std::this_thread::yield();
  workers_->dismiss();
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
  wake();
}

// The stream may be destroyed soon after it has been queued, so it is not accessed after that.
void CpuStream::wake() noexcept {
  State state = state_.load(std::memory_order_seq_cst);
  while (true) {
    if (state == State::kIdle) {
      if (state_.compare_exchange_weak(state, State::kQueued, std::memory_order_seq_cst))
        return workers_->ready(*this);
    } else if (state == State::kServed) {
      if (state_.compare_exchange_weak(state, State::kAgain, std::memory_order_seq_cst)) return;
    } else {
      return;  // the worker will check again
    }
  }
}

void CpuStream::serve() noexcept {
  State state;
  do {
    state_.store(State::kServed, std::memory_order_seq_cst);
    while (go_on()) {
    }
    state = State::kServed;
  } while (!state_.compare_exchange_strong(state, State::kIdle, std::memory_order_seq_cst));
}

bool CpuStream::go_on() {
  if (!has_current_ && !next()) return false;
  has_current_ = !execute(current_);
  return !has_current_;
}

bool CpuStream::next() {
  const uint64_t taken = taken_.load(std::memory_order_relaxed);
  if (published_.load(std::memory_order_seq_cst) == taken) return false;
  current_ = ring_[taken & mask_];
  taken_.store(taken + 1, std::memory_order_seq_cst);
  if (producer_sleeps_.load(std::memory_order_seq_cst)) {
    { std::lock_guard lock(mutex_); }
    room_.notify_one();
  }
  return true;
}

bool CpuStream::execute(const Command& c) {
  switch (c.kind) {
    case Kind::kWork:
      return work(*static_cast<HostWork*>(c.object), static_cast<void* const*>(c.operand));
    case Kind::kCopy:
      if (!fault_.raised()) std::memcpy(c.object, c.operand, c.number);
      return true;
    case Kind::kFill:
      if (!fault_.raised()) std::memset(c.object, c.detail, c.number);
      return true;
    case Kind::kFree:
      cpu::free(*allocator_, c.object, {static_cast<int64_t>(c.number), int64_t{1} << c.detail});
      return true;
    case Kind::kRecord:
      static_cast<CpuEvent*>(c.object)->complete(c.number);
      return true;
    case Kind::kWait:
      return has_reached(*static_cast<const CpuEvent*>(c.object), c.number);
  }
  return true;
}

bool CpuStream::work(HostWork& work, void* const* buffers) {
  if (!has_begun_ && fault_.raised()) return true;
  Status result;
  {
    std::optional<Workers::MayBlock> blocks;
    if (work.may_block()) blocks.emplace(*workers_);
    has_begun_ = work.advance(buffers, *this, result) == Progress::kWaits;
  }
  if (!has_begun_ && !result.ok()) fault_.raise(std::move(result));
  return !has_begun_;
}

bool CpuStream::has_reached(const CpuEvent& event, uint64_t record) {
  if (!event.done(record) && !fault_.raised()) {
    if (is_registered_) return false;
    waiter_.record = record;
    is_registered_ = event.add(waiter_);
    // A fault that was raised in the meantime has woken this stream, so it will check again.
    if (is_registered_) return false;
  }
  if (is_registered_) event.remove(waiter_);
  is_registered_ = false;
  return true;
}

}  // namespace shw::runtime::cpu
