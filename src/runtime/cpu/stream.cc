#include "runtime/cpu/stream.h"

#include <bit>

#include "runtime/cpu/gemm.h"

namespace shw::runtime::cpu {

// Sleeping and waking follow one pattern throughout: the sleeper announces itself and then looks
// again, the waker changes the word and then looks for sleepers, all sequentially consistent. So
// one of the two always sees the other, and a waker without sleepers takes no lock.

void CpuEvent::complete(uint64_t record) {
  completed_.store(record, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) wake();
}

void CpuEvent::wake() {
  { std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

template <class Predicate>
void CpuEvent::sleep_until(Predicate awake) {
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  changed_.wait(lock, awake);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void CpuEvent::await(uint64_t record) {
  if (!done(record)) sleep_until([&] { return done(record); });
}

void CpuEvent::await(uint64_t record, const Fault& stop) {
  sleep_until([&] { return done(record) || stop.raised(); });
}

CpuStream::CpuStream(Fault& fault, int64_t capacity)
    : fault_(fault), ring_(std::bit_ceil(static_cast<uint64_t>(capacity < 16 ? 16 : capacity))) {
  mask_ = ring_.size() - 1;
  fault_.add_listener(this);
  thread_ = std::thread([this] { serve(); });
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
  auto& e = static_cast<CpuEvent&>(event);
  push({Kind::kRecord, &e, nullptr, e.next_record()});
}

void CpuStream::wait(Event& event, AfterFault after_fault) {
  auto& e = static_cast<CpuEvent&>(event);
  const uint64_t record = e.last_record();
  if (e.done(record)) return;
  push({after_fault == AfterFault::kRun ? Kind::kWaitAlways : Kind::kWait, &e, nullptr, record});
}

void CpuStream::host(HostWork& work, void* const* buffers, AfterFault after_fault) {
  push({after_fault == AfterFault::kRun ? Kind::kWorkAlways : Kind::kWork, &work, buffers, 0});
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

void CpuStream::execute(const Command& command) {
  switch (command.kind) {
    case Kind::kWork:
      if (fault_.raised()) return;
      [[fallthrough]];
    case Kind::kWorkAlways:
      if (Status s = static_cast<HostWork*>(command.object)->run(command.buffers); !s.ok())
        fault_.raise(std::move(s));
      return;
    case Kind::kRecord:
      return static_cast<CpuEvent*>(command.object)->complete(command.record);
    case Kind::kWait:
      return await(*static_cast<CpuEvent*>(command.object), command.record);
    case Kind::kWaitAlways:
      return static_cast<CpuEvent*>(command.object)->await(command.record);
  }
}

void CpuStream::await(CpuEvent& event, uint64_t record) {
  if (event.done(record)) return;
  {
    std::lock_guard lock(waiting_mutex_);
    waiting_on_ = &event;
  }
  event.await(record, fault_);
  std::lock_guard lock(waiting_mutex_);
  waiting_on_ = nullptr;
}

void CpuStream::on_fault(const Status&) {
  std::lock_guard lock(waiting_mutex_);
  if (waiting_on_ != nullptr) waiting_on_->wake();
}

}  // namespace shw::runtime::cpu
