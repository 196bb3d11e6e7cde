// shw_executor.
#include "executor.h"

#include <vector>

#include "region.h"
#include "runtime/cuda/cuda.h"
#include "runtime/null/channel.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kExecutorOptionsSize_0_2 = SHW_SIZE_TO(shw_executor_options, reserved);
constexpr size_t kRunSize_0_2 = SHW_SIZE_TO(shw_run, session);

struct ExecutorSettings {
  runtime::ExecutorOptions runtime;
  DeviceRef device;
};

Result<ExecutorSettings> read_options(const shw_executor_options* in, const ContextRef& context) {
  SHW_ASSIGN_OR_RETURN(const shw_executor_options options, copy_in(in, kExecutorOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(options.flags, SHW_EXECUTOR_GRAPHS));
  SHW_RETURN_IF_ERROR(check_reserved(options.reserved));
  ExecutorSettings ours;
  ours.device = options.device ? options.device->ref : make_host_device(context);
  if (options.native_stream != nullptr && !ours.device->can().native_streams)
    return unimplemented("device '" + std::string(ours.device->device_class().name) +
                         "' cannot run on a stream of the caller");
  ours.runtime.native_stream = options.native_stream;
  ours.runtime.graphs = (options.flags & SHW_EXECUTOR_GRAPHS) != 0;
  constexpr int32_t kMost = 1024;
  if (options.max_in_flight < 0 || options.max_in_flight > kMost)
    return invalid_argument("max_in_flight is " + std::to_string(options.max_in_flight) +
                            ", expected 0 to " + std::to_string(kMost));
  if (options.max_in_flight != 0) ours.runtime.max_in_flight = options.max_in_flight;
  SHW_ASSIGN_OR_RETURN(ours.runtime.regions, read_regions(options.regions, options.num_regions));
  if (options.time_limit_ns < 0)
    return invalid_argument("time_limit_ns is " + std::to_string(options.time_limit_ns) +
                            ", expected 0 (no limit) or more");
  ours.runtime.time_limit = std::chrono::nanoseconds(options.time_limit_ns);
  return ours;
}

Status check_array(const char* what, const void* data, size_t size, size_t want) {
  if (size != want)
    return invalid_argument("the entry has " + std::to_string(want) + " " + what +
                            (want == 1 ? "" : "s") + ", not " + std::to_string(size));
  if (data == nullptr && size != 0) return invalid_argument(std::string(what) + "s is NULL");
  return {};
}

// The reason why a buffer cannot be a port's piece; empty: it can.
std::string mismatch(const shw_executor& executor, const Port& port, const shw_buffer& buffer) {
  const ProgramValue& value = executor.program().values[port.value];
  if (&buffer.device->device_class() != &executor.device->device_class())
    return "is in memory of device '" + std::string(buffer.device->device_class().name) +
           "'; the executor runs on '" + std::string(executor.device->device_class().name) + "'";
  if (!same_window(buffer.type, value.type) || buffer.offset_bytes != value.offset_bytes)
    return "is " + to_string(buffer.type) + "; a rank's piece is " + to_string(value.type);
  return {};
}

// The same for the buffer's contents.
std::string wrong_piece(const shw_executor& executor, const Port& port, const shw_buffer& buffer) {
  if (!is_of_other_rank(buffer.piece, executor.plan, port, executor.rank)) return {};
  return "is the piece of rank " + std::to_string(buffer.piece.rank) +
         "; the executor is that of rank " + std::to_string(executor.rank);
}

// Reads the buffers of `ports` from the caller's array; `required`: none may be NULL.
template <class Pointer>
Status take(const char* what, const shw_executor& executor, const std::vector<PortId>& ports,
            const Pointer* given, size_t size, bool required,
            std::vector<runtime::BufferRef>& refs) {
  SHW_RETURN_IF_ERROR(check_array(what, given, size, ports.size()));
  for (size_t i = 0; i < size; ++i) {
    refs.emplace_back();
    const Port& port = executor.program().ports[ports[i]];
    if (!port.value.valid()) continue;
    const shw_buffer* buffer = given[i];
    if (buffer == nullptr && !required) continue;
    std::string why = buffer == nullptr ? "is missing" : mismatch(executor, port, *buffer);
    if (why.empty() && required) why = wrong_piece(executor, port, *buffer);
    if (!why.empty())
      return invalid_argument(std::string(what) + " " + std::to_string(i) + ", '" + port.name +
                              "', " + why);
    refs.back() = buffer->memory;
  }
  return {};
}

Status take_events(shw_event* const* given, size_t count,
                   std::vector<runtime::Completion>& completions) {
  if (given == nullptr && count != 0) return null_argument("wait_for");
  for (size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return invalid_argument("wait_for[" + std::to_string(i) + "] is NULL");
    completions.push_back(given[i]->completion);
  }
  return {};
}

Result<const ProgramEntry*> entry_of(const shw_executor& executor, size_t entry) {
  const std::vector<ProgramEntry>& entries = executor.program().entries;
  SHW_RETURN_IF_ERROR(check_index(entry, entries.size(), "entry"));
  return &entries[entry];
}

// Makes a handle for an output: for its own memory, or for that of the input that it overwrites.
Result<std::unique_ptr<shw_buffer>> make_output(const shw_executor& executor,
                                                const ProgramEntry& entry, PortId id,
                                                shw_buffer* const* inputs) {
  const Program& program = executor.program();
  const Port& port = program.ports[id];
  const ProgramValue& value = program.values[port.value];
  const ProgramStorage& storage = program.storages[value.storage];
  if (storage.port == id.v)
    return allocate_buffer(executor.device, value.type, runtime::port_bytes(program, port),
                           value.offset_bytes);
  const auto at = std::ranges::find(entry.inputs, PortId{storage.port}) - entry.inputs.begin();
  auto buffer = std::make_unique<shw_buffer>(*inputs[at]);
  buffer->type = value.type;
  buffer->offset_bytes = value.offset_bytes;
  return buffer;
}

// Makes buffers for outputs that the caller left NULL. The caller's array is written last.
Result<std::vector<std::unique_ptr<shw_buffer>>> make_outputs(shw_executor& executor,
                                                              const ProgramEntry& entry,
                                                              const shw_run& run) {
  std::vector<std::unique_ptr<shw_buffer>> made(entry.outputs.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const Port& port = executor.program().ports[entry.outputs[i]];
    if (run.outputs[i] != nullptr || !port.value.valid()) continue;
    SHW_ASSIGN_OR_RETURN(made[i], make_output(executor, entry, entry.outputs[i], run.inputs));
    executor.outputs[i] = made[i]->memory;
  }
  return made;
}

// Records the run in the buffers that it writes, and in the state: it has not ended yet.
void note_writes(shw_executor& executor, const ProgramEntry& entry, const shw_run& run,
                 const runtime::Completion& completion) {
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    if (run.outputs[i] == nullptr) continue;
    *run.outputs[i]->written_by = completion;
    run.outputs[i]->piece = {executor.plan, executor.rank};
  }
  for (PortId output : entry.outputs) {
    const Port& port = executor.program().ports[output];
    if (!port.value.valid()) continue;
    const PortId home{
        executor.program().storages[executor.program().values[port.value].storage].port};
    if (home == output) continue;
    const auto at = std::ranges::find(entry.inputs, home) - entry.inputs.begin();
    *run.inputs[at]->written_by = completion;
  }
  *executor.state_written_by = completion;
}

// Releases the caller's objects when an enqueue ends, with or without an error; a run holds its own
// references.
class Scratch {
 public:
  explicit Scratch(shw_executor& executor) : executor_(executor) {}
  ~Scratch() {
    executor_.inputs.clear();
    executor_.outputs.clear();
    executor_.wait_for.clear();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  shw_executor& executor_;
};

// Makes a rank's connection to the others. A device that computes nothing does not communicate.
Result<std::unique_ptr<runtime::ChannelProvider>> provider_of(runtime::Joining& joining,
                                                              const LoadedPlan& plan,
                                                              runtime::Device& device, int32_t rank,
                                                              runtime::Timeout timeout) {
  SHW_ASSIGN_OR_RETURN(auto provider, joining.begin(plan.mesh, runtime::identity_of(plan.plan)));
  if (runtime::cuda::is_cuda(device))
    return runtime::cuda::make_channels(device, std::move(provider), timeout);
  if (device.can().computes) return provider;
  return runtime::null::make_channels(static_cast<runtime::null::NullDevice&>(device), plan.mesh,
                                      rank);
}

}  // namespace

Result<std::unique_ptr<shw_executor>> make_executor(const PlanRef& plan, const shw_world& world,
                                                    int32_t rank,
                                                    const shw_executor_options* options) {
  SHW_ASSIGN_OR_RETURN(ExecutorSettings ours, read_options(options, world.context));
  auto executor = std::make_unique<shw_executor>();
  executor->plan = plan;
  executor->rank = rank;
  executor->device = ours.device;
  executor->world = world.ref;
  const std::shared_ptr<const Plan> shared(plan, &plan->plan);
  runtime::Joining joining(*world.ref, rank);
  SHW_ASSIGN_OR_RETURN(auto provider,
                       provider_of(joining, *plan, *ours.device, rank, world.ref->timeout()));
  SHW_ASSIGN_OR_RETURN(
      executor->runtime,
      runtime::Executor::create(shared, ours.device, std::move(provider), ours.runtime));
  joining.succeeded();
  return executor;
}

// The event is created before the run is started, so that nothing can fail afterwards.
Result<std::unique_ptr<shw_event>> enqueue(shw_executor& executor, const shw_run& run) {
  SHW_ASSIGN_OR_RETURN(const shw_run ours, copy_in(&run, kRunSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(ours.flags, 0));
  const Scratch scratch(executor);
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, entry_of(executor, ours.entry));
  SHW_RETURN_IF_ERROR(
      take("input", executor, entry->inputs, ours.inputs, ours.num_inputs, true, executor.inputs));
  SHW_RETURN_IF_ERROR(take("output", executor, entry->outputs, ours.outputs, ours.num_outputs,
                           false, executor.outputs));
  SHW_RETURN_IF_ERROR(take_events(ours.wait_for, ours.num_wait_for, executor.wait_for));
  SHW_ASSIGN_OR_RETURN(auto made, make_outputs(executor, *entry, ours));
  auto event = std::make_unique<shw_event>();
  SHW_ASSIGN_OR_RETURN(
      event->completion,
      executor.runtime->enqueue(*entry, executor.inputs, executor.outputs, executor.wait_for,
                                ours.session ? ours.session->ref.get() : nullptr));
  for (size_t i = 0; i < made.size(); ++i)
    if (made[i] != nullptr) ours.outputs[i] = made[i].release();
  note_writes(executor, *entry, ours, event->completion);
  return event;
}

std::unique_ptr<shw_buffer> state_of(const shw_executor& executor, PortId port) {
  const Program& program = executor.program();
  const ProgramValue& value = program.values[program.ports[port].value];
  const PortId home{program.storages[value.storage].port};
  return std::make_unique<shw_buffer>(
      shw_buffer{value.type, executor.device, executor.runtime->state(home), value.offset_bytes,
                 executor.state_written_by, PieceOf{executor.plan, executor.rank}});
}

Result<PortId> state_port(const LoadedPlan& plan, size_t port) {
  SHW_ASSIGN_OR_RETURN(const PortId id, port_of(plan, port));
  const Program& program = plan.plan.program;
  if (!program.lies_in(program.ports[id], StorageKind::kState))
    return invalid_argument("port '" + program.ports[id].name +
                            "' is not state: the caller has its memory");
  return id;
}

}  // namespace shw::capi

void shw_executor_options_init(shw_executor_options* options, size_t size) {
  init_struct(options, size);
}
void shw_run_init(shw_run* run, size_t size) { init_struct(run, size); }

shw_status* shw_executor_create(const shw_plan* plan, shw_world* world, int32_t rank,
                                const shw_executor_options* options, shw_executor** out_executor) {
  return make_handle(out_executor, "out_executor", [&]() -> Result<std::unique_ptr<shw_executor>> {
    SHW_WANT(plan);
    SHW_WANT(world);
    return make_executor(plan->ref, *world, rank, options);
  });
}

shw_status* shw_executor_enqueue(shw_executor* executor, const shw_run* run, shw_event** out_done) {
  return make_handle(out_done, "out_done", [&]() -> Result<std::unique_ptr<shw_event>> {
    SHW_WANT(executor);
    SHW_WANT(run);
    return enqueue(*executor, *run);
  });
}

shw_status* shw_executor_get_state(shw_executor* executor, size_t port, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(executor);
    SHW_ASSIGN_OR_RETURN(const PortId id, state_port(*executor->plan, port));
    return state_of(*executor, id);
  });
}

void shw_executor_abort(shw_executor* executor) {
  if (executor != nullptr) executor->runtime->abort();
}

void shw_executor_reset(shw_executor* executor) {
  if (executor != nullptr) executor->runtime->reset();
}

void shw_executor_destroy(shw_executor* executor) { delete executor; }
