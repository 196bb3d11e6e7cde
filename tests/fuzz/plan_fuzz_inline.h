// Runs one rank of a plan on the calling thread alone. It uses the runtime's kernels, memory and
// commands, on streams that execute their work at once. So thousands of plans run in a second,
// while starting threads takes milliseconds. There are no other ranks: a collective uses this
// rank's own data in place of theirs.
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
  // `ports`: the memory of each port that the entry lists.
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
