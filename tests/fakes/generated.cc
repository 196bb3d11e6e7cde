#include "fakes/generated.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "fakes/nvrtc.h"

namespace shw::fakes {
namespace {

using Call = void(void**);
using IsPointer = bool(int);

// Binds the parameters given to cuLaunchKernel for a kernel whose parameters are pointers and
// 64-bit numbers.
std::function<Result<BoundKernel>(const Translate&)> bind(Call* call, IsPointer* is_pointer,
                                                          int count, void** parameters) {
  std::vector<void*> given;
  for (int p = 0; p < count; ++p) given.push_back(*static_cast<void**>(parameters[p]));
  return [call, is_pointer, given](const Translate& at) -> Result<BoundKernel> {
    std::vector<void*> found = given;
    for (size_t p = 0; p < found.size(); ++p) {
      if (found[p] == nullptr || !is_pointer(static_cast<int>(p))) continue;
      SHW_ASSIGN_OR_RETURN(found[p], at(found[p]));
    }
    return BoundKernel([call, found]() mutable { call(found.data()); });
  };
}

}  // namespace

std::unique_ptr<FakeKernel> load_generated(const char* image, void*& library) {
  const auto size = static_cast<size_t>(std::strtoull(image, nullptr, 10));
  // The file needs a new name each time, since the loader identifies libraries by their names.
  std::string path = std::filesystem::temp_directory_path() / "shw_fake_kernel_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  const char* bytes = image + std::strlen(image) + 1;
  const bool is_written = write(file, bytes, size) == static_cast<ssize_t>(size);
  library = is_written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  close(file);
  unlink(path.c_str());
  if (library == nullptr) return nullptr;
  const auto name = reinterpret_cast<const char* (*)()>(dlsym(library, "shw_fake_name"));
  const auto count = reinterpret_cast<int (*)()>(dlsym(library, "shw_fake_count"));
  const auto is_pointer = reinterpret_cast<IsPointer*>(dlsym(library, "shw_fake_is_pointer"));
  const auto call = reinterpret_cast<Call*>(dlsym(library, "shw_fake_call"));
  if (name == nullptr || count == nullptr || is_pointer == nullptr || call == nullptr)
    return nullptr;
  return std::make_unique<FakeKernel>(
      FakeKernel{kGenerated, name(), [call, is_pointer, count = count()](void** parameters) {
                   return bind(call, is_pointer, count, parameters);
                 }});
}

}  // namespace shw::fakes
