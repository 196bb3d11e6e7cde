// shw_runner.
#include "runner.h"

#include "plan_names.h"
#include "runtime/world/world.h"
#include "whole_tensor.h"

namespace shw::capi {
namespace {

using Tensors = std::span<const shw_named_tensor>;

Result<Tensors> read_array(const char* what, const shw_named_tensor* tensors, size_t count) {
  if (tensors == nullptr && count != 0) return null_argument(what);
  for (size_t i = 0; i < count; ++i)
    if (tensors[i].name == nullptr)
      return invalid_argument(std::string(what) + "[" + std::to_string(i) + "].name is NULL");
  return Tensors(tensors, count);
}

// A world in this process, with one rank for each rank of the plan.
Result<shw_world> world_for(const LoadedPlan& plan, const shw_world* given) {
  if (given == nullptr)
    return shw_world{plan.context, runtime::create_local_world(plan.mesh.num_ranks(), {})};
  const auto local = static_cast<int64_t>(given->ref->local_ranks().size());
  if (local != given->ref->num_ranks())
    return failed_precondition("a runner has all ranks of a world, and this process has " +
                               std::to_string(local) + " of " +
                               std::to_string(given->ref->num_ranks()));
  return *given;
}

// Recovers after a failure: waits until everything has ended, and makes the executors usable. All
// executors must be reset equally often. If memory runs out in between, the next call continues
// from there. The `failed` flag is cleared first: an abort that comes later may stop executors that
// have already been reset, so it must set the flag for the next call.
void recover(shw_runner& runner) {
  if (!runner.recovering) {
    if (!runner.shared->failed.exchange(false)) return;
    runner.recovering = true;
    ++runner.shared->epoch;
  }
  for (; runner.num_reset < runner.executors.size(); ++runner.num_reset)
    runner.executors[runner.num_reset]->runtime->reset();
  runner.num_reset = 0;
  runner.recovering = false;
}

void abort(shw_runner& runner) {
  for (const auto& executor : runner.executors) executor->runtime->abort();
  runner.shared->failed = true;
}

RunBuffers take_buffers(const shw_runner& runner, size_t entry, const ProgramEntry& of_entry) {
  {
    const std::lock_guard lock(runner.shared->mutex);
    std::vector<RunBuffers>& spare = runner.shared->spare[entry];
    if (!spare.empty()) {
      RunBuffers buffers = std::move(spare.back());
      spare.pop_back();
      return buffers;
    }
  }
  RunBuffers buffers;
  buffers.inputs.resize(runner.executors.size() * of_entry.inputs.size());
  buffers.outputs.resize(runner.executors.size() * of_entry.outputs.size());
  return buffers;
}

// Splits an input into the pieces of all ranks. Reuses the pieces of an earlier run if there are
// any.
Status place(const shw_runner& runner, const ProgramEntry& entry, size_t at,
             const shw_tensor& whole, RunBuffers& buffers) {
  for (size_t rank = 0; rank < runner.executors.size(); ++rank) {
    std::unique_ptr<shw_buffer>& piece = buffers.inputs[rank * entry.inputs.size() + at];
    const shw_executor& executor = *runner.executors[rank];
    const auto number = static_cast<int32_t>(rank);
    if (piece != nullptr) {
      SHW_RETURN_IF_ERROR(shard_into(executor.plan, entry.inputs[at].v, number, whole, *piece));
    } else {
      SHW_ASSIGN_OR_RETURN(
          piece, shard(executor.plan, entry.inputs[at].v, number, whole, executor.device));
    }
  }
  return {};
}

// Splits all inputs. Returns which inputs were given, because the library reports the missing ones.
Result<std::vector<bool>> place_all(const shw_runner& runner, const ProgramEntry& entry,
                                    Tensors inputs, RunBuffers& buffers) {
  std::vector<bool> given(entry.inputs.size(), false);
  for (const shw_named_tensor& input : inputs) {
    SHW_ASSIGN_OR_RETURN(const size_t at, find_among(runner.shared->plan->plan.program,
                                                     entry.inputs, "input", input.name));
    if (given[at])
      return invalid_argument(std::string("input '") + input.name + "' is given twice");
    SHW_RETURN_IF_ERROR(place(runner, entry, at, input.tensor, buffers));
    given[at] = true;
  }
  return given;
}

Result<std::unique_ptr<shw_event>> start_rank(shw_executor& executor, size_t entry,
                                              const std::vector<bool>& given,
                                              std::span<std::unique_ptr<shw_buffer>> inputs,
                                              std::span<std::unique_ptr<shw_buffer>> outputs) {
  std::vector<shw_buffer*> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(given[i] ? inputs[i].get() : nullptr);
  for (const auto& output : outputs) out.push_back(output.get());
  shw_run run = SHW_RUN_INIT;
  run.entry = entry;
  run.inputs = in.data();
  run.num_inputs = in.size();
  run.outputs = out.data();
  run.num_outputs = out.size();
  auto event = enqueue(executor, run);
  for (size_t i = 0; i < out.size(); ++i)
    if (outputs[i] == nullptr) outputs[i].reset(out[i]);
  return event;
}

// If a rank cannot begin, for example because memory ran out, the ranks that have begun are
// stopped, because they would wait for it.
class Start {
 public:
  explicit Start(shw_runner& runner) : runner_(runner) {}
  ~Start() {
    if (begun_ == runner_.executors.size()) return;
    if (begun_ > 0 || !refused_) abort(runner_);
    runner_.shared->failed = true;  // it may be the error of an earlier run
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  void begun() { ++begun_; }
  // The rank was refused before it began, so runs in flight may continue. After exhausted memory
  // they may not.
  void refused(Code code) { refused_ = code != Code::kResourceExhausted; }

 private:
  shw_runner& runner_;
  size_t begun_ = 0;
  bool refused_ = false;
};

Status start_ranks(shw_runner& runner, const std::vector<bool>& given, shw_pending& pending) {
  const size_t num_inputs = pending.of_entry().inputs.size();
  const size_t num_outputs = pending.of_entry().outputs.size();
  pending.events.reserve(runner.executors.size());
  Start start(runner);
  for (size_t rank = 0; rank < runner.executors.size(); ++rank) {
    auto event =
        start_rank(*runner.executors[rank], pending.entry, given,
                   std::span(pending.buffers.inputs).subspan(rank * num_inputs, num_inputs),
                   std::span(pending.buffers.outputs).subspan(rank * num_outputs, num_outputs));
    if (!event.ok()) {
      start.refused(event.status().code());
      return event.status();
    }
    pending.events.push_back(std::move(*event));
    start.begun();
  }
  return {};
}

Result<size_t> entry_of(const shw_runner& runner, const char* name) {
  return name == nullptr ? Result<size_t>(0) : find_entry(runner.shared->plan->plan.program, name);
}

Result<std::unique_ptr<shw_pending>> start(shw_runner& runner, size_t entry, Tensors inputs) {
  recover(runner);
  auto pending = std::make_unique<shw_pending>();
  pending->shared = runner.shared;
  pending->entry = entry;
  pending->epoch = runner.shared->epoch;
  pending->buffers = take_buffers(runner, entry, pending->of_entry());
  SHW_ASSIGN_OR_RETURN(const std::vector<bool> given,
                       place_all(runner, pending->of_entry(), inputs, pending->buffers));
  SHW_RETURN_IF_ERROR(start_ranks(runner, given, *pending));
  return pending;
}

// The positions of the outputs that the caller wants; checks that the caller's tensors can hold
// them.
Result<std::vector<size_t>> wanted_outputs(const LoadedPlan& plan, const ProgramEntry& entry,
                                           Tensors outputs) {
  std::vector<size_t> places;
  for (const shw_named_tensor& output : outputs) {
    SHW_ASSIGN_OR_RETURN(const size_t at,
                         find_among(plan.plan.program, entry.outputs, "output", output.name));
    const Port& port = plan.plan.program.ports[entry.outputs[at]];
    SHW_ASSIGN_OR_RETURN(const TensorType type, type_of(output.tensor));
    if (!same_window(type, port.global))
      return invalid_argument("the tensor for output '" + port.name + "' is " + to_string(type) +
                              ", not " + to_string(port.global));
    places.push_back(at);
  }
  return places;
}

Result<size_t> state_named(const shw_runner& runner, const char* name) {
  const LoadedPlan& plan = *runner.shared->plan;
  SHW_ASSIGN_OR_RETURN(const size_t port, find_port(plan.plan.program, SHW_NONE, name));
  SHW_RETURN_IF_ERROR(state_port(plan, port).status());
  return port;
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_runner_create(const shw_plan* plan, shw_world* world,
                              const shw_executor_options* options, shw_runner** out_runner) {
  return make_handle(out_runner, "out_runner", [&]() -> Result<std::unique_ptr<shw_runner>> {
    SHW_WANT(plan);
    SHW_ASSIGN_OR_RETURN(const shw_world all, world_for(*plan->ref, world));
    auto runner = std::make_unique<shw_runner>();
    runner->shared = std::make_shared<RunnerShared>();
    runner->shared->plan = plan->ref;
    runner->shared->spare.resize(plan->ref->entries.size());
    for (int32_t rank = 0; rank < plan->ref->mesh.num_ranks(); ++rank) {
      SHW_ASSIGN_OR_RETURN(auto executor, make_executor(plan->ref, all, rank, options));
      runner->executors.push_back(std::move(executor));
    }
    return runner;
  });
}

shw_status* shw_runner_set_state(shw_runner* runner, const char* name, const shw_tensor* whole) {
  return guard([&]() -> Status {
    SHW_WANT(runner);
    SHW_WANT(name);
    SHW_WANT(whole);
    recover(*runner);
    SHW_ASSIGN_OR_RETURN(const size_t port, state_named(*runner, name));
    for (const auto& executor : runner->executors) {
      const auto piece = state_of(*executor, PortId{static_cast<uint32_t>(port)});
      SHW_RETURN_IF_ERROR(shard_into(executor->plan, port, executor->rank, *whole, *piece));
    }
    return {};
  });
}

shw_status* shw_runner_gather_state(shw_runner* runner, const char* name, shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(runner);
    SHW_WANT(name);
    recover(*runner);
    SHW_ASSIGN_OR_RETURN(const size_t port, state_named(*runner, name));
    std::vector<std::unique_ptr<shw_buffer>> pieces;
    std::vector<shw_buffer*> lent;
    for (const auto& executor : runner->executors) {
      pieces.push_back(state_of(*executor, PortId{static_cast<uint32_t>(port)}));
      lent.push_back(pieces.back().get());
    }
    return gather(runner->shared->plan, port, lent);
  });
}

shw_status* shw_runner_run(shw_runner* runner, const char* entry, const shw_named_tensor* inputs,
                           size_t num_inputs, const shw_named_tensor* outputs, size_t num_outputs) {
  return guard([&]() -> Status {
    SHW_WANT(runner);
    SHW_ASSIGN_OR_RETURN(const Tensors given, read_array("inputs", inputs, num_inputs));
    SHW_ASSIGN_OR_RETURN(const Tensors results, read_array("outputs", outputs, num_outputs));
    SHW_ASSIGN_OR_RETURN(const size_t number, entry_of(*runner, entry));
    const PlanRef& plan = runner->shared->plan;
    const ProgramEntry& of_entry = plan->plan.program.entries[number];
    SHW_ASSIGN_OR_RETURN(const auto wanted, wanted_outputs(*plan, of_entry, results));
    SHW_ASSIGN_OR_RETURN(const auto pending, start(*runner, number, given));
    SHW_RETURN_IF_ERROR(wait_for(*pending, -1));
    for (size_t i = 0; i < results.size(); ++i)
      SHW_RETURN_IF_ERROR(gather_into(plan, of_entry.outputs[wanted[i]].v,
                                      pending->pieces(wanted[i]), results[i].tensor.data));
    return {};
  });
}

shw_status* shw_runner_start(shw_runner* runner, const char* entry, const shw_named_tensor* inputs,
                             size_t num_inputs, shw_pending** out_pending) {
  return make_handle(out_pending, "out_pending", [&]() -> Result<std::unique_ptr<shw_pending>> {
    SHW_WANT(runner);
    SHW_ASSIGN_OR_RETURN(const Tensors given, read_array("inputs", inputs, num_inputs));
    SHW_ASSIGN_OR_RETURN(const size_t number, entry_of(*runner, entry));
    return start(*runner, number, given);
  });
}

void shw_runner_abort(shw_runner* runner) {
  if (runner == nullptr) return;
  runner->shared->stopped = runner->shared->epoch + 1;
  abort(*runner);
}

void shw_runner_destroy(shw_runner* runner) { delete runner; }
