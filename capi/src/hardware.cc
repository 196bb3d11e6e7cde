// shw_hardware: the machines that the library has cost tables for.
#include "cost/hardware.h"

#include "shardwise/compile.h"

size_t shw_hardware_count(void) {
  size_t count = 0;
  while (!shw::cost::hardware_name(count).empty()) ++count;
  return count;
}

const char* shw_hardware_name(size_t index) {
  const std::string_view name = shw::cost::hardware_name(index);
  return name.empty() ? "" : name.data();  // a literal
}
