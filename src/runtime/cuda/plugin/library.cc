#include "runtime/cuda/plugin/library.h"

#include <dlfcn.h>

#include <cstring>

namespace shw::runtime::cuda {

Status unavailable(std::string message, SourceLoc loc) {
  return {Code::kUnavailable, std::move(message), loc};
}

std::string library_file(const void* function) {
  Dl_info info;
  const bool known = dladdr(function, &info) != 0 && info.dli_fname != nullptr;
  return known ? info.dli_fname : "an unknown file";
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status open_library(const LibraryKind& kind, const std::string& folder,
                    std::span<const EntryPoint> entry_points, void* table) {
  void* library = nullptr;
  std::string tried;
  for (const char* name : kind.names) {
    const std::string file = folder.empty() ? name : folder + "/" + name;
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    const char* why = dlerror();
    tried += "; " + std::string(why == nullptr ? file.c_str() : why);
  }
  if (library == nullptr)
    return unavailable(std::string(kind.what) + " is not available: " + kind.remedy + tried);
  for (const EntryPoint& entry : entry_points) {
    void* function = dlsym(library, entry.symbol);
    if (function == nullptr)
      return unavailable(std::string(kind.what) + " is too old: it lacks " + entry.symbol + ". " +
                         kind.remedy);
    std::memcpy(static_cast<std::byte*>(table) + entry.offset, &function, sizeof function);
  }
  return {};
}

}  // namespace shw::runtime::cuda
