#include "runtime/entry_graphs.h"

#include <algorithm>

namespace shw::runtime {
namespace {

using Kind = EntryCommands::Command::Kind;

constexpr size_t kLeastLaunches = 2;  // minimum number of launches that justifies a graph

const StepLaunch& launch_of(const EntryCommands::Command& c, const StepKernels& kernels) {
  return kernels.launches()[c.index];
}
size_t num_pointers(const StepLaunch& launch) { return launch.operands.size() + 1; }

// All pointers of a segment's launches, in order.
template <class F>
void for_each_range(const EntryCommands& entry, const GraphSegments::Segment& segment,
                    const StepKernels& kernels, F&& range) {
  for (const uint32_t c : segment.commands) {
    const EntryCommands::Command& command = entry.commands[c];
    range(command.first_pointer, num_pointers(launch_of(command, kernels)));
  }
}

bool are_same(const EntryCommands& entry, const GraphSegments::Segment& segment,
              const StepKernels& kernels, void* const* pointers, const std::vector<void*>& known) {
  auto at = known.begin();
  bool same = true;
  for_each_range(entry, segment, kernels, [&](uint32_t first, size_t count) {
    same = same && std::equal(pointers + first, pointers + first + count, at);
    at += static_cast<ptrdiff_t>(count);
  });
  return same;
}

}  // namespace

GraphSegments find_segments(const EntryCommands& entry, const StepKernels& kernels) {
  GraphSegments found;
  found.of_command.assign(entry.commands.size(), kNoSegment);
  found.is_whole = std::ranges::all_of(entry.commands, [&](const auto& c) {
    return c.kind != Kind::kLaunch || launch_of(c, kernels).kernel->can_be_captured();
  });
  std::vector<uint32_t> open;  // by stream: the segment of its next launch
  for (uint32_t i = 0; i < entry.commands.size(); ++i) {
    const EntryCommands::Command& c = entry.commands[i];
    if (c.stream >= open.size()) open.resize(c.stream + size_t{1}, kNoSegment);
    uint32_t& segment = open[found.is_whole ? 0 : c.stream];
    if (c.kind != Kind::kLaunch) {
      if (!found.is_whole) segment = kNoSegment;
      continue;
    }
    if (!launch_of(c, kernels).kernel->can_be_captured()) {
      segment = kNoSegment;
      continue;
    }
    if (segment == kNoSegment) {
      segment = static_cast<uint32_t>(found.segments.size());
      found.segments.push_back({found.is_whole ? uint8_t{0} : c.stream});
    }
    found.segments[segment].commands.push_back(i);
  }
  if (!found.is_whole)
    std::erase_if(found.segments, [](const auto& s) { return s.commands.size() < kLeastLaunches; });
  for (uint32_t s = 0; s < found.segments.size(); ++s)
    for (const uint32_t c : found.segments[s].commands) found.of_command[c] = s;
  found.is_whole = found.is_whole && !found.segments.empty();
  return found;
}

Status EntryGraphs::capture(const EntryCommands& entry, const GraphSegments& segments,
                            const RunStreams& on, const StepKernels& kernels, void* const* pointers,
                            std::span<const std::unique_ptr<Event>> ended, const Fault& fault) {
  graphs_.resize(segments.segments.size());
  for (size_t s = 0; s < graphs_.size(); ++s) {
    const GraphSegments::Segment& segment = segments.segments[s];
    Captured& known = graphs_[s];
    if (known.graph != nullptr && !known.graph->is_usable()) known.graph = nullptr;
    if (known.graph != nullptr && are_same(entry, segment, kernels, pointers, known.pointers))
      continue;
    Stream& stream = *on.streams[segment.stream];
    SHW_RETURN_IF_ERROR(stream.begin_capture());
    if (segments.is_whole)
      replay(entry, on, kernels, pointers, ended);
    else
      for (const uint32_t c : segment.commands)
        launch_of(entry.commands[c], kernels)
            .kernel->launch(stream, pointers + entry.commands[c].first_pointer);
    auto graph = stream.end_capture(std::move(known.graph));
    // An error that was raised during the capture may belong to a launch that is now missing from
    // the graph.
    if (fault.raised()) return fault.status();
    SHW_ASSIGN_OR_RETURN(known.graph, std::move(graph));
    known.pointers.clear();
    for_each_range(entry, segment, kernels, [&](uint32_t first, size_t count) {
      known.pointers.insert(known.pointers.end(), pointers + first, pointers + first + count);
    });
  }
  return {};
}

}  // namespace shw::runtime
