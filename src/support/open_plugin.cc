#include "support/open_plugin.h"

#include <dlfcn.h>

#include <vector>

namespace shw {
namespace {

struct TableHead {
  uint32_t version, size;
};

Status unavailable(std::string message, SourceLoc loc = SourceLoc::current()) {
  return {Code::kUnavailable, std::move(message), loc};
}

std::vector<std::string> places_of(const std::string& library, const std::string& path) {
  if (!path.empty()) return {path};
  std::vector<std::string> places;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&open_plugin), &info) != 0 &&
      info.dli_fname != nullptr) {
    const std::string file(info.dli_fname);
    const size_t slash = file.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash);
    places = {folder + "/" + library, folder + "/../lib/" + library};
  }
  places.push_back(library);
  return places;
}

Result<const void*> table_of(void* library, const PluginKind& kind, const std::string& place) {
  const auto* table = static_cast<const TableHead*>(dlsym(library, kind.symbol));
  if (table == nullptr)
    return unavailable(place + " is no " + kind.what + " plug-in of this library");
  if (table->version == kind.version && table->size == kind.size) return table;
  return unavailable(place + " is the " + kind.what +
                     " plug-in of another version of this library: it has interface " +
                     std::to_string(table->version) + ", expected " + std::to_string(kind.version));
}

}  // namespace

Result<const void*> open_plugin(const PluginKind& kind, const std::string& path) {
  std::string tried;
  for (const std::string& place : places_of(kind.library, path)) {
    // Never closed: an MPI library cannot be unloaded.
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return table_of(library, kind, place);
    const char* why = dlerror();
    tried += "; " + std::string(why == nullptr ? place.c_str() : why);
  }
  return unavailable(std::string(kind.what) + " is not available: the plug-in " + kind.library +
                     ", which is built " + kind.built_where + ", cannot be opened" + tried);
}

}  // namespace shw
