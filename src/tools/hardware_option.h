// The value of a hardware option: a name, the path of a description (ends in .json), or the
// description itself.
#pragma once
#include <string>

#include "cost/hardware.h"
#include "support/status.h"

namespace shw::tools {

// Converts it for the library, which reads no files: a name or the text of a description. Errors in
// a file state its path.
Result<std::string> hardware_text(const std::string& option);
Result<cost::Hardware> read_hardware(const std::string& option);

inline constexpr char kHardwareHelp[] =
    "Hardware to plan for: a name (`shardwise hardware` lists them) or a description "
    "(.json)";

}  // namespace shw::tools
