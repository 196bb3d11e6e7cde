// Kernels of generated code that the fake driver loads.
#pragma once
#include <memory>

#include "fakes/kernels.h"

namespace shw::fakes {

// `image`: the size as text, a zero, and the shared object (nvrtc.h). Null: it cannot be loaded.
std::unique_ptr<FakeKernel> load_generated(const char* image, void*& library);

}  // namespace shw::fakes
