// Plans a graph written as text, runs it on virtual ranks, and lets tests damage the results.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/host_tensor.h"
#include "verify/verify_run.h"

namespace shw::testing {

// Overwrites the numbers of a tensor, given as doubles, in place.
using Damage = std::function<void(std::vector<double>&)>;

class SmallRun {
 public:
  // Plans `graph` and runs it on random inputs. Floating inputs are normally distributed,
  // parameters are initialised as layers usually are, and integers are 0 or 1. If planning or the
  // run fails, the test fails at once. `change` may alter the plan's program before it runs.
  SmallRun(const std::string& graph, const CompileOptions& options,
           const std::function<void(Program&)>& change = {});
  SmallRun(const std::vector<uint8_t>& graph, const CompileOptions& options);
  // Runs the graph on these inputs.
  SmallRun(const std::vector<uint8_t>& graph, const CompileOptions& options,
           std::vector<runtime::HostTensor> inputs);

  const Plan& plan() const { return *plan_; }
  const Program& program() const { return plan_->program; }
  const ProgramEntry& entry() const { return plan_->program.entries[0]; }
  runtime::HostTensor& input(const std::string& name);
  runtime::HostTensor& output(const std::string& name);
  void run();  // runs again after inputs were changed
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
