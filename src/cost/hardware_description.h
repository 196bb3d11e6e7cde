// Hardware as text: a JSON object that says what one machine is, alone or as changes to a built-in
// one ("base"). README.md of this folder documents every key.
#pragma once
#include <string>
#include <string_view>

#include "cost/hardware.h"

namespace shw::cost {

// INVALID_ARGUMENT names the key that is unknown, missing, of the wrong type or out of range, or
// where the text stops being JSON; RESOURCE_EXHAUSTED: no description is that long or deep.
Result<Hardware> parse_hardware(std::string_view json);

// Says every figure, so that it needs no base; reads back equal, bit for bit.
std::string hardware_json(const Hardware& hardware);

// What users give where a hardware is wanted: a name, or a description (it starts with '{').
Result<Hardware> find_hardware(std::string_view name_or_description);

}  // namespace shw::cost
