// The check that a backend in a shared object of its own passes before it is used.
//
// A plug-in implements the C++ classes of hal.h and channel.h, and hands them over as such: they
// cross the boundary with their virtual tables, their strings and their exceptions. That is sound
// only where both sides were built by the same compiler, with the same standard library, from the
// same headers. So the plug-in exports one C function that returns its PluginInfo, and the library
// compares it with its own before it calls anything else.
#pragma once
#include <cstdint>

#include "support/status.h"

namespace shw::runtime {

// Counts changes of the interface between library and plug-ins.
inline constexpr uint32_t kPluginInterface = 2;

struct PluginInfo {
  uint32_t interface;    // always first: what follows may change with it
  uint32_t struct_size;  // of this struct
  const char* compiler;  // name and version, and the standard library's
  const char* name;      // of the plug-in: "cuda", "mpi"
};

// What a plug-in returns, built where it is included.
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

// FAILED_PRECONDITION: the plug-in does not go with this library; both sides are named.
Status check_plugin(const PluginInfo& plugin);

}  // namespace shw::runtime
