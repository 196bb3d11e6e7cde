// Finds the entry or port that a caller names, and the bucket that fits given sizes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plan/program.h"

namespace shw::runtime {

// NOT_FOUND: the program has none of that name.
Result<const ProgramEntry*> find_entry(const Program& program, std::string_view name);

// The input port of that name whose memory the executors keep (state). NOT_FOUND: there is no such
// port.
Result<PortId> find_state_port(const Program& program, std::string_view name);

struct SymbolSize {
  std::string_view symbol;
  int64_t size = 0;
};

// The smallest bucket of the entry `name` that these sizes fit into; the entry itself if it has no
// buckets. A run that is smaller than its bucket pads its inputs to the sizes of the bucket. Masks
// and positions, which are inputs too, must make the padding harmless. NOT_FOUND: no such entry.
// OUT_OF_RANGE: a size is below the symbol's smallest, or above the largest bucket, which the
// message names. INVALID_ARGUMENT: a size is not a multiple of the symbol's divisor, is missing, is
// given twice, or is for a symbol that the entry does not depend on.
Result<const ProgramEntry*> choose_bucket(const Program& program, std::string_view name,
                                          std::span<const SymbolSize> sizes);

// The entry `name`, to be run with `num_inputs` whole inputs and whole outputs. INVALID_ARGUMENT:
// the entry has another number of inputs. FAILED_PRECONDITION: an output cannot be assembled from
// its pieces.
Result<const ProgramEntry*> entry_to_run(const Program& program, const Mesh& mesh,
                                         std::string_view name, size_t num_inputs);

}  // namespace shw::runtime
