// Which commands of an entry are launched as graphs, and the graphs that a run in flight has of
// them.
//
// Where all that an entry launches may be captured, it is one graph, its streams joined by the
// entry's own events. Otherwise each row of launches on one stream between which no event is
// waited for or recorded is a graph, and what is between them is done as always: what cannot be
// captured, and the events that order streams.
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
  bool is_whole = false;  // one graph of all commands
  std::vector<Segment> segments = {};
  std::vector<uint32_t> of_command = {};  // kNoSegment: done by itself
};
inline constexpr uint32_t kNoSegment = UINT32_MAX;
GraphSegments find_segments(const EntryCommands& entry, const StepKernels& kernels);

// Of one run in flight and one entry.
class EntryGraphs {
 public:
  // Captures what has other pointers than before, or was not captured yet. The streams are those of
  // the entry; no launch of these graphs is under way.
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
