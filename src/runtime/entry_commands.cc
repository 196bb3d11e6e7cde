#include "runtime/entry_commands.h"

#include <algorithm>

#include "runtime/entry_graphs.h"
#include "runtime/program_layout.h"

namespace shw::runtime {
namespace {

using Command = EntryCommands::Command;

// Writes the pointers of successive operands.
class PointerWriter {
 public:
  PointerWriter(const Program& program, const ProgramMemory& memory, EntryCommands& out)
      : program_(program), memory_(memory), out_(out) {}

  void add(ValueId v) {
    const auto index = static_cast<uint32_t>(out_.pointers.size());
    out_.pointers.push_back(nullptr);
    if (!v.valid()) return;
    const ProgramValue& value = program_.values[v];
    const StorageBase base = memory_.base_of(program_.storages[value.storage]);
    if (base.kind == StorageBase::Kind::kFixed)
      out_.pointers[index] = base.address == nullptr ? nullptr : base.address + value.offset_bytes;
    else
      out_.changing.push_back(
          {index, base.kind, base.port, base.offset_bytes + value.offset_bytes});
  }

 private:
  const Program& program_;
  const ProgramMemory& memory_;
  EntryCommands& out_;
};

}  // namespace

EntryCommands write_commands(const Program& program, const ProgramEntry& entry,
                             const ProgramMemory& memory, const StepKernels& kernels, bool timed) {
  EntryCommands out;
  PointerWriter pointers(program, memory, out);
  // A stream need not wait for events that it recorded itself.
  std::vector<int> recorded_by(program.num_events, -1);
  for (const ProgramStep& step : program.steps)
    if (step.records != kNoEvent) recorded_by[step.records] = static_cast<int>(step.stream);
  const auto mark = [&](uint8_t stream, uint32_t event) {
    if (timed) out.commands.push_back({Command::Kind::kMark, stream, event, 0});
  };
  for (uint32_t l = 0; l < kernels.launches().size(); ++l) {
    const StepLaunch& launch = kernels.launches()[l];
    if (!launch.is_in(entry)) continue;
    const ProgramStep& step = program.steps[launch.steps[0]];
    const auto stream = static_cast<uint8_t>(step.stream);
    if (stream != 0 && std::ranges::find(out.other_streams, stream) == out.other_streams.end())
      out.other_streams.push_back(stream);
    for (uint32_t event : step.waits)
      if (recorded_by[event] != stream)
        out.commands.push_back({Command::Kind::kWait, stream, event, 0});
    mark(stream, 2 * l);
    out.commands.push_back(
        {Command::Kind::kLaunch, stream, l, static_cast<uint32_t>(out.pointers.size())});
    mark(stream, 2 * l + 1);
    for (ValueId v : launch.operands) pointers.add(v);
    out.pointers.push_back(memory.workspace(stream));
    if (launch.records != kNoEvent)
      out.commands.push_back({Command::Kind::kRecord, stream, launch.records, 0});
  }
  return out;
}

void RunMemory::use(const Session& used) {
  const auto memory = [](const BufferRef& buffer) {
    return buffer == nullptr ? nullptr : static_cast<std::byte*>(buffer->data());
  };
  session = memory(used.memory());
  host_session = memory(used.host_memory());
}

std::byte* RunMemory::base(StorageBase::Kind kind, PortId port) const {
  switch (kind) {
    case StorageBase::Kind::kSession:
      return session;
    case StorageBase::Kind::kHostSession:
      return host_session;
    case StorageBase::Kind::kPort:
    case StorageBase::Kind::kFixed:
      break;
  }
  return ports[port];
}

void point_run_at(const EntryCommands& commands, const RunMemory& memory,
                  std::vector<void*>& pointers) {
  for (const EntryCommands::RunPointer& p : commands.changing)
    pointers[p.pointer] = memory.base(p.into, p.port) + p.offset_bytes;
}

Result<RunStreams> create_streams(Device& device, Fault& fault, const Program& program,
                                  std::span<const EntryCommands> entries, int64_t runs_in_flight,
                                  void* native) {
  RunStreams made;
  for (uint32_t i = 0; i < program.num_events; ++i) {
    SHW_ASSIGN_OR_RETURN(auto event, device.create_event());
    made.events.push_back(std::move(event));
  }
  SHW_ASSIGN_OR_RETURN(made.begin, device.create_event());
  const auto is_mark = [](const Command& c) { return c.kind == Command::Kind::kMark; };
  if (std::ranges::any_of(entries, [&](const EntryCommands& e) {
        return std::ranges::any_of(e.commands, is_mark);
      }))
    for (size_t i = 0; i < 2 * program.steps.size(); ++i) {
      SHW_ASSIGN_OR_RETURN(auto mark, device.create_event({.timing = true}));
      made.marks.push_back(std::move(mark));
    }
  std::vector<int64_t> most_commands(num_streams(program));  // per run; 0: the stream is not used
  for (const EntryCommands& entry : entries) {
    std::vector<int64_t> commands(num_streams(program));
    for (const Command& c : entry.commands) ++commands[c.stream];
    for (size_t s = 0; s < commands.size(); ++s)
      most_commands[s] = std::max(most_commands[s], commands[s]);
  }
  // The number of commands around the steps of a run: it begins and ends on stream 0, which waits
  // for the other streams.
  const auto framing = static_cast<int64_t>(16 + num_streams(program));
  made.streams.resize(num_streams(program));
  for (size_t s = 0; s < made.streams.size(); ++s) {
    if (s != 0 && most_commands[s] == 0) continue;
    // Streams that communicate get priority, because other ranks wait for their work.
    SHW_ASSIGN_OR_RETURN(
        made.streams[s],
        device.create_stream({.fault = &fault,
                              .capacity = (most_commands[s] + framing) * runs_in_flight,
                              .priority = s == 0 ? 0 : 1,
                              .native = s == 0 ? native : nullptr}));
  }
  return made;
}

void replay(const EntryCommands& entry, const RunStreams& on, const StepKernels& kernels,
            void* const* pointers, std::span<const std::unique_ptr<Event>> ended,
            const GraphSegments* segments, const EntryGraphs* graphs) {
  // Other streams must not start before earlier runs have ended, because runs share the arena.
  if (!entry.other_streams.empty()) {
    on.main().record(*on.begin);
    for (uint8_t s : entry.other_streams) on.streams[s]->wait(*on.begin);
  }
  constexpr uint32_t kStride = 64;  // commands after which the streams are flushed
  uint32_t held = 0;
  for (uint32_t i = 0; i < entry.commands.size(); ++i) {
    const Command& c = entry.commands[i];
    Stream& stream = *on.streams[c.stream];
    if (const uint32_t s = segments == nullptr ? kNoSegment : segments->of_command[i];
        s != kNoSegment) {
      if (segments->segments[s].commands[0] != i) continue;
      graphs->launch(s, stream);
      if (on.counts) stream.count();
      continue;
    }
    switch (c.kind) {
      case Command::Kind::kWait:
        stream.wait(*on.events[c.index]);
        break;
      case Command::Kind::kLaunch:
        kernels.launches()[c.index].kernel->launch(stream, pointers + c.first_pointer);
        if (on.counts) stream.count();
        break;
      case Command::Kind::kRecord:
        stream.record(*on.events[c.index]);
        break;
      case Command::Kind::kMark:
        stream.record(*on.marks[c.index]);
        break;
    }
    if (++held % kStride == 0)
      for (const auto& s : on.streams)
        if (s != nullptr) s->flush();
  }
  for (uint8_t s : entry.other_streams) {
    on.streams[s]->record(*ended[s]);
    on.streams[s]->flush();
    on.main().wait(*ended[s]);
  }
}

}  // namespace shw::runtime
