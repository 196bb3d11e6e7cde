// The entry that a caller means.
#pragma once
#include <cstddef>
#include <string_view>

#include "plan/program.h"

namespace shw::runtime {

// NOT_FOUND: the program has none of that name.
Result<const ProgramEntry*> find_entry(const Program& program, std::string_view name);

// An entry to be run with so many whole inputs, and for whole outputs. INVALID_ARGUMENT: it has
// another number of inputs. FAILED_PRECONDITION: an output cannot be put together from its pieces.
Result<const ProgramEntry*> entry_to_run(const Program& program, const Mesh& mesh,
                                         std::string_view name, size_t num_inputs);

}  // namespace shw::runtime
