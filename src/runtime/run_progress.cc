#include "runtime/run_progress.h"

#include <algorithm>
#include <map>
#include <new>

namespace shw::runtime {

RunProgress::RunProgress(const Program& program, const StepKernels& kernels,
                         const std::vector<EntryCommands>& entries,
                         const std::vector<GraphSegments>& segments, const RunStreams& on,
                         size_t runs_in_flight)
    : program_(program), kernels_(kernels), on_(on), runs_(runs_in_flight) {
  for (size_t e = 0; e < entries.size(); ++e)
    entries_.push_back(units_of(entries[e], segments.empty() ? nullptr : &segments[e]));
  for (Run& run : runs_) run.first.resize(on.streams.size());
}

RunProgress::Units RunProgress::units_of(const EntryCommands& entry,
                                         const GraphSegments* segments) const {
  using CommandKind = EntryCommands::Command::Kind;
  Units units(on_.streams.size());
  std::map<uint32_t, Unit::Place> recorded;  // by event
  std::map<uint32_t, Unit::Place> of_segment;
  std::vector<std::vector<Unit::Place>> waited(units.size());  // for the stream's next unit
  for (uint32_t c = 0; c < entry.commands.size(); ++c) {
    const EntryCommands::Command& command = entry.commands[c];
    const uint32_t segment = segments == nullptr ? kNoSegment : segments->of_command[c];
    const bool is_whole = segments != nullptr && segments->is_whole;
    const size_t stream = is_whole ? 0 : command.stream;
    std::vector<Unit>& own = units[stream];
    switch (command.kind) {
      case CommandKind::kWait:
        if (const auto at = recorded.find(command.index); at != recorded.end() && !is_whole)
          waited[stream].push_back(at->second);
        break;
      case CommandKind::kRecord:
        if (!own.empty()) recorded[command.index] = {stream, own.size() - 1};
        break;
      case CommandKind::kLaunch: {
        const auto known = segment == kNoSegment ? of_segment.end() : of_segment.find(segment);
        if (known != of_segment.end()) {
          units[known->second.stream][known->second.unit].launches.push_back(command.index);
          break;
        }
        own.push_back({{command.index}, std::exchange(waited[stream], {})});
        if (segment != kNoSegment) of_segment[segment] = {stream, own.size() - 1};
        break;
      }
      case CommandKind::kMark:
        break;
    }
  }
  return units;
}

void RunProgress::begin(uint64_t run, size_t entry) {
  const std::lock_guard lock(mutex_);
  Run& mine = runs_[run % runs_.size()];
  mine.number = run;
  mine.entry = entry;
  for (size_t s = 0; s < on_.streams.size(); ++s)
    mine.first[s] = on_.streams[s] == nullptr ? 0 : on_.streams[s]->counts().put;
}

// A run begins when the previous one has ended on all streams.
bool RunProgress::may_have_begun(const Run& run, const Unit& unit,
                                 const std::vector<uint64_t>& reached) const {
  for (size_t s = 0; s < reached.size(); ++s)
    if (reached[s] < run.first[s]) return false;
  return std::ranges::all_of(unit.after, [&](const Unit::Place& place) {
    return reached[place.stream] > run.first[place.stream] + place.unit;
  });
}

std::vector<uint32_t> RunProgress::steps_of(const Unit& unit) const {
  std::vector<uint32_t> steps;
  for (const uint32_t launch : unit.launches)
    for (const uint32_t step : kernels_.launches()[launch].steps) steps.push_back(step);
  std::ranges::sort(steps);
  return steps;
}

std::string RunProgress::text_of(const Run& run, const std::vector<uint32_t>& steps) const {
  const ProgramEntry& entry = program_.entries[run.entry];
  const auto number = [&](uint32_t step) { return std::to_string(step - entry.first_step); };
  const auto name = [&](uint32_t step) {
    const ProgramStep& s = program_.steps[step];
    return kernel_text(program_, s) +
           (s.node == UINT32_MAX ? std::string() : " of node " + std::to_string(s.node));
  };
  const uint32_t first = steps.front(), last = steps.back();
  std::string text = steps.size() == 1 ? "step " + number(first)
                                       : "one of " + std::to_string(steps.size()) + " steps, " +
                                             number(first) + " to " + number(last);
  text += " of entry '" + entry.name + "': " + name(first);
  return steps.size() == 1 ? text : text + " to " + name(last);
}

void RunProgress::add(Status& error) const {
  std::vector<uint64_t> reached;
  for (const auto& stream : on_.streams) {
    const Stream::Counts counts = stream == nullptr ? Stream::Counts{} : stream->counts();
    if (!counts.are_known) return;
    reached.push_back(counts.reached);
  }
  std::string text;
  std::vector<uint32_t> failed;
  {
    const std::lock_guard lock(mutex_);
    for (size_t s = 0; s < reached.size(); ++s)
      for (const Run& run : runs_) {
        if (run.number == 0 || reached[s] < run.first[s]) continue;
        const std::vector<Unit>& units = entries_[run.entry][s];
        const uint64_t next = reached[s] - run.first[s];
        if (next >= units.size() || !may_have_begun(run, units[next], reached)) continue;
        const std::vector<uint32_t> steps = steps_of(units[next]);
        text += (text.empty() ? "; it was in " : ", or in ") + text_of(run, steps);
        failed.insert(failed.end(), steps.begin(), steps.end());
      }
  }
  if (text.empty()) text = "; no step of this executor was under way";
  error = Status(error.code(), error.message() + text, error.loc());
  if (failed.size() != 1) return;
  const ProgramStep& step = program_.steps[failed[0]];
  error.at_node(step.node == UINT32_MAX ? -1 : int64_t{step.node}, step.kernel);
}

void RunProgress::add_to(Status& error) const noexcept {
  try {
    add(error);
  } catch (const std::bad_alloc&) {
    // Out of memory: report the error without the place.
  }
}

}  // namespace shw::runtime
