// Vendors' libraries, opened at run time.
//
// What is called of a library stands in one list of entry points, X(type of the function, name of
// the member, symbol). The list makes a struct of function pointers (SHW_ENTRY_MEMBER) and says how
// to fill it (SHW_ENTRY_POINT). So a build needs neither headers nor libraries of a vendor.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "support/status.h"

namespace shw::runtime::cuda {

struct EntryPoint {
  const char* symbol;
  size_t offset;  // offset of the pointer in the table
};
#define SHW_ENTRY_MEMBER(type, member, symbol) std::add_pointer_t<type> member = nullptr;
#define SHW_ENTRY_POINT(type, member, symbol) {symbol, offsetof(SHW_ENTRY_TABLE, member)},

struct LibraryKind {
  const char* what;                          // for messages: "the CUDA driver"
  std::initializer_list<const char*> names;  // file names, newest first
  const char* remedy;                        // what to do where it is missing or too old
};

// Opens the library in `folder`, or, if that is empty, on the system's library path, and fills
// `table`. The library stays loaded: these libraries cannot be unloaded safely. UNAVAILABLE states
// what was tried, what is missing, and what to do.
Status open_library(const LibraryKind& kind, const std::string& folder,
                    std::span<const EntryPoint> entry_points, void* table);

// The file that contains a function of an open library, for messages.
std::string library_file(const void* function);

// "CUDA 12.4" for 12040, the encoding of the driver and NVRTC.
std::string version_text(int version);

Status unavailable(std::string message, SourceLoc loc = SourceLoc::current());

}  // namespace shw::runtime::cuda
