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
    // Wait, record: the event's number. Launch: the launch's number. Mark: 2·launch, +1 for its
    // end.
    uint32_t index;
    uint32_t first_pointer;  // launch: index of its first buffer in the run's pointers
  };
  // A pointer that changes from run to run.
  struct RunPointer {
    uint32_t pointer;
    StorageBase::Kind into;
    PortId port;
    int64_t offset_bytes;
  };

  std::vector<Command> commands;
  std::vector<void*> pointers;  // entries that change from run to run are null
  std::vector<RunPointer> changing;
  std::vector<uint8_t> other_streams;  // streams other than 0 that the entry uses
};

// `timed`: adds a mark before and after each launch.
EntryCommands write_commands(const Program& program, const ProgramEntry& entry,
                             const ProgramMemory& memory, const StepKernels& kernels,
                             bool timed = false);

// The memory of one run: that of each port of its entry, and that of its session.
struct RunMemory {
  IndexVec<PortId, std::byte*> ports;
  std::byte *session = nullptr, *host_session = nullptr;

  void use(const Session& used);
  std::byte* base(StorageBase::Kind kind, PortId port) const;
};

// Fills in the pointers that change from run to run.
void point_run_at(const EntryCommands& commands, const RunMemory& memory,
                  std::vector<void*>& pointers);

// The streams and events on which commands are replayed.
struct RunStreams {
  std::vector<std::unique_ptr<Stream>> streams;  // by number; null: unused by all entries
  std::vector<std::unique_ptr<Event>> events;    // the program's events
  std::vector<std::unique_ptr<Event>> marks;     // by Command::index; empty: steps are not timed
  std::unique_ptr<Event> begin;                  // recorded on stream 0 when a run begins
  bool counts = false;  // call Stream::count() after each launch (run_progress.h)

  Stream& main() const { return *streams[0]; }
};

// Creates the streams and events for a program's entries. `native`: a stream of the caller that
// serves as stream 0; null: create one.
Result<RunStreams> create_streams(Device& device, Fault& fault, const Program& program,
                                  std::span<const EntryCommands> entries, int64_t runs_in_flight,
                                  void* native);

// Enqueues one run of the entry. The run begins and ends on stream 0; every other stream records
// `ended[stream]` after its last command. `graphs`: graphs of `segments`, launched in place of the
// segments' commands; null: none.
struct GraphSegments;  // entry_graphs.h
class EntryGraphs;
void replay(const EntryCommands& entry, const RunStreams& on, const StepKernels& kernels,
            void* const* pointers, std::span<const std::unique_ptr<Event>> ended,
            const GraphSegments* segments = nullptr, const EntryGraphs* graphs = nullptr);

}  // namespace shw::runtime
