// Streams of the CPU backend: a ring of commands of fixed size, emptied by the device's workers.
//
// The fast path of everything is one or two atomic operations.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cpu/device.h"
#include "runtime/cpu/event.h"
#include "runtime/cpu/workers.h"

namespace shw::runtime::cpu {

class CpuStream final : public Stream,
                        private Fault::Listener,
                        private Workers::Task,
                        private Waker {
 public:
  // Throws std::system_error: there is no thread.
  CpuStream(Fault& fault, int64_t capacity, std::shared_ptr<HostAllocator> allocator,
            std::shared_ptr<Workers> workers);
  ~CpuStream() override;
  CpuStream(const CpuStream&) = delete;
  CpuStream& operator=(const CpuStream&) = delete;

  void record(Event& event) override;
  void wait(const Event& event) override;
  void host(HostWork& work, void* const* buffers) override;
  void copy(void* to, const void* from, int64_t bytes, CopyKind kind) override;
  void fill(void* to, std::byte value, int64_t bytes) override;
  Result<void*> allocate(const MemorySpec& spec) override;
  void free(void* memory, const MemorySpec& spec) override;
  void flush() override;
  Status synchronize() override;
  Status status() const override { return {}; }  // all errors are raised in the fault at once

 private:
  enum class Kind : uint8_t { kWork, kCopy, kFill, kFree, kRecord, kWait };
  struct Command {
    Kind kind;
    uint8_t detail;       // fill: the byte. free: log2 of the alignment
    void* object;         // HostWork or CpuEvent; else the memory that is written or given back
    const void* operand;  // of work: its buffers. copy: the source
    uint64_t number;      // of record and wait: the record. Else: bytes
  };

  // What a worker may still do with the stream.
  enum class State : uint8_t {
    kIdle,    // nothing to do, or it waits: wake() queues it
    kQueued,  // with the workers
    kServed,
    kAgain,  // served, and woken meanwhile
  };

  void push(const Command& command);
  void serve() noexcept override;
  void wake() noexcept override;
  void on_fault() noexcept override { wake(); }
  // By the worker that serves the stream.
  bool go_on();                          // false: there is nothing to do, or the next command waits
  bool next();                           // takes a command into current_; false: there is none
  bool execute(const Command& command);  // false: it waits
  bool work(HostWork& work, void* const* buffers);
  bool has_reached(const CpuEvent& event, uint64_t record);

  Fault& fault_;
  const std::shared_ptr<HostAllocator> allocator_;
  const std::shared_ptr<Workers> workers_;
  CpuEvent synchronized_{EventOptions{}};
  std::vector<Command> ring_;  // its size is a power of two
  uint64_t mask_;

  // The producer's, the consumer's and the shared words are on cache lines of their own.
  alignas(64) uint64_t pushed_ = 0;  // written into the ring
  uint64_t known_taken_ = 0;         // a past value of taken_
  alignas(64) std::atomic<uint64_t> published_{0};
  alignas(64) std::atomic<uint64_t> taken_{0};
  alignas(64) std::atomic<State> state_{State::kIdle};
  std::atomic<bool> producer_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable room_;

  // The consumer's.
  Command current_{};
  bool has_current_ = false;    // taken, and not done
  bool has_begun_ = false;      // it is work that waits
  CpuEvent::Waiter waiter_;     // of a wait
  bool is_registered_ = false;  // with the event
};

}  // namespace shw::runtime::cpu
