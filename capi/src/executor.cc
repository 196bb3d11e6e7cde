// shw_executor.
#include <cstddef>
#include <vector>

#include "buffer.h"
#include "event.h"
#include "host_device.h"
#include "plan.h"
#include "region.h"
#include "runtime/executor.h"
#include "world.h"

using namespace shw;
using namespace shw::capi;

struct shw_executor {
  PlanRef plan;
  ContextRef context;  // of the world
  std::shared_ptr<runtime::World> world;
  std::unique_ptr<runtime::Executor> runtime;
  // Of one enqueue; kept to save allocations.
  std::vector<runtime::BufferRef> inputs, outputs;
  std::vector<runtime::Completion> wait_for;

  const Program& program() const { return plan->plan.program; }
};

namespace shw::capi {
namespace {

constexpr size_t kExecutorOptionsSize_0_1 =
    offsetof(shw_executor_options, reserved) + sizeof(int32_t);

Result<runtime::ExecutorOptions> read_options(const shw_executor_options* in) {
  SHW_ASSIGN_OR_RETURN(const shw_executor_options options, copy_in(in, kExecutorOptionsSize_0_1));
  SHW_RETURN_IF_ERROR(check_flags(options.flags, 0));
  SHW_RETURN_IF_ERROR(check_reserved(options.reserved));
  runtime::ExecutorOptions ours;
  constexpr int32_t kMost = 1024;
  if (options.max_in_flight < 0 || options.max_in_flight > kMost)
    return invalid_argument("max_in_flight is " + std::to_string(options.max_in_flight) +
                            ", expected 0 to " + std::to_string(kMost));
  if (options.max_in_flight != 0) ours.max_in_flight = options.max_in_flight;
  SHW_ASSIGN_OR_RETURN(ours.regions, read_regions(options.regions, options.num_regions));
  if (options.time_limit_ns < 0)
    return invalid_argument("time_limit_ns is " + std::to_string(options.time_limit_ns) +
                            ", expected 0 (no limit) or more");
  ours.time_limit = std::chrono::nanoseconds(options.time_limit_ns);
  return ours;
}

struct Array {  // of buffers, as the caller gave it
  const shw_buffer* const* data;
  size_t size;
};

Status check_array(const char* what, const void* data, size_t size, size_t want) {
  if (size != want)
    return invalid_argument("the entry has " + std::to_string(want) + " " + what + "s, not " +
                            std::to_string(size));
  if (data == nullptr && size != 0) return invalid_argument(std::string(what) + "s is NULL");
  return {};
}

// Takes the buffers of `ports` from the caller's array.
Status take(const char* what, const Program& program, const std::vector<PortId>& ports, Array given,
            std::vector<runtime::BufferRef>& refs) {
  const auto refuse = [&](size_t i, const std::string& why) {
    return invalid_argument(std::string(what) + " " + std::to_string(i) + ", '" +
                            program.ports[ports[i]].name + "', " + why);
  };
  SHW_RETURN_IF_ERROR(check_array(what, given.data, given.size, ports.size()));
  for (size_t i = 0; i < given.size; ++i) {
    refs.emplace_back();
    const ValueId v = program.ports[ports[i]].value;
    if (!v.valid()) continue;
    const shw_buffer* buffer = given.data[i];
    if (buffer == nullptr) return refuse(i, "is missing");
    const ProgramValue& value = program.values[v];
    if (!same_window(buffer->type, value.type) || buffer->offset_bytes != value.offset_bytes)
      return refuse(
          i, "is " + to_string(buffer->type) + "; a rank's piece is " + to_string(value.type));
    refs.back() = buffer->memory;
  }
  return {};
}

Status take_events(const shw_event* const* given, size_t count,
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

// New buffers for the outputs of an entry; what updates an input in place is that input. The
// caller's array is written last.
Result<std::vector<std::unique_ptr<shw_buffer>>> make_outputs(const shw_executor& executor,
                                                              const ProgramEntry& entry,
                                                              const shw_buffer* const* inputs) {
  const Program& program = executor.program();
  std::vector<std::unique_ptr<shw_buffer>> buffers;
  for (PortId id : entry.outputs) {
    buffers.emplace_back();
    const Port& port = program.ports[id];
    if (!port.value.valid()) continue;
    const ProgramValue& value = program.values[port.value];
    if (const PortId lies_in{program.storages[value.storage].port}; lies_in != id) {
      const auto at = std::ranges::find(entry.inputs, lies_in) - entry.inputs.begin();
      buffers.back() = std::make_unique<shw_buffer>(*inputs[at]);
      continue;
    }
    buffers.back() = allocate_buffer(executor.context, value.type,
                                     runtime::port_bytes(program, port), value.offset_bytes);
  }
  return buffers;
}

// Gives up what one enqueue took from the caller, however it ends: a run keeps references of its
// own.
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

// The common end: `executor.inputs`, `.outputs` and `.wait_for` are filled. The event is made
// first, so that nothing fails once the run is under way.
Result<std::unique_ptr<shw_event>> start(shw_executor& executor, const ProgramEntry& entry) {
  auto event = std::make_unique<shw_event>();
  SHW_ASSIGN_OR_RETURN(
      event->completion,
      executor.runtime->enqueue(entry, executor.inputs, executor.outputs, executor.wait_for));
  return event;
}

}  // namespace
}  // namespace shw::capi

void shw_executor_options_init(shw_executor_options* options, size_t size) {
  init_struct(options, size);
}

shw_status* shw_executor_create(const shw_plan* plan, shw_world* world, int32_t rank,
                                const shw_executor_options* options, shw_executor** out_executor) {
  return make_handle(out_executor, "out_executor", [&]() -> Result<std::unique_ptr<shw_executor>> {
    SHW_WANT(plan);
    SHW_WANT(world);
    SHW_ASSIGN_OR_RETURN(const runtime::ExecutorOptions ours, read_options(options));
    auto executor = std::make_unique<shw_executor>();
    executor->plan = plan->ref;
    executor->context = world->context;
    executor->world = world->ref;
    const std::shared_ptr<const Plan> shared(plan->ref, &plan->ref->plan);
    runtime::Joining joining(*world->ref, rank);
    SHW_ASSIGN_OR_RETURN(auto provider,
                         joining.begin(plan->ref->mesh, runtime::identity_of(*shared)));
    SHW_ASSIGN_OR_RETURN(executor->runtime,
                         runtime::Executor::create(shared, make_host_device(world->context),
                                                   std::move(provider), ours));
    joining.succeeded();
    return executor;
  });
}

shw_status* shw_executor_enqueue(shw_executor* executor, size_t entry,
                                 const shw_buffer* const* inputs, size_t num_inputs,
                                 shw_buffer** outputs, size_t num_outputs,
                                 const shw_event* const* wait_for, size_t num_wait_for,
                                 shw_event** out_done) {
  if (outputs != nullptr) std::fill_n(outputs, num_outputs, nullptr);
  return make_handle(out_done, "out_done", [&]() -> Result<std::unique_ptr<shw_event>> {
    SHW_WANT(executor);
    const Scratch scratch(*executor);
    SHW_ASSIGN_OR_RETURN(const ProgramEntry* e, entry_of(*executor, entry));
    SHW_RETURN_IF_ERROR(
        take("input", executor->program(), e->inputs, {inputs, num_inputs}, executor->inputs));
    SHW_RETURN_IF_ERROR(check_array("output", outputs, num_outputs, e->outputs.size()));
    SHW_RETURN_IF_ERROR(take_events(wait_for, num_wait_for, executor->wait_for));
    SHW_ASSIGN_OR_RETURN(auto made, make_outputs(*executor, *e, inputs));
    for (const auto& buffer : made)
      executor->outputs.push_back(buffer == nullptr ? nullptr : buffer->memory);
    SHW_ASSIGN_OR_RETURN(auto event, start(*executor, *e));
    for (size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
    return event;
  });
}

shw_status* shw_executor_enqueue_into(shw_executor* executor, size_t entry,
                                      const shw_buffer* const* inputs, size_t num_inputs,
                                      const shw_buffer* const* outputs, size_t num_outputs,
                                      const shw_event* const* wait_for, size_t num_wait_for,
                                      shw_event** out_done) {
  return make_handle(out_done, "out_done", [&]() -> Result<std::unique_ptr<shw_event>> {
    SHW_WANT(executor);
    const Scratch scratch(*executor);
    SHW_ASSIGN_OR_RETURN(const ProgramEntry* e, entry_of(*executor, entry));
    SHW_RETURN_IF_ERROR(
        take("input", executor->program(), e->inputs, {inputs, num_inputs}, executor->inputs));
    SHW_RETURN_IF_ERROR(
        take("output", executor->program(), e->outputs, {outputs, num_outputs}, executor->outputs));
    SHW_RETURN_IF_ERROR(take_events(wait_for, num_wait_for, executor->wait_for));
    return start(*executor, *e);
  });
}

void shw_executor_abort(shw_executor* executor) {
  if (executor != nullptr) executor->runtime->abort();
}

void shw_executor_reset(shw_executor* executor) {
  if (executor != nullptr) executor->runtime->reset();
}

void shw_executor_destroy(shw_executor* executor) { delete executor; }
