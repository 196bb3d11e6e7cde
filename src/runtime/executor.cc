#include "runtime/executor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/host_tensor.h"
#include "runtime/validate.h"

namespace shw::runtime {
namespace {

// One command of an entry, in the order in which it is enqueued.
struct Op {
  enum class Kind : uint8_t { kWait, kLaunch, kRecord } kind;
  uint8_t stream;
  uint32_t index;          // event; step
  uint32_t first_pointer;  // launch: its buffers begin here in the run's pointers
};

// A pointer that changes from run to run: into a tensor of the caller's, or into a session.
struct RunPointer {
  uint32_t pointer;
  PortId port;  // invalid: the session
  int64_t offset_bytes;
};

struct Commands {
  std::vector<Op> ops;
  std::vector<void*> pointers;  // those that change are null
  std::vector<RunPointer> run_pointers;
  bool communicates = false;  // uses the communication stream
};

// Raises the fault if a run that this one waits for has failed.
class CheckDependencies final : public HostWork {
 public:
  Status run(void* const*) noexcept override {
    for (const Completion& c : runs)
      if (Status s = c.timeline()->status(c.run()); !s.ok())
        return Status(Code::kAborted, "a run that this one waits for failed: " + s.message());
    return {};
  }
  std::vector<Completion> runs;
};

// Ends a run: gives its buffers back and tells whoever waits.
class FinishRun final : public HostWork {
 public:
  Status run(void* const*) noexcept override {
    dependencies->runs.clear();
    buffers.clear();
    session.reset();
    timeline->finish(number, fault->status());
    return {};
  }
  CheckDependencies* dependencies = nullptr;
  std::vector<BufferRef> buffers;
  BufferRef session;
  Timeline* timeline = nullptr;
  const Fault* fault = nullptr;
  uint64_t number = 0;
};

// What one run in flight needs of its own.
struct Slot {
  std::vector<std::vector<void*>> pointers;  // per entry
  CheckDependencies dependencies;
  FinishRun finish;
};

constexpr std::string_view kRegionKernel = "local_map";  // no backend's: the caller's

constexpr size_t kCompute = static_cast<size_t>(shw::Stream::kCompute);
constexpr size_t kCommunication = static_cast<size_t>(shw::Stream::kCommunication);

// Memory of a device for as long as the executor lives.
class DeviceMemory {
 public:
  ~DeviceMemory() {
    if (data_ != nullptr) device_->free(data_, bytes_, alignment_);
  }
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  Status allocate(std::shared_ptr<Device> device, int64_t bytes, int64_t alignment) {
    alignment_ = alignment;
    SHW_ASSIGN_OR_RETURN(data_, device->allocate(bytes, alignment));
    device_ = std::move(device);
    bytes_ = bytes;
    return {};
  }
  void* data() const { return data_; }

 private:
  std::shared_ptr<Device> device_;
  void* data_ = nullptr;
  int64_t bytes_ = 0, alignment_ = 0;
};

}  // namespace

struct Executor::Impl final : Fault::Listener {
  Impl(std::shared_ptr<const Plan> p, std::shared_ptr<Device> d, std::unique_ptr<ChannelProvider> c)
      : plan(std::move(p)), device(std::move(d)), provider(std::move(c)) {
    fault.add_listener(this);
  }
  ~Impl() {
    if (timeline != nullptr && !timeline->finished(last_run))
      fault.raise(Status(Code::kCancelled, "the executor was destroyed"));
    for (auto& stream : streams) stream.reset();
    fault.remove_listener(this);
  }
  void on_fault(const Status& cause) override { provider->abort(cause); }

  Status prepare_steps(std::span<const RegionBody> regions);
  Result<std::unique_ptr<PreparedKernel>> prepare_kernel(const ProgramStep& step,
                                                         std::span<const RegionBody> regions);
  Result<std::unique_ptr<PreparedKernel>> prepare_collective(const ProgramStep& step);
  Status allocate_memory();
  Status allocate_held();
  PortId lies_in(PortId output) const {
    return {program().storages[program().values[program().ports[output].value].storage].port};
  }
  void write_commands(const ProgramEntry& entry, Commands& commands) const;
  Status create_streams(int max_in_flight);
  Status check_buffers(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                       std::span<const BufferRef> outputs) const;
  void replay(const Commands& commands, Slot& slot, size_t entry_index, Event& done);

  const Program& program() const { return plan->program; }

  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device;
  std::unique_ptr<ChannelProvider> provider;
  Fault fault;
  std::vector<std::pair<std::vector<uint8_t>, std::unique_ptr<Channel>>> channels;  // by axes
  std::vector<std::unique_ptr<PreparedKernel>> kernels;                             // by step
  DeviceMemory arena;
  IndexVec<PortId, BufferRef> held;        // state and constants
  IndexVec<PortId, std::byte*> port_base;  // of the run that is enqueued
  std::shared_ptr<Session> session;        // of runs that name none
  DeviceMemory workspaces[kNumStreams];  // one a stream: its steps do not overlap
  std::vector<Commands> commands;        // by entry
  std::vector<std::unique_ptr<Event>> events;
  std::unique_ptr<Event> begin, communicated;
  std::vector<Slot> slots;
  std::shared_ptr<Timeline> timeline;
  uint64_t last_run = 0;
  std::unique_ptr<Stream> streams[kNumStreams];
};

Result<std::unique_ptr<PreparedKernel>> Executor::Impl::prepare_kernel(
    const ProgramStep& step, std::span<const RegionBody> regions) {
  const auto types_of = [&](const std::vector<ValueId>& operands) {
    std::vector<const TensorType*> types;
    for (ValueId v : operands) types.push_back(v.valid() ? &program().values[v].type : nullptr);
    return types;
  };
  const auto inputs = types_of(step.inputs), outputs = types_of(step.outputs);
  const KernelArgs args{inputs, outputs, step.attrs, provider->mesh(), provider->rank()};
  if (step.kernel == kRegionKernel) {
    const std::string_view name = step.attrs.get_string(AttrKey::kRegion);
    const auto body = std::ranges::find(regions, name, &RegionBody::name);
    if (body != regions.end()) return body->prepare(args);
    return unimplemented("the manual region '" + std::string(name) +
                         "' has no body: give one when the executor is made");
  }
  const Kernel* kernel = device->find_kernel(step.kernel);
  if (kernel == nullptr) return unimplemented("the backend has no kernel '" + step.kernel + "'");
  return kernel->prepare(args);
}

Result<std::unique_ptr<PreparedKernel>> Executor::Impl::prepare_collective(
    const ProgramStep& step) {
  const auto& axes = step.collective.axes;
  auto known = std::find_if(channels.begin(), channels.end(),
                            [&](const auto& item) { return item.first == axes; });
  if (known == channels.end()) {
    SHW_ASSIGN_OR_RETURN(auto made, provider->channel(axes));
    known = channels.emplace(channels.end(), axes, std::move(made));
  }
  Channel& channel = *known->second;
  SHW_ASSIGN_OR_RETURN(const CollectiveSpec spec, collective_spec(program(), step, channel.size()));
  return channel.prepare(spec);
}

Status Executor::Impl::prepare_steps(std::span<const RegionBody> regions) {
  for (const ProgramStep& step : program().steps) {
    auto kernel = step.collective.kind == CollectiveKind::kNone ? prepare_kernel(step, regions)
                                                                : prepare_collective(step);
    if (!kernel.ok()) {
      Status s = kernel.status();
      return s.at_node(step.node, step.kernel);
    }
    (*kernel)->origin = {step.node == UINT32_MAX ? -1 : int64_t{step.node}, step.kernel};
    kernels.push_back(std::move(*kernel));
  }
  return {};
}

// State begins as zeros. Of a constant each rank has its piece.
Status Executor::Impl::allocate_held() {
  held = IndexVec<PortId, BufferRef>(program().ports.size());
  port_base = IndexVec<PortId, std::byte*>(program().ports.size(), nullptr);
  for (uint32_t i = 0; i < program().ports.size(); ++i) {
    const Port& port = program().ports[PortId{i}];
    if (!port.value.valid() || !is_input(port.role)) continue;
    const ProgramValue& value = program().values[port.value];
    const ProgramStorage& storage = program().storages[value.storage];
    if (storage.kind != StorageKind::kState && storage.kind != StorageKind::kConstant) continue;
    SHW_ASSIGN_OR_RETURN(held[PortId{i}], Buffer::allocate(device, storage.bytes));
    std::vector<std::byte> piece(static_cast<size_t>(storage.bytes));
    if (storage.kind == StorageKind::kConstant)
      SHW_RETURN_IF_ERROR(shard(port, provider->mesh(), provider->rank(),
                                {port.global, port.data.data()}, value.type, piece.data()));
    SHW_RETURN_IF_ERROR(
        device->copy_from_host(held[PortId{i}]->data(), piece.data(), storage.bytes));
  }
  if (program().session_bytes == 0) return {};
  SHW_ASSIGN_OR_RETURN(session, Session::create(device, program()));
  return {};
}

Status Executor::Impl::allocate_memory() {
  SHW_RETURN_IF_ERROR(allocate_held());
  SHW_RETURN_IF_ERROR(arena.allocate(device, program().arena_bytes, program().alignment));
  int64_t bytes[kNumStreams] = {};
  for (size_t i = 0; i < kernels.size(); ++i) {
    int64_t& most = bytes[static_cast<size_t>(program().steps[i].stream)];
    most = std::max(most, kernels[i]->workspace_bytes());
  }
  for (size_t s = 0; s < kNumStreams; ++s)
    SHW_RETURN_IF_ERROR(workspaces[s].allocate(device, bytes[s], program().alignment));
  return {};
}

void Executor::Impl::write_commands(const ProgramEntry& entry, Commands& out) const {
  const auto add_pointer = [&](ValueId v) {
    const auto index = static_cast<uint32_t>(out.pointers.size());
    out.pointers.push_back(nullptr);
    if (!v.valid()) return;
    const ProgramValue& value = program().values[v];
    const ProgramStorage& storage = program().storages[value.storage];
    switch (storage.kind) {
      case StorageKind::kArena:
        out.pointers[index] =
            static_cast<std::byte*>(arena.data()) + storage.offset_bytes + value.offset_bytes;
        break;
      case StorageKind::kState:
      case StorageKind::kConstant:
        out.pointers[index] =
            static_cast<std::byte*>(held[PortId{storage.port}]->data()) + value.offset_bytes;
        break;
      case StorageKind::kSession:
        out.run_pointers.push_back({index, {}, storage.offset_bytes + value.offset_bytes});
        break;
      case StorageKind::kInput:
      case StorageKind::kOutput:
        out.run_pointers.push_back({index, PortId{storage.port}, value.offset_bytes});
        break;
    }
  };
  // A stream need not wait for what it did itself.
  std::vector<int> recorded_by(program().num_events, -1);
  for (const ProgramStep& step : program().steps)
    if (step.records != kNoEvent) recorded_by[step.records] = static_cast<int>(step.stream);
  for (uint32_t i = 0; i < entry.num_steps; ++i) {
    const uint32_t s = entry.first_step + i;
    const ProgramStep& step = program().steps[s];
    const auto stream = static_cast<uint8_t>(step.stream);
    out.communicates |= stream == kCommunication;
    for (uint32_t event : step.waits)
      if (recorded_by[event] != stream) out.ops.push_back({Op::Kind::kWait, stream, event, 0});
    out.ops.push_back({Op::Kind::kLaunch, stream, s, static_cast<uint32_t>(out.pointers.size())});
    for (ValueId v : step.inputs) add_pointer(v);
    for (ValueId v : step.outputs) add_pointer(v);
    out.pointers.push_back(workspaces[stream].data());
    if (step.records != kNoEvent) out.ops.push_back({Op::Kind::kRecord, stream, step.records, 0});
  }
}

Status Executor::Impl::create_streams(int max_in_flight) {
  const auto depth = static_cast<size_t>(std::max(1, max_in_flight));
  std::vector<std::unique_ptr<Event>> done(depth);
  for (auto& event : done) {
    SHW_ASSIGN_OR_RETURN(event, device->create_event());
  }
  timeline = std::make_shared<Timeline>(std::move(done));
  for (uint32_t i = 0; i < program().num_events; ++i) {
    SHW_ASSIGN_OR_RETURN(auto event, device->create_event());
    events.push_back(std::move(event));
  }
  SHW_ASSIGN_OR_RETURN(begin, device->create_event());
  SHW_ASSIGN_OR_RETURN(communicated, device->create_event());

  size_t most_ops = 0, most_buffers = 0;
  bool communicates = false;
  for (size_t e = 0; e < commands.size(); ++e) {
    most_ops = std::max(most_ops, commands[e].ops.size());
    const ProgramEntry& entry = program().entries[e];
    most_buffers = std::max(most_buffers, entry.inputs.size() + entry.outputs.size());
    communicates |= commands[e].communicates;
  }
  slots = std::vector<Slot>(depth);
  for (Slot& slot : slots) {
    for (const Commands& c : commands) slot.pointers.push_back(c.pointers);
    slot.finish.dependencies = &slot.dependencies;
    slot.finish.buffers.reserve(most_buffers);
    slot.finish.timeline = timeline.get();
    slot.finish.fault = &fault;
  }
  constexpr size_t kFraming = 16;  // commands around the steps of a run, and some dependencies
  const auto capacity = static_cast<int64_t>((most_ops + kFraming) * depth);
  SHW_ASSIGN_OR_RETURN(streams[kCompute], device->create_stream(fault, capacity));
  if (communicates) {
    SHW_ASSIGN_OR_RETURN(streams[kCommunication], device->create_stream(fault, capacity));
  }
  return {};
}

Status Executor::Impl::check_buffers(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                                     std::span<const BufferRef> outputs) const {
  const auto check = [&](const char* what, const std::vector<PortId>& ports,
                         std::span<const BufferRef> buffers, bool may_be_null) -> Status {
    if (buffers.size() != ports.size())
      return invalid_argument("entry '" + entry.name + "' has " + std::to_string(ports.size()) +
                              " " + what + "s, not " + std::to_string(buffers.size()));
    for (size_t i = 0; i < ports.size(); ++i) {
      const Port& port = program().ports[ports[i]];
      const int64_t want = port_bytes(program(), port);
      if (!port.value.valid() || (may_be_null && buffers[i] == nullptr)) continue;
      const auto refuse = [&](const std::string& why) {
        return invalid_argument(std::string(what) + " " + std::to_string(i) + ", '" + port.name +
                                "', " + why);
      };
      if (buffers[i] == nullptr) return refuse("is missing");
      if (buffers[i]->bytes() < want)
        return refuse("has " + std::to_string(buffers[i]->bytes()) + " bytes; a rank's piece is " +
                      to_string(program().values[port.value].type) + ", " +
                      std::to_string(want) + " bytes");
      const int64_t element = element_alignment(program().values[port.value].type.dtype);
      if (reinterpret_cast<uintptr_t>(buffers[i]->data()) % static_cast<uintptr_t>(element) != 0)
        return refuse("is not aligned to its elements of " + std::to_string(element) + " bytes");
    }
    return {};
  };
  SHW_RETURN_IF_ERROR(check("input", entry.inputs, inputs, false));
  SHW_RETURN_IF_ERROR(check("output", entry.outputs, outputs, true));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr || !program().ports[entry.outputs[i]].value.valid()) continue;
    const PortId in = lies_in(entry.outputs[i]);
    if (in == entry.outputs[i]) continue;
    const auto at = std::ranges::find(entry.inputs, in) - entry.inputs.begin();
    if (outputs[i]->data() != inputs[static_cast<size_t>(at)]->data())
      return invalid_argument("output " + std::to_string(i) + ", '" +
                              program().ports[entry.outputs[i]].name + "', updates input " +
                              std::to_string(at) + " in place, so it must be that buffer");
  }
  return {};
}

void Executor::Impl::replay(const Commands& c, Slot& slot, size_t entry_index, Event& done) {
  Stream& compute = *streams[kCompute];
  if (!slot.dependencies.runs.empty()) {
    // The event of a finished run may stand for a later one by now.
    for (const Completion& dependency : slot.dependencies.runs)
      if (!dependency.ready()) compute.wait(dependency.timeline()->done_event(dependency.run()));
    compute.host(slot.dependencies, nullptr);
  }
  if (c.communicates) {  // not before the runs before this one: they share the arena
    compute.record(*begin);
    streams[kCommunication]->wait(*begin);
  }
  void* const* pointers = slot.pointers[entry_index].data();
  constexpr uint32_t kStride = 64;  // commands after which the streams may as well begin
  uint32_t held = 0;
  for (const Op& op : c.ops) {
    Stream& stream = *streams[op.stream];
    switch (op.kind) {
      case Op::Kind::kWait:
        stream.wait(*events[op.index]);
        break;
      case Op::Kind::kLaunch:
        kernels[op.index]->launch(stream, pointers + op.first_pointer);
        break;
      case Op::Kind::kRecord:
        stream.record(*events[op.index]);
        break;
    }
    if (++held % kStride == 0)
      for (auto& s : streams)
        if (s != nullptr) s->flush();
  }
  if (c.communicates) {
    streams[kCommunication]->record(*communicated);
    streams[kCommunication]->flush();
    compute.wait(*communicated, AfterFault::kRun);
  }
  compute.host(slot.finish, nullptr, AfterFault::kRun);
  compute.record(done);
  compute.flush();
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Plan> plan,
                                                   std::shared_ptr<Device> device,
                                                   std::unique_ptr<ChannelProvider> provider,
                                                   const ExecutorOptions& options) {
  if (plan == nullptr || device == nullptr || provider == nullptr)
    return invalid_argument("an executor needs a plan, a device and a place in a job");
  SHW_RETURN_IF_ERROR(validate(plan->program, provider->mesh()));
  auto impl = std::make_unique<Impl>(std::move(plan), std::move(device), std::move(provider));
  SHW_RETURN_IF_ERROR(impl->prepare_steps(options.regions));
  SHW_RETURN_IF_ERROR(impl->allocate_memory());
  for (const ProgramEntry& entry : impl->program().entries) {
    impl->commands.emplace_back();
    impl->write_commands(entry, impl->commands.back());
  }
  SHW_RETURN_IF_ERROR(impl->create_streams(options.max_in_flight));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const Program& Executor::program() const { return impl_->program(); }
int64_t Executor::rank() const { return impl_->provider->rank(); }

const ProgramEntry* Executor::find_entry(std::string_view name) const {
  for (const ProgramEntry& entry : program().entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

Result<Completion> Executor::enqueue(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                                     std::span<BufferRef> outputs,
                                     std::span<const Completion> wait_for, Session* session) {
  Impl& e = *impl_;
  if (e.fault.raised()) return e.fault.status();
  const auto entry_index = static_cast<size_t>(&entry - e.program().entries.data());
  if (entry_index >= e.commands.size())
    return invalid_argument("the entry is not one of this executor's program");
  SHW_RETURN_IF_ERROR(e.check_buffers(entry, inputs, outputs));
  if (session == nullptr) session = e.session.get();
  if (session != nullptr) SHW_RETURN_IF_ERROR(session->check(e.program(), entry_index));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr)
      e.port_base[entry.inputs[i]] = static_cast<std::byte*>(inputs[i]->data());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PortId id = entry.outputs[i];
    if (!e.program().ports[id].value.valid()) continue;
    if (const PortId in = e.lies_in(id); in != id) {
      outputs[i] = inputs[static_cast<size_t>(std::ranges::find(entry.inputs, in) -
                                              entry.inputs.begin())];
      continue;
    }
    if (outputs[i] == nullptr) {
      SHW_ASSIGN_OR_RETURN(
          outputs[i], Buffer::allocate(e.device, port_bytes(e.program(), e.program().ports[id])));
    }
    e.port_base[id] = static_cast<std::byte*>(outputs[i]->data());
  }
  const uint64_t run = e.last_run + 1;
  const size_t depth = e.slots.size();
  if (run > depth) (void)e.timeline->wait(run - depth);  // its error, if any, is in the fault

  Slot& slot = e.slots[run % depth];
  slot.finish.number = run;
  slot.finish.buffers.clear();  // of an enqueue that ran out of memory half-way
  slot.dependencies.runs.clear();
  for (const BufferRef& b : inputs) slot.finish.buffers.push_back(b);
  for (const BufferRef& b : outputs) slot.finish.buffers.push_back(b);
  for (const Completion& c : wait_for)
    if (c.timeline() != nullptr && c.timeline() != e.timeline) slot.dependencies.runs.push_back(c);
  const Commands& commands = e.commands[entry_index];
  for (const RunPointer& p : commands.run_pointers) {
    std::byte* base = p.port.valid() ? e.port_base[p.port] : session->data();
    slot.pointers[entry_index][p.pointer] = base + p.offset_bytes;
  }
  if (session != nullptr) {
    session->has_run(entry_index);
    slot.finish.session = session->memory();
  }
  e.last_run = run;
  e.replay(commands, slot, entry_index, e.timeline->done_event(run));
  return Completion(e.timeline, run);
}

Result<std::shared_ptr<Session>> Executor::create_session() {
  return Session::create(impl_->device, impl_->program());
}

BufferRef Executor::state(PortId port) const {
  return port.v < impl_->held.size() && impl_->program().lies_in(impl_->program().ports[port], StorageKind::kState)
             ? impl_->held[port]
             : nullptr;
}

void Executor::abort() { impl_->fault.raise(Status(Code::kCancelled, "aborted by the caller")); }

Status Executor::fault() const { return impl_->fault.status(); }

void Executor::reset() {
  Impl& e = *impl_;
  (void)e.timeline->wait(e.last_run);
  e.fault.clear();
  e.provider->reset();  // also when this rank has not noticed yet that another one failed
}

int64_t port_bytes(const Program& program, const Port& port) {
  return port.value.valid() ? program.storages[program.values[port.value].storage].bytes : 0;
}

}  // namespace shw::runtime
