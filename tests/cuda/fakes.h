// Controls the fakes from tests (fakes/inject.h).
#pragma once
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/cuda/options.h"

namespace shw::testing {

// Suites that do not depend on the fakes run on a GPU if SHW_TEST_GPU is set. Its value may be a
// folder in which compiled kernels are kept between cases.
inline bool is_on_gpu() { return std::getenv("SHW_TEST_GPU") != nullptr; }
inline runtime::cuda::Options cuda_options() {
  if (!is_on_gpu()) return {.folder = SHW_FAKES};
  return {.kernel_cache = std::getenv("SHW_TEST_GPU")};
}

// For tests that need injected errors or counts, which only the fakes have.
#define SHW_ON_FAKES_ONLY() \
  if (::shw::testing::is_on_gpu()) GTEST_SKIP() << "of the fakes"

inline void* fake_function(const char* name) {
  static void* const library = dlopen(SHW_FAKES "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) {
    std::fprintf(stderr, "no %s in " SHW_FAKES "/libcuda.so.1\n", name);
    std::abort();
  }
  return function;
}

// During its lifetime `function` fails with `code`, after `after` calls that work.
class Injected {
 public:
  Injected(const std::string& function, int code, int after = 0) : function_(function) {
    inject(code, after);
  }
  ~Injected() { inject(0, 0); }
  Injected(const Injected&) = delete;
  Injected& operator=(const Injected&) = delete;

 private:
  void inject(int code, int after) {
    using Inject = void(const char*, int, int);
    reinterpret_cast<Inject*>(fake_function("shw_fake_inject"))(function_.c_str(), code, after);
  }
  std::string function_;
};

// On a GPU calls are not counted, and the result is 0.
inline int fake_calls(const std::string& function) {
  if (is_on_gpu()) return 0;
  return reinterpret_cast<int (*)(const char*)>(fake_function("shw_fake_calls"))(function.c_str());
}
inline int fake_leaks() { return reinterpret_cast<int (*)()>(fake_function("shw_fake_leaks"))(); }
inline int fake_alive() {
  if (is_on_gpu()) return 0;
  return reinterpret_cast<int (*)()>(fake_function("shw_fake_alive"))();
}

}  // namespace shw::testing
