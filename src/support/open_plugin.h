// Parts of the library in their own shared objects, so that only these depend on third-party
// libraries (MPI, protobuf). They are loaded on demand. Each exports a table of C functions as
// data, which starts with its version and its size.
#pragma once
#include <cstdint>
#include <string>

#include "support/status.h"

namespace shw {

struct PluginKind {
  const char* what;         // for messages: "MPI"
  const char* library;      // file name
  const char* symbol;       // the table
  const char* built_where;  // "where MPI is installed"
  uint32_t version, size;   // of the table in this library
};

// Returns the table of the plug-in at `path`. If `path` is empty, it searches the folder of the
// object that contains this code, the folder `../lib` relative to it, and the system's library
// path. UNAVAILABLE states what was tried, or that the plug-in has another version.
Result<const void*> open_plugin(const PluginKind& kind, const std::string& path);

}  // namespace shw
