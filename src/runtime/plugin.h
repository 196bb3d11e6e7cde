// The check that a backend in a shared object of its own passes before it is used.
//
// A plug-in implements the C++ classes of hal.h and channel.h and passes objects of them to the
// library, so virtual tables, strings and exceptions cross the boundary. That is sound only if both
// sides were built by the same compiler, with the same standard library, from the same headers. So
// the plug-in exports one C function that returns its PluginInfo, and the library compares it with
// its own before it calls anything else.
#pragma once
#include <cstdint>

#include "support/status.h"

namespace shw::runtime {

// The version of the interface between library and plug-ins; raised with each change.
inline constexpr uint32_t kPluginInterface = 2;

struct PluginInfo {
  uint32_t interface;    // always first: later fields may differ between versions
  uint32_t struct_size;  // of this struct
  const char* compiler;  // compiler and standard library, with versions
  const char* name;      // the plug-in's: "cuda", "mpi"
};

// The information about the object that includes this header. A plug-in returns it.
constexpr PluginInfo plugin_info(const char* name) {
#ifdef __GLIBCXX__
  // The layout of std::string and others depends on this choice.
  constexpr const char* kCompiler =
      _GLIBCXX_USE_CXX11_ABI ? __VERSION__ ", libstdc++, C++11 ABI" : __VERSION__ ", libstdc++";
#else
  constexpr const char* kCompiler = __VERSION__;
#endif
  return {kPluginInterface, sizeof(PluginInfo), kCompiler, name};
}

// FAILED_PRECONDITION: the plug-in does not match this library; the message names both builds.
Status check_plugin(const PluginInfo& plugin);

}  // namespace shw::runtime
