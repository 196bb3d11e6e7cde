// The commands of one entry of a program, written down once and replayed by every run.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"
#include "runtime/hal.h"
#include "runtime/program_memory.h"
#include "runtime/session.h"
#include "runtime/step_kernels.h"

namespace shw::runtime {

struct EntryCommands {
  struct Command {
    enum class Kind : uint8_t { kWait, kLaunch, kRecord, kMark } kind;
    uint8_t stream;
    uint32_t index;  // wait, record: the event. Launch: its number. Mark: 2·launch, +1 at its end
    uint32_t first_pointer;  // launch: its buffers begin here in the run's pointers
  };
  // A pointer that changes from run to run.
  struct RunPointer {
    uint32_t pointer;
    StorageBase::Kind into;
    PortId port;
    int64_t offset_bytes;
  };

  std::vector<Command> commands;
  std::vector<void*> pointers;  // those that change are null
  std::vector<RunPointer> changing;
  std::vector<uint8_t> other_streams;  // that the entry uses, beside stream 0
};

// `timed`: with a mark before and after each launch.
EntryCommands write_commands(const Program& program, const ProgramEntry& entry,
                             const ProgramMemory& memory, const StepKernels& kernels,
                             bool timed = false);

// What a run is given: the memory of each port that its entry lists, and of its session.
struct RunMemory {
  IndexVec<PortId, std::byte*> ports;
  std::byte *session = nullptr, *host_session = nullptr;

  void use(const Session& used);
  std::byte* base(StorageBase::Kind kind, PortId port) const;
};

// Fills in the pointers that change from run to run.
void point_run_at(const EntryCommands& commands, const RunMemory& memory,
                  std::vector<void*>& pointers);

// What commands are replayed on.
struct RunStreams {
  std::vector<std::unique_ptr<Stream>> streams;  // by number; null: no entry uses it
  std::vector<std::unique_ptr<Event>> events;    // of the program
  std::vector<std::unique_ptr<Event>> marks;     // by Command::index; empty: no step is timed
  std::unique_ptr<Event> begin;                  // of a run, on stream 0
  bool counts = false;                           // behind each launch (run_progress.h)

  Stream& main() const { return *streams[0]; }
};

// Streams and events for a program's entries. `native`: the caller's stream to use as stream 0.
Result<RunStreams> create_streams(Device& device, Fault& fault, const Program& program,
                                  std::span<const EntryCommands> entries, int64_t runs_in_flight,
                                  void* native);

// Puts one run of the entry on the streams. It begins and ends on stream 0; the other streams
// record `ended[stream]` where they end. `graphs`: of `segments`, which are launched in place of
// their commands; null: none.
struct GraphSegments;  // entry_graphs.h
class EntryGraphs;
void replay(const EntryCommands& entry, const RunStreams& on, const StepKernels& kernels,
            void* const* pointers, std::span<const std::unique_ptr<Event>> ended,
            const GraphSegments* segments = nullptr, const EntryGraphs* graphs = nullptr);

}  // namespace shw::runtime
