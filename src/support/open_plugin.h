// Parts of the library that live in shared objects of their own, so that only they need what they
// are built on (MPI, protobuf). They are opened when somebody asks for them, and hand over a table
// of C functions as data, which starts with its version and its size.
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
  uint32_t version, size;   // of the table, as this library knows it
};

// The table of the plug-in at `path`; where that is empty, beside the object that this code is in,
// in the folder `../lib` from there, and where the system looks for libraries. UNAVAILABLE says
// what was tried, or that the plug-in is another version's.
Result<const void*> open_plugin(const PluginKind& kind, const std::string& path);

}  // namespace shw
