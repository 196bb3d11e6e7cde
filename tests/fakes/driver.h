// The state of the fake driver, for the other fakes: what a stream's handle stands for, and errors
// that tests inject.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fakes/kernels.h"
#include "strict/queue.h"

namespace shw::fakes {

struct FakeDevice {
  strict::Context context{strict::Options{}};
  std::mutex mutex;
  std::map<void*, runtime::MemorySpec> allocated;
};

// The code that a call begins with: of an error that a test has injected, or 0.
int injected(const char* function);

}  // namespace shw::fakes

// What the handles of the driver point to.
struct CUgraph_st {
  std::shared_ptr<shw::strict::Capture> capture;
};
struct CUgraphExec_st {
  std::vector<shw::strict::Command> commands;
};
struct CUstream_st {
  shw::fakes::FakeDevice* device;
  std::shared_ptr<shw::strict::Queue> queue;
};
struct CUmod_st {
  std::string program;
  std::unique_ptr<shw::fakes::FakeKernel> generated = {};  // the one kernel of generated code
  void* library = nullptr;                                 // that it is in
};
struct CUevent_st {
  shw::fakes::FakeDevice* device;
  bool timing;
  std::shared_ptr<shw::strict::EventState> state;
};
