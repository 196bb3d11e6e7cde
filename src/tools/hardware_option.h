// What a user gives where hardware is wanted: a name, the path of a description (it ends in .json),
// or the description itself.
#pragma once
#include <string>

#include "cost/hardware.h"
#include "support/status.h"

namespace shw::tools {

// For the library, which reads no files: a name or the text of a description. What is wrong with a
// file is said with its path.
Result<std::string> hardware_text(const std::string& option);
Result<cost::Hardware> read_hardware(const std::string& option);

inline constexpr char kHardwareHelp[] =
    "Device and links to plan for: a name (`shardwise hardware` lists them) or a description "
    "(.json)";

}  // namespace shw::tools
