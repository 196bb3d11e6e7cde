// Names of a plan's ports and entries.
#pragma once
#include <string>

#include "plan.h"

namespace shw::capi {

// A port of an entry, or of any entry if `entry` is SHW_NONE. The NOT_FOUND message suggests
// similar names.
Result<size_t> find_port(const Program& program, size_t entry, const std::string& name);

// The NOT_FOUND message lists the existing names.
Result<size_t> find_entry(const Program& program, const std::string& name);

// The position of a port among an entry's inputs or outputs. `what`: "input", "output". The
// NOT_FOUND message suggests similar names.
Result<size_t> find_among(const Program& program, const std::vector<PortId>& ports,
                          const char* what, const std::string& name);

}  // namespace shw::capi
