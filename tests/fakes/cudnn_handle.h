// What a handle of the fake libcudnn points to.
#pragma once
#include "fakes/driver.h"
#include "runtime/cuda/plugin/driver.h"

struct cudnnContext : shw::fakes::Counted {
  shw::runtime::cuda::StreamHandle stream = nullptr;
};
