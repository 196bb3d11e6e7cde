// Runs an entry of a plan on virtual ranks; tensors are passed by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "import/safetensors.h"
#include "plan/plan.h"
#include "runtime/host_tensor.h"

namespace shw::tools {

// Finds the file's tensor for every input port, by the ports' names. Inputs and tangents that the
// graph knows only by position take the file's `input.*` and `tangent.*` in name order; a complex
// tensor may be stored as real pairs. NOT_FOUND, INVALID_ARGUMENT: names the tensor and the type
// that the plan requires.
Result<std::vector<runtime::HostTensorView>> bind_inputs(const Program& program,
                                                         const ProgramEntry& entry,
                                                         const import::TensorFile& file);

// Gives every input of role seed that the file lacks and that is i64[2] this seed and offset.
void add_seeds(const Program& program, int64_t seed, int64_t offset, import::TensorFile& file);

struct Executed {
  import::TensorFile outputs;  // of the last run, unsharded; absent ones are omitted
  import::TensorFile before;   // the state before the last run, by the names of its input ports
  import::TensorFile after;    // and after it
};

// Runs the entry `repeat` times on the file's tensors. State that the file holds begins with that,
// other state with zeros.
Result<Executed> execute_with_state(std::shared_ptr<const Plan> plan, const std::string& entry,
                                    const import::TensorFile& inputs, int64_t repeat = 1);
// The same; returns the outputs.
Result<import::TensorFile> execute(std::shared_ptr<const Plan> plan, const std::string& entry,
                                   const import::TensorFile& inputs, int64_t repeat = 1);

// The unsharded outputs of an entry, by port name; absent outputs are omitted.
import::TensorFile named_outputs(const Program& program, const ProgramEntry& entry,
                                 const std::vector<runtime::HostTensor>& outputs);

}  // namespace shw::tools
