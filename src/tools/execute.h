// Runs an entry of a plan on virtual ranks, with tensors by name in and out.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "import/safetensors.h"
#include "plan/plan.h"
#include "runtime/host_tensor.h"

namespace shw::tools {

// The file's tensor for every input port. Inputs are found by the names of the ports. Inputs and
// tangents that the graph knows only by position take the file's `input.*` and `tangent.*` in order
// of name; a complex tensor may come as real pairs. NOT_FOUND, INVALID_ARGUMENT: the tensor at
// fault and what the plan wants.
Result<std::vector<runtime::HostTensorView>> bind_inputs(const Program& program,
                                                         const ProgramEntry& entry,
                                                         const import::TensorFile& file);

// Gives every input of role seed that the file lacks and that is i64[2] this seed and offset.
void add_seeds(const Program& program, int64_t seed, int64_t offset, import::TensorFile& file);

// Runs the entry `repeat` times on the file's tensors. Outputs are whole tensors, of the last run;
// what does not exist is left out.
Result<import::TensorFile> execute(std::shared_ptr<const Plan> plan, const std::string& entry,
                                   const import::TensorFile& inputs, int64_t repeat = 1);

// Whole outputs of an entry under their ports' names; what does not exist is left out.
import::TensorFile named_outputs(const Program& program, const ProgramEntry& entry,
                                 const std::vector<runtime::HostTensor>& outputs);

}  // namespace shw::tools
