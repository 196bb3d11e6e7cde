// Streams and events of the CPU backend: a stream is a thread that takes commands from a ring of
// fixed size.
//
// A machine runs many more ranks than it has cores, so nobody spins: whoever has nothing to do
// sleeps, and the fast path of everything is one or two atomic operations.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/hal.h"

namespace shw::runtime::cpu {

class CpuEvent final : public Event {
 public:
  // By the thread that enqueues: the number of the record that a wait from now on is for.
  uint64_t next_record() { return recorded_.fetch_add(1, std::memory_order_relaxed) + 1; }
  uint64_t last_record() const { return recorded_.load(std::memory_order_relaxed); }

  // By streams.
  bool done(uint64_t record) const { return completed_.load(std::memory_order_seq_cst) >= record; }
  void complete(uint64_t record);
  void await(uint64_t record);
  void await(uint64_t record, const Fault& stop);  // or until `stop` is raised and wake() is called
  void wake();

 private:
  template <class Predicate>
  void sleep_until(Predicate awake);

  std::atomic<uint64_t> recorded_{0}, completed_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

class CpuStream final : public Stream, private Fault::Listener {
 public:
  CpuStream(Fault& fault, int64_t capacity);
  ~CpuStream() override;
  CpuStream(const CpuStream&) = delete;
  CpuStream& operator=(const CpuStream&) = delete;

  void record(Event& event) override;
  void wait(Event& event, AfterFault after_fault) override;
  void host(HostWork& work, void* const* buffers, AfterFault after_fault) override;
  void flush() override;

 private:
  enum class Kind : uint8_t { kWork, kWorkAlways, kRecord, kWait, kWaitAlways };
  struct Command {
    Kind kind;
    void* object;          // HostWork or CpuEvent
    void* const* buffers;  // of work
    uint64_t record;       // of record and wait
  };

  void push(const Command& command);
  void serve();                 // the thread
  bool next(Command& command);  // false: the stream ends
  void execute(const Command& command);
  void await(CpuEvent& event, uint64_t record);
  void on_fault(const Status& cause) override;

  Fault& fault_;
  std::vector<Command> ring_;  // its size is a power of two
  uint64_t mask_;

  // The producer's, the consumer's and the shared words are on cache lines of their own.
  alignas(64) uint64_t pushed_ = 0;  // written into the ring
  uint64_t known_taken_ = 0;         // a past value of taken_
  alignas(64) std::atomic<uint64_t> published_{0};
  alignas(64) std::atomic<uint64_t> taken_{0};
  alignas(64) std::atomic<bool> consumer_sleeps_{false};
  std::atomic<bool> producer_sleeps_{false};
  bool ending_ = false;  // under mutex_
  std::mutex mutex_;
  std::condition_variable more_, room_;

  std::mutex waiting_mutex_;
  CpuEvent* waiting_on_ = nullptr;  // what the thread sleeps on, for on_fault

  std::thread thread_;
};

}  // namespace shw::runtime::cpu
