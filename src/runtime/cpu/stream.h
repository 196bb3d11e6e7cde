// Streams of the CPU backend: a ring of commands of fixed size, which the device's workers execute.
//
// The fast path of each operation takes one or two atomic operations.
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
  // Throws std::system_error: no thread could be created.
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
    uint8_t detail;  // fill: the byte. free: log2 of the alignment
    // HostWork or CpuEvent; otherwise the memory that is written or freed.
    void* object;
    const void* operand;  // work: its buffers; copy: the source
    uint64_t number;      // record and wait: the record's number; otherwise bytes
  };

  // Whether the stream is queued with the workers or served by one.
  enum class State : uint8_t {
    kIdle,    // no work, or waiting; wake() queues it
    kQueued,  // in the queue of the workers
    kServed,
    kAgain,  // served, and woken during that time
  };

  void push(const Command& command);
  void serve() noexcept override;
  void wake() noexcept override;
  void on_fault() noexcept override { wake(); }
  // Called by the worker that serves the stream.
  bool go_on();                          // false: no command is left, or the next one waits
  bool next();                           // moves a command to current_; false: there is none
  bool execute(const Command& command);  // false: it waits
  bool work(HostWork& work, void* const* buffers);
  bool has_reached(const CpuEvent& event, uint64_t record);

  Fault& fault_;
  const std::shared_ptr<HostAllocator> allocator_;
  const std::shared_ptr<Workers> workers_;
  CpuEvent synchronized_{EventOptions{}};
  std::vector<Command> ring_;  // its size is a power of two
  uint64_t mask_;

  // The fields of the producer, of the consumer, and those that both use are on separate cache
  // lines.
  alignas(64) uint64_t pushed_ = 0;  // commands written to the ring
  uint64_t known_taken_ = 0;         // a past value of taken_
  alignas(64) std::atomic<uint64_t> published_{0};
  alignas(64) std::atomic<uint64_t> taken_{0};
  alignas(64) std::atomic<State> state_{State::kIdle};
  std::atomic<bool> producer_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable room_;

  // Used by the consumer only.
  Command current_{};
  bool has_current_ = false;    // current_ is not finished
  bool has_begun_ = false;      // current_ is work that has begun and waits
  CpuEvent::Waiter waiter_;     // for the event of a wait command
  bool is_registered_ = false;  // waiter_ is registered with the event
};

}  // namespace shw::runtime::cpu
