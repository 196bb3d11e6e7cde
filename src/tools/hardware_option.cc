#include "tools/hardware_option.h"

#include "cost/hardware_description.h"
#include "import/file.h"

namespace shw::tools {

Result<std::string> hardware_text(const std::string& option) {
  if (!option.ends_with(".json")) return option;
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(option));
  std::string text(bytes.begin(), bytes.end());
  const auto parsed = cost::parse_hardware(text);
  if (!parsed.ok())
    return Status(parsed.status().code(), option + ": " + parsed.status().message());
  return text;
}

Result<cost::Hardware> read_hardware(const std::string& option) {
  SHW_ASSIGN_OR_RETURN(const std::string text, hardware_text(option));
  return cost::find_hardware(text);
}

}  // namespace shw::tools
