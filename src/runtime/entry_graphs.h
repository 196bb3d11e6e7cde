// Decides which commands of an entry are launched as graphs, and holds the graphs of one run in
// flight.
//
// If all launches of an entry can be captured, the entry becomes one graph; the entry's own events
// join its streams. Otherwise each sequence of launches on one stream, with no wait or record
// between them, becomes a graph. All other commands are executed as without graphs: launches that
// cannot be captured, and the waits and records between streams.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/entry_commands.h"
#include "runtime/hal.h"

namespace shw::runtime {

struct GraphSegments {
  struct Segment {
    uint8_t stream = 0;
    std::vector<uint32_t> commands = {};  // launches, in order
  };
  bool is_whole = false;  // all commands form one graph
  std::vector<Segment> segments = {};
  std::vector<uint32_t> of_command = {};  // kNoSegment: executed by itself
};
inline constexpr uint32_t kNoSegment = UINT32_MAX;
GraphSegments find_segments(const EntryCommands& entry, const StepKernels& kernels);

// The graphs of one run in flight and one entry.
class EntryGraphs {
 public:
  // Captures the segments that have not been captured yet, or whose pointers have changed. The
  // streams are those of the entry. No launch of these graphs may be running.
  Status capture(const EntryCommands& entry, const GraphSegments& segments, const RunStreams& on,
                 const StepKernels& kernels, void* const* pointers,
                 std::span<const std::unique_ptr<Event>> ended, const Fault& fault);
  void launch(size_t segment, Stream& stream) const { graphs_[segment].graph->launch(stream); }

 private:
  struct Captured {
    std::unique_ptr<Graph> graph = {};
    std::vector<void*> pointers = {};
  };
  std::vector<Captured> graphs_;  // by segment
};

}  // namespace shw::runtime
