// A fixture that runs one kernel of a backend on windows (window.h).
#pragma once
#include <gtest/gtest.h>

#include "cts/backends.h"
#include "cts/window.h"
#include "runtime/hal.h"
#include "sanitized.h"

namespace shw::cts {

struct Call {
  std::string kernel;
  std::vector<const Window*> inputs;  // null: the input is absent
  std::vector<Window*> outputs;
  Attrs attrs = {};
  std::string mesh = "x=1";
  int64_t rank = 0;
};

class KernelTest : public BackendTest {
 protected:
  // Returns the status of preparing the kernel, or of running it.
  Status run(const Call& call);
  // Runs the call and checks that it succeeds and writes no bytes except the elements of its
  // outputs. The first call of each kernel is repeated with one input too many.
  void run_ok(const Call& call);
  Code code_of(const Call& call) { return run(call).code(); }

 private:
  // A program from outside may give a step more inputs than its kernel takes. Outputs and workspace
  // come after all inputs in the buffer list. The kernel must refuse the step or still find them.
  void expect_one_more_is_no_harm(const Call& call);

  // Devices that were lost because a kernel failed.
  std::vector<std::shared_ptr<runtime::Device>> lost_;
};

// Checks that each element of `got` equals `want` of its index. The tolerance is `relative` times
// the larger of 1 and the expected magnitude. With 0 the elements must be equal exactly, after
// rounding to the dtype.
void expect_elements(const Window& got, const std::function<Number(const Index&)>& want,
                     double relative = 0);

}  // namespace shw::cts
