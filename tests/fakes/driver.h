// The state of the fake driver that the other fakes use: the objects behind its handles, and the
// errors that tests inject.
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

// Base of every object behind a handle. It counts live objects, so that tests find handles that
// were not destroyed.
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

// Every call of a fake begins with this: it returns the error code that a test has injected, or 0.
int injected(const char* function);

}  // namespace shw::fakes

// The objects behind the driver's handles.
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
  std::unique_ptr<shw::fakes::FakeKernel> generated = {};  // the only kernel of generated code
  void* library = nullptr;                                 // the shared library with that kernel
};
struct CUevent_st : shw::fakes::Counted {
  CUevent_st(shw::fakes::FakeDevice* of, bool has_time)
      : device(of), timing(has_time), state(std::make_shared<shw::strict::EventState>()) {}
  shw::fakes::FakeDevice* device;
  bool timing;
  std::shared_ptr<shw::strict::EventState> state;
};
