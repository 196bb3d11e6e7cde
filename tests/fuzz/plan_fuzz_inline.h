// One rank of a plan on the calling thread alone: the runtime's kernels, memory and commands, on
// streams that do their work at once. Thousands of plans a second, where threads take milliseconds.
// Other ranks are not there: what a collective brings of them is this rank's own.
#pragma once
#include <memory>
#include <vector>

#include "plan/plan.h"
#include "plan_fuzz_guard.h"
#include "runtime/entry_commands.h"
#include "runtime/program_memory.h"
#include "runtime/session.h"
#include "runtime/step_kernels.h"

namespace shw::fuzz {

class InlineRank {
 public:
  static Result<std::unique_ptr<InlineRank>> create(const Plan& plan, int64_t rank,
                                                    const Guards& guards);
  // `ports`: memory by port, for those that the entry lists.
  Status run(size_t entry, const IndexVec<PortId, std::byte*>& ports);

 private:
  InlineRank() = default;

  runtime::Fault fault_;
  std::shared_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::ChannelProvider> provider_;
  runtime::StepKernels kernels_;
  runtime::ProgramMemory memory_;
  std::shared_ptr<runtime::Session> session_;
  std::vector<runtime::EntryCommands> entries_;
  runtime::RunStreams on_;
  std::vector<std::unique_ptr<runtime::Event>> ended_;
};

}  // namespace shw::fuzz
