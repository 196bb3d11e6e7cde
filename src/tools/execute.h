// Runs an entry of a plan on virtual ranks or on the ranks of a job; tensors are passed by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "import/safetensors.h"
#include "plan/plan.h"
#include "runtime/host_tensor.h"
#include "runtime/virtual_ranks.h"
#include "runtime/world/process_rank.h"

namespace shw::tools {

// Finds the file's tensor for every input port, by the ports' names. Inputs and tangents that the
// graph knows only by position take the file's `input.*` and `tangent.*` in name order; a complex
// tensor may be stored as real pairs. NOT_FOUND, INVALID_ARGUMENT: names the tensor and the type
// that the plan requires.
Result<std::vector<runtime::HostTensorView>> bind_inputs(const Program& program,
                                                         const ProgramEntry& entry,
                                                         const import::TensorFile& file);

// Adds this seed and offset for every input of role seed and type i64[2] that the file lacks.
void add_seeds(const Program& program, int64_t seed, int64_t offset, import::TensorFile& file);

struct Execution {
  std::string entry;
  int64_t repeat = 1;         // number of runs, on the same inputs
  bool state_before = false;  // also read the state before the last run
};

struct Executed {
  import::TensorFile outputs;  // of the last run, unsharded; absent ones are omitted
  import::TensorFile before;   // the state before the last run, by the names of its input ports
  import::TensorFile after;    // and after it
};

// Runs an entry on the file's tensors. State that the file contains starts with that value, other
// state with zeros. Results are gathered once, after the last run. `Ranks`: runtime::VirtualRanks
// or runtime::ProcessRank. With ProcessRank every process makes the same call; rank 0 gets the
// tensors, and the others get nothing.
template <class Ranks>
Result<Executed> execute_on(Ranks& ranks, const Execution& execution,
                            const import::TensorFile& inputs);
extern template Result<Executed> execute_on(runtime::VirtualRanks&, const Execution&,
                                            const import::TensorFile&);
extern template Result<Executed> execute_on(runtime::ProcessRank&, const Execution&,
                                            const import::TensorFile&);

// On virtual ranks; returns the outputs.
Result<import::TensorFile> execute(std::shared_ptr<const Plan> plan, const std::string& entry,
                                   const import::TensorFile& inputs);

}  // namespace shw::tools
