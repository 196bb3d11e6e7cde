// Names of a plan's ports and entries.
#pragma once
#include <string>

#include "plan.h"

namespace shw::capi {

// A port of an entry, or of any where that is SHW_NONE. NOT_FOUND offers names like it.
Result<size_t> find_port(const Program& program, size_t entry, const std::string& name);

// NOT_FOUND lists those that there are.
Result<size_t> find_entry(const Program& program, const std::string& name);

// The place of a port among an entry's inputs or outputs. `what`: "input", "output". NOT_FOUND
// offers names like it.
Result<size_t> find_among(const Program& program, const std::vector<PortId>& ports,
                          const char* what, const std::string& name);

}  // namespace shw::capi
