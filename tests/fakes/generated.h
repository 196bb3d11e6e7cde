// Loads kernels of generated code into the fake driver.
#pragma once
#include <memory>

#include "fakes/kernels.h"

namespace shw::fakes {

// `image`: the size as text, a zero byte, and the shared object (nvrtc.h). Returns null if the
// image cannot be loaded. `library` receives the loaded library.
std::unique_ptr<FakeKernel> load_generated(const char* image, void*& library);

}  // namespace shw::fakes
