// A graph written as text, planned and run on virtual ranks, and its results for tests to damage.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/host_tensor.h"
#include "verify/verify_run.h"

namespace shw::testing {

// Numbers of a tensor to overwrite in place, as doubles.
using Damage = std::function<void(std::vector<double>&)>;

class SmallRun {
 public:
  // Plans `graph` and runs it on random inputs: floating ones are normal, parameters as layers are
  // initialised, integers 0 and 1. A test fails at once where that fails. `change` may alter the
  // plan before it runs.
  SmallRun(const std::string& graph, const CompileOptions& options,
           const std::function<void(Program&)>& change = {});
  SmallRun(const std::vector<uint8_t>& graph, const CompileOptions& options);
  // On these inputs.
  SmallRun(const std::vector<uint8_t>& graph, const CompileOptions& options,
           std::vector<runtime::HostTensor> inputs);

  const Plan& plan() const { return *plan_; }
  const Program& program() const { return plan_->program; }
  const ProgramEntry& entry() const { return plan_->program.entries[0]; }
  runtime::HostTensor& input(const std::string& name);
  runtime::HostTensor& output(const std::string& name);
  void run();  // again, after inputs were changed
  void damage(const std::string& output, const Damage& damage);

  VerifyReport verify(const std::vector<ExpectedTensor>& expected = {}) const;
  VerifiedTensor verified(const std::string& output) const;
  Verdict verdict(const std::string& output) const { return verified(output).sharded.verdict; }

 private:
  void compile_graph(const std::vector<uint8_t>& graph, const CompileOptions& options,
                     const std::function<void(Program&)>& change);
  void fill_inputs();
  std::shared_ptr<const Plan> plan_;
  std::vector<runtime::HostTensor> inputs_, outputs_;
};

runtime::HostTensorView view(const runtime::HostTensor& tensor);
void overwrite(runtime::HostTensor& tensor, const std::vector<double>& numbers);
std::vector<double> normal_numbers(size_t count, uint64_t seed);

}  // namespace shw::testing
