#include "solver/lp_solve_library.h"

#include <dlfcn.h>

#include <string>

namespace shw::solver {
namespace {

constexpr const char* kFiles[] = {"liblpsolve55.so", "/usr/lib/lp_solve/liblpsolve55.so"};

template <class F>
bool load(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

Result<LpSolveLibrary> LpSolveLibrary::open(std::span<const char* const> files) {
  LpSolveLibrary lp;
  std::string tried;
  for (const char* file : files) {
    void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      lp.handle_ = std::shared_ptr<void>(handle, dlclose);
      break;
    }
    tried += (tried.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (lp.handle_ == nullptr) return Status(Code::kNotFound, "lp_solve cannot be opened: " + tried);
#define X(name)                                \
  if (!load(lp.handle_.get(), #name, lp.name)) \
    return failed_precondition("this lp_solve lacks the function " #name);
  SHW_LP_SOLVE_FUNCTIONS(X)
#undef X
  int major = 0, minor = 0, release = 0, build = 0;
  lp.lp_solve_version(&major, &minor, &release, &build);
  if (major != 5 || minor != 5)
    return failed_precondition("lp_solve " + std::to_string(major) + "." + std::to_string(minor) +
                               " was found, version 5.5 is needed");
  return lp;
}

Result<LpSolveLibrary> LpSolveLibrary::open() { return open(kFiles); }

}  // namespace shw::solver
