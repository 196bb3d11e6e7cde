// A fixture that runs one kernel of a backend on windows.
#pragma once
#include <gtest/gtest.h>

#include "cts/backends.h"
#include "cts/window.h"
#include "runtime/hal.h"
#include "sanitized.h"

namespace shw::cts {

struct Call {
  std::string kernel;
  std::vector<const Window*> inputs;  // null: absent
  std::vector<Window*> outputs;
  Attrs attrs = {};
  std::string mesh = "x=1";
  int64_t rank = 0;
};

class KernelTest : public BackendTest {
 protected:
  // The status of preparing or of running.
  Status run(const Call& call);
  // Runs, expects success, and that nothing beside the elements of the outputs was written. Once
  // for each kernel, also with an input more than the call has.
  void run_ok(const Call& call);
  Code code_of(const Call& call) { return run(call).code(); }

 private:
  // A program from outside may give a step more inputs than its kernel takes, and outputs and
  // workspace lie behind all of them: the kernel refuses, or finds those.
  void expect_one_more_is_no_harm(const Call& call);

  std::vector<std::shared_ptr<runtime::Device>> lost_;  // by kernels that failed
};

// Every element of `got` is `want` of its index: within `relative` of the larger of 1 and the
// expected magnitude; 0: exactly, after rounding to the dtype.
void expect_elements(const Window& got, const std::function<Number(const Index&)>& want,
                     double relative = 0);

}  // namespace shw::cts
