// Hardware as text: a JSON object that describes one machine, completely or as changes to a
// built-in one ("base"). capi/HARDWARE.md documents every key.
#pragma once
#include <string>
#include <string_view>

#include "cost/hardware.h"

namespace shw::cost {

// INVALID_ARGUMENT names the key that is unknown, missing, mistyped or out of range, or the
// position of a syntax error. RESOURCE_EXHAUSTED: too long or nested too deeply.
Result<Hardware> parse_hardware(std::string_view json);

// States every parameter, so it needs no base; parsing it restores equal bits.
std::string hardware_json(const Hardware& hardware);

// Resolves a hardware argument: a name, or a description (starts with '{').
Result<Hardware> find_hardware(std::string_view name_or_description);

}  // namespace shw::cost
