// The state of the fake driver, for the other fakes: what a stream's handle stands for, and errors
// that tests inject.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fakes/kernels.h"
#include "strict/queue.h"

namespace shw::fakes {

// What a handle of NVIDIA's libraries stands for: counted, so that tests see what was not
// destroyed.
struct Counted {
  Counted() { ++alive(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive(); }
  static std::atomic<int>& alive();
};

struct FakeDevice : Counted {
  strict::Context context{strict::Options{}};
  std::mutex mutex;
  std::map<void*, runtime::MemorySpec> allocated;
};

// The code that a call begins with: of an error that a test has injected, or 0.
int injected(const char* function);

}  // namespace shw::fakes

// What the handles of the driver point to.
struct CUgraph_st : shw::fakes::Counted {
  explicit CUgraph_st(std::shared_ptr<shw::strict::Capture> captured)
      : capture(std::move(captured)) {}
  std::shared_ptr<shw::strict::Capture> capture;
};
struct CUgraphExec_st : shw::fakes::Counted {
  explicit CUgraphExec_st(std::vector<shw::strict::Command> of) : commands(std::move(of)) {}
  std::vector<shw::strict::Command> commands;
};
struct CUstream_st : shw::fakes::Counted {
  CUstream_st(shw::fakes::FakeDevice* of, std::shared_ptr<shw::strict::Queue> commands)
      : device(of), queue(std::move(commands)) {}
  shw::fakes::FakeDevice* device;
  std::shared_ptr<shw::strict::Queue> queue;
};
struct CUmod_st : shw::fakes::Counted {
  explicit CUmod_st(std::string name) : program(std::move(name)) {}
  std::string program;
  std::unique_ptr<shw::fakes::FakeKernel> generated = {};  // the one kernel of generated code
  void* library = nullptr;                                 // that it is in
};
struct CUevent_st : shw::fakes::Counted {
  CUevent_st(shw::fakes::FakeDevice* of, bool has_time)
      : device(of), timing(has_time), state(std::make_shared<shw::strict::EventState>()) {}
  shw::fakes::FakeDevice* device;
  bool timing;
  std::shared_ptr<shw::strict::EventState> state;
};
