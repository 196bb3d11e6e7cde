#include "runtime/plugin.h"

#include <string>
#include <string_view>

namespace shw::runtime {

Status check_plugin(const PluginInfo& plugin) {
  const PluginInfo ours = plugin_info("library");
  if (plugin.interface != ours.interface || plugin.struct_size != ours.struct_size)
    return failed_precondition("the plug-in was built for interface " +
                               std::to_string(plugin.interface) +
                               " of plug-ins, this library has " + std::to_string(ours.interface));
  if (std::string_view(plugin.compiler) != ours.compiler)
    return failed_precondition("the plug-in '" + std::string(plugin.name) + "' was built by " +
                               plugin.compiler + ", this library by " + ours.compiler);
  return {};
}

}  // namespace shw::runtime
