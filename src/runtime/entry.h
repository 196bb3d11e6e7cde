// The entry that a caller means.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plan/program.h"

namespace shw::runtime {

// NOT_FOUND: the program has none of that name.
Result<const ProgramEntry*> find_entry(const Program& program, std::string_view name);

// The input port of that name that executors keep. NOT_FOUND: the plan keeps none.
Result<PortId> find_state_port(const Program& program, std::string_view name);

struct SymbolSize {
  std::string_view symbol;
  int64_t size = 0;
};

// The smallest bucket of the entry of that name that these sizes fit into; of an entry that has no
// buckets, itself. A run that is smaller than its bucket pads its inputs to the sizes of the
// bucket: masks and positions, which are inputs too, must make the padding harmless. NOT_FOUND: no
// such entry. OUT_OF_RANGE: a size below the symbol's smallest, or larger than the largest bucket,
// which the message names. INVALID_ARGUMENT: a size is no multiple of the symbol's divisor, is
// missing, stands twice, or is of a symbol that the entry does not depend on.
Result<const ProgramEntry*> choose_bucket(const Program& program, std::string_view name,
                                          std::span<const SymbolSize> sizes);

// An entry to be run with so many whole inputs, and for whole outputs. INVALID_ARGUMENT: it has
// another number of inputs. FAILED_PRECONDITION: an output cannot be put together from its pieces.
Result<const ProgramEntry*> entry_to_run(const Program& program, const Mesh& mesh,
                                         std::string_view name, size_t num_inputs);

}  // namespace shw::runtime
