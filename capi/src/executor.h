// The objects behind executor and session handles.
#pragma once
#include <memory>
#include <vector>

#include "buffer.h"
#include "event.h"
#include "plan.h"
#include "runtime/executor.h"
#include "shardwise/runtime.h"
#include "world.h"

struct shw_executor {
  shw::capi::PlanRef plan;
  int32_t rank = 0;
  shw::capi::DeviceRef device;
  std::shared_ptr<shw::runtime::World> world;
  std::unique_ptr<shw::runtime::Executor> runtime;
  std::shared_ptr<shw::runtime::Completion> state_written_by =
      std::make_shared<shw::runtime::Completion>();  // the last run, which may write any state
  // Temporary data of an enqueue; kept to save allocations.
  std::vector<shw::runtime::BufferRef> inputs, outputs;
  std::vector<shw::runtime::Completion> wait_for;

  const shw::Program& program() const { return plan->plan.program; }
};

struct shw_session {
  std::shared_ptr<shw::runtime::Session> ref;
};

namespace shw::capi {

// Implement shw_executor_create() and shw_executor_enqueue().
Result<std::unique_ptr<shw_executor>> make_executor(const PlanRef& plan, const shw_world& world,
                                                    int32_t rank,
                                                    const shw_executor_options* options);
Result<std::unique_ptr<shw_event>> enqueue(shw_executor& executor, const shw_run& run);

// INVALID_ARGUMENT: the port is not state.
Result<PortId> state_port(const LoadedPlan& plan, size_t port);
// The executor's memory of a state port.
std::unique_ptr<shw_buffer> state_of(const shw_executor& executor, PortId port);

}  // namespace shw::capi
