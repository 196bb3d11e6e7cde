// Streams of the CPU backend: a stream is a thread that takes commands from a ring of fixed size.
//
// A machine runs many more ranks than it has cores, so nobody spins: whoever has nothing to do
// sleeps, and the fast path of everything is one or two atomic operations.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/cpu/device.h"
#include "runtime/cpu/event.h"

namespace shw::runtime::cpu {

class CpuStream final : public Stream, private Fault::Listener {
 public:
  CpuStream(Fault& fault, int64_t capacity, std::shared_ptr<HostAllocator> allocator);
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

  void push(const Command& command);
  void serve();                 // the thread
  bool next(Command& command);  // false: the stream ends
  void execute(const Command& command);
  void await(const CpuEvent& event, uint64_t record);
  void on_fault() noexcept override;

  Fault& fault_;
  const std::shared_ptr<HostAllocator> allocator_;
  CpuEvent synchronized_{EventOptions{}};
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
  const CpuEvent* waiting_on_ = nullptr;  // what the thread sleeps on, for on_fault

  std::thread thread_;
};

}  // namespace shw::runtime::cpu
