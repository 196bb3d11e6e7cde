#include "runtime/executor.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "runtime/entry.h"
#include "runtime/entry_commands.h"
#include "runtime/run_monitor.h"
#include "runtime/run_progress.h"
#include "runtime/validate.h"

namespace shw::runtime {
namespace {

// The port that owns this port's memory: itself, or the input that it updates in place.
PortId lies_in(const Program& program, PortId port) {
  return {program.storages[program.values[program.ports[port].value].storage].port};
}
size_t place_of(const std::vector<PortId>& ports, PortId port) {
  return static_cast<size_t>(std::ranges::find(ports, port) - ports.begin());
}

Status check_buffers(const Program& program, const PortAlignments& alignments, const char* what,
                     const ProgramEntry& entry, const std::vector<PortId>& ports,
                     std::span<const BufferRef> buffers, bool may_be_null) {
  if (buffers.size() != ports.size())
    return invalid_argument("entry '" + entry.name + "' has " + std::to_string(ports.size()) + " " +
                            what + "s, not " + std::to_string(buffers.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = program.ports[ports[i]];
    const int64_t want = port_bytes(program, port);
    if (!port.value.valid() || (may_be_null && buffers[i] == nullptr)) continue;
    const auto refuse = [&](const std::string& why) {
      return invalid_argument(std::string(what) + " " + std::to_string(i) + ", '" + port.name +
                              "', " + why);
    };
    if (buffers[i] == nullptr) return refuse("is missing");
    const TensorType& type = program.values[port.value].type;
    if (buffers[i]->bytes() < want)
      return refuse("has " + std::to_string(buffers[i]->bytes()) + " bytes; a rank's piece is " +
                    to_string(type) + ", " + std::to_string(want) + " bytes");
    const int64_t alignment = alignments[ports[i]];
    if (reinterpret_cast<uintptr_t>(buffers[i]->data()) % static_cast<uintptr_t>(alignment) != 0)
      return refuse(alignment == element_alignment(type.dtype)
                        ? "is not aligned to its elements of " + std::to_string(alignment) +
                              " bytes"
                        : "is not aligned to " + std::to_string(alignment) +
                              " bytes; the plan keeps scratch in it until it is written "
                              "(--lend-outputs)");
  }
  return {};
}

// Checks that an output that updates an input in place is that input's buffer.
Status check_updates(const Program& program, const ProgramEntry& entry,
                     std::span<const BufferRef> inputs, std::span<const BufferRef> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PortId id = entry.outputs[i];
    if (outputs[i] == nullptr || !program.ports[id].value.valid()) continue;
    const PortId in = lies_in(program, id);
    if (in == id) continue;
    const size_t at = place_of(entry.inputs, in);
    if (outputs[i]->data() != inputs[at]->data())
      return invalid_argument("output " + std::to_string(i) + ", '" + program.ports[id].name +
                              "', updates input " + std::to_string(at) +
                              " in place, so it must be that buffer");
  }
  return {};
}

}  // namespace

struct Executor::Impl {
  Impl(std::shared_ptr<const Plan> p, std::shared_ptr<Device> d, std::unique_ptr<ChannelProvider> c)
      : plan(std::move(p)), device(std::move(d)), provider(std::move(c)) {}
  ~Impl() {
    if (timeline != nullptr && !timeline->finished(last_run)) fault.raise(destroyed);
    if (monitor != nullptr) monitor->stop();
    fault.set_witness(nullptr);
    on.streams.clear();  // their last callbacks may still run in the monitor
  }

  Status prepare(const ExecutorOptions& options);
  Status create_slots(size_t depth);
  Status start_monitor(const ExecutorOptions& options);
  Status check_dependencies(std::span<const Completion> wait_for) const;
  Status make_outputs(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                      std::span<BufferRef> outputs);
  void point_to(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                std::span<const BufferRef> outputs);
  RunSlot& take_slot(uint64_t run);
  void launch(RunSlot& slot, size_t entry, uint64_t run);
  Status capture(RunSlot& slot, size_t entry);

  const Program& program() const { return plan->program; }

  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device;
  std::unique_ptr<ChannelProvider> provider;
  Fault fault;
  // Created in advance, because stopping a run must not allocate.
  const Status aborted{Code::kCancelled, "aborted by the caller"};
  const Status destroyed{Code::kCancelled, "the executor was destroyed"};
  PortAlignments alignments;
  StepKernels kernels;
  ProgramMemory memory;
  std::vector<EntryCommands> entries;
  std::vector<GraphSegments> segments;                          // by entry; empty: no graphs
  const Session::Owner owner = std::make_shared<const char>();  // identifies its sessions
  // The session of runs that name none; null: no entry leaves data for another.
  std::shared_ptr<Session> session;
  RunMemory run_memory;  // for the run that is being enqueued
  RunStreams on;
  std::shared_ptr<Timeline> timeline;
  std::vector<RunSlot> slots;
  // Null: the device reports errors promptly, or cannot count.
  std::unique_ptr<RunProgress> progress;
  std::unique_ptr<RunMonitor> monitor;
  uint64_t last_run = 0;
};

Status Executor::Impl::prepare(const ExecutorOptions& options) {
  SHW_ASSIGN_OR_RETURN(
      kernels, StepKernels::create(program(), *device, *provider, options.regions, options.fuse));
  SHW_ASSIGN_OR_RETURN(
      memory,
      ProgramMemory::create(device, program(), provider->mesh(), provider->rank(),
                            kernels.workspace_bytes(program()), kernels.group_bytes(program())));
  alignments = port_alignments(program());
  run_memory.ports = IndexVec<PortId, std::byte*>(program().ports.size(), nullptr);
  if (program().session_bytes > 0 || program().host_session_bytes > 0) {
    SHW_ASSIGN_OR_RETURN(session, Session::create(owner, device, program()));
  }
  for (const ProgramEntry& entry : program().entries)
    entries.push_back(write_commands(program(), entry, memory, kernels, options.time_steps));
  if (options.graphs && !device->can().graphs)
    return unimplemented("a " + std::string(device->device_class().name) +
                         " device captures no graphs");
  if (options.graphs && !options.time_steps)
    for (const EntryCommands& entry : entries) segments.push_back(find_segments(entry, kernels));
  const int depth = std::max(1, options.max_in_flight);
  SHW_ASSIGN_OR_RETURN(
      on, create_streams(*device, fault, program(), entries, depth, options.native_stream));
  SHW_RETURN_IF_ERROR(create_slots(static_cast<size_t>(depth)));
  if (device->can().counts) {
    progress = std::make_unique<RunProgress>(program(), kernels, entries, segments, on,
                                             static_cast<size_t>(depth));
    fault.set_witness(progress.get());
    on.counts = true;
  }
  return start_monitor(options);
}

Status Executor::Impl::create_slots(size_t depth) {
  std::vector<std::unique_ptr<Event>> done(depth);
  for (auto& event : done) {
    SHW_ASSIGN_OR_RETURN(event, device->create_event());
  }
  timeline = std::make_shared<Timeline>(std::move(done));
  constexpr size_t kOfSession = 2;
  size_t most_buffers = 0;
  for (const ProgramEntry& entry : program().entries)
    most_buffers = std::max(most_buffers, entry.inputs.size() + entry.outputs.size() + kOfSession);
  slots = std::vector<RunSlot>(depth);
  for (RunSlot& slot : slots) {
    for (const EntryCommands& entry : entries) slot.pointers.push_back(entry.pointers);
    slot.graphs.resize(entries.size());
    slot.ended.resize(on.streams.size());
    for (size_t s = 1; s < on.streams.size(); ++s)
      if (on.streams[s] != nullptr) {
        SHW_ASSIGN_OR_RETURN(slot.ended[s], device->create_event());
      }
    slot.last_events.reserve(on.streams.size());
    slot.buffers.reserve(most_buffers);
  }
  return {};
}

Status Executor::Impl::start_monitor(const ExecutorOptions& options) {
  std::vector<const Stream*> streams;
  for (const auto& stream : on.streams)
    if (stream != nullptr) streams.push_back(stream.get());
  SHW_ASSIGN_OR_RETURN(monitor,
                       RunMonitor::create({fault, *provider, *timeline, slots, std::move(streams),
                                           device->can().prompt_errors, options.time_limit}));
  for (RunSlot& slot : slots) slot.signal.monitor = monitor.get();
  return {};
}

Status Executor::Impl::check_dependencies(std::span<const Completion> wait_for) const {
  for (const Completion& c : wait_for)
    if (c.timeline() != nullptr && &c.timeline()->device_class() != &device->device_class())
      return failed_precondition("a run on a " + std::string(device->device_class().name) +
                                 " device cannot wait for one on a " +
                                 std::string(c.timeline()->device_class().name) + " device");
  return {};
}

Status Executor::Impl::make_outputs(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                                    std::span<BufferRef> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port& port = program().ports[entry.outputs[i]];
    if (outputs[i] != nullptr || !port.value.valid()) continue;
    if (const PortId in = lies_in(program(), entry.outputs[i]); in != entry.outputs[i]) {
      outputs[i] = inputs[place_of(entry.inputs, in)];
      continue;
    }
    const MemorySpec spec{port_bytes(program(), port), arena_alignment(program())};
    SHW_ASSIGN_OR_RETURN(outputs[i], Buffer::allocate(device, spec));
  }
  return {};
}

void Executor::Impl::point_to(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                              std::span<const BufferRef> outputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr)
      run_memory.ports[entry.inputs[i]] = static_cast<std::byte*>(inputs[i]->data());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != nullptr)
      run_memory.ports[entry.outputs[i]] = static_cast<std::byte*>(outputs[i]->data());
}

// Waits until the slot's previous run has ended.
RunSlot& Executor::Impl::take_slot(uint64_t run) {
  if (run > slots.size()) (void)timeline->wait(run - slots.size());  // its error is in the fault
  RunSlot& slot = slots[run % slots.size()];
  slot.signal.number = run;
  slot.buffers.clear();  // left by an enqueue that ran out of memory
  slot.dependencies.clear();
  slot.last_events.clear();
  return slot;
}

// Captures the slot's graphs of this entry, with the pointers of the current run.
Status Executor::Impl::capture(RunSlot& slot, size_t entry) try {
  return slot.graphs[entry].capture(entries[entry], segments[entry], on, kernels,
                                    slot.pointers[entry].data(), slot.ended, fault);
} catch (const std::bad_alloc&) {  // the run has a number, so it must end with an error
  return Status(Code::kResourceExhausted, "out of memory");
}

void Executor::Impl::launch(RunSlot& slot, size_t entry, uint64_t run) {
  Stream& main = on.main();
  // The event of a finished run may already belong to a later one.
  for (const Completion& c : slot.dependencies)
    if (!c.ready()) main.wait(c.timeline()->done_event(c.run()));
  Event& done = timeline->done_event(run);
  slot.last_events.push_back(&done);
  const GraphSegments* graphs = segments.empty() ? nullptr : &segments[entry];
  if (progress != nullptr) progress->begin(run, entry);
  Status captured = graphs == nullptr ? Status() : capture(slot, entry);
  if (!captured.ok()) {
    if (Status lost = main.status(); !lost.ok()) fault.raise_late(std::move(lost));
    fault.raise(std::move(captured));
  } else if (graphs != nullptr && graphs->is_whole) {
    slot.graphs[entry].launch(0, main);
    if (on.counts) main.count();
  } else {
    replay(entries[entry], on, kernels, slot.pointers[entry].data(), slot.ended, graphs,
           &slot.graphs[entry]);
    for (uint8_t s : entries[entry].other_streams) slot.last_events.push_back(slot.ended[s].get());
  }
  main.host(slot.signal, nullptr);
  main.record(done);  // the last command: the stream no longer uses the slot
  main.flush();
  monitor->submitted(run);
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Plan> plan,
                                                   std::shared_ptr<Device> device,
                                                   std::unique_ptr<ChannelProvider> provider,
                                                   const ExecutorOptions& options) {
  if (plan == nullptr || device == nullptr || provider == nullptr)
    return invalid_argument("an executor needs a plan, a device and a place in a job");
  SHW_RETURN_IF_ERROR(check_mesh(plan->program, provider->mesh()));
  auto impl = std::make_unique<Impl>(std::move(plan), std::move(device), std::move(provider));
  if (Status s = impl->prepare(options); !s.ok()) {
    impl->provider->give_up(s);
    return s;
  }
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const Program& Executor::program() const { return impl_->program(); }
int64_t Executor::rank() const { return impl_->provider->rank(); }

const ProgramEntry* Executor::find_entry(std::string_view name) const {
  const auto entry = runtime::find_entry(program(), name);
  return entry.ok() ? *entry : nullptr;
}

Result<Completion> Executor::enqueue(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                                     std::span<BufferRef> outputs,
                                     std::span<const Completion> wait_for, Session* session) {
  Impl& e = *impl_;
  if (e.fault.raised()) return e.fault.status();
  const auto index = static_cast<size_t>(&entry - e.program().entries.data());
  if (index >= e.entries.size())
    return invalid_argument("the entry is not one of this executor's program");
  SHW_RETURN_IF_ERROR(
      check_buffers(e.program(), e.alignments, "input", entry, entry.inputs, inputs, false));
  SHW_RETURN_IF_ERROR(
      check_buffers(e.program(), e.alignments, "output", entry, entry.outputs, outputs, true));
  SHW_RETURN_IF_ERROR(check_updates(e.program(), entry, inputs, outputs));
  SHW_RETURN_IF_ERROR(e.check_dependencies(wait_for));
  if (session == nullptr) session = e.session.get();
  if (session != nullptr) SHW_RETURN_IF_ERROR(session->check(e.owner, e.program(), index));
  SHW_RETURN_IF_ERROR(e.make_outputs(entry, inputs, outputs));
  const uint64_t run = e.last_run + 1;
  RunSlot& slot = e.take_slot(run);
  for (const BufferRef& b : inputs) slot.buffers.push_back(b);
  for (const BufferRef& b : outputs) slot.buffers.push_back(b);
  for (const Completion& c : wait_for)
    if (c.timeline() != nullptr && c.timeline() != e.timeline) slot.dependencies.push_back(c);
  e.timeline->expect_run();
  e.point_to(entry, inputs, outputs);
  if (session != nullptr) {
    slot.buffers.push_back(session->memory());
    slot.buffers.push_back(session->host_memory());
    e.run_memory.use(*session);
    session->has_run(index);
  }
  point_run_at(e.entries[index], e.run_memory, slot.pointers[index]);
  e.last_run = run;
  e.launch(slot, index, run);
  return Completion(e.timeline, run);
}

Result<std::shared_ptr<Session>> Executor::create_session() {
  return Session::create(impl_->owner, impl_->device, impl_->program());
}

BufferRef Executor::state(PortId port) const {
  const Program& p = impl_->program();
  if (port.v >= p.ports.size() || !p.lies_in(p.ports[port], StorageKind::kState)) return nullptr;
  return impl_->memory.kept(port);
}

Result<std::vector<LaunchTime>> Executor::launch_times(const ProgramEntry& entry) const {
  const auto& marks = impl_->on.marks;
  if (marks.empty()) return failed_precondition("the executor was not made to time its steps");
  std::vector<LaunchTime> times;
  const Event* first = nullptr;
  const std::vector<StepLaunch>& launches = impl_->kernels.launches();
  for (size_t l = 0; l < launches.size(); ++l) {
    if (!launches[l].is_in(entry)) continue;
    if (first == nullptr) first = marks[2 * l].get();
    SHW_ASSIGN_OR_RETURN(const auto begin, marks[2 * l]->time_since(*first));
    SHW_ASSIGN_OR_RETURN(const auto end, marks[2 * l + 1]->time_since(*first));
    times.push_back({&launches[l], std::chrono::duration<double>(begin).count(),
                     std::chrono::duration<double>(end).count()});
  }
  return times;
}

void Executor::abort() noexcept { impl_->fault.raise(impl_->aborted); }

Status Executor::fault() const { return impl_->fault.status(); }

void Executor::reset() {
  Impl& e = *impl_;
  e.monitor->wait_until_idle();
  e.fault.clear();
  e.monitor->forget_fault();
  e.provider->reset();  // needed even if this rank has not noticed that another one failed
  for (const auto& stream : e.on.streams)
    if (stream != nullptr)
      if (Status s = stream->status(); !s.ok()) e.fault.raise(std::move(s));
}

}  // namespace shw::runtime
