// A model small enough to run, with the parameters, inputs, logits and gradients that PyTorch
// computed for it (fp32 on a CPU; examples/data).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "import/safetensors.h"
#include "plan/plan.h"
#include "rewrite/pass.h"

namespace shw::testing {

// A way to shard a model.
struct TinyCase {
  std::string name, mesh, input_layout, output_layout;
  ParameterBudget::Kind budget = ParameterBudget::Kind::kSmallest;
  std::vector<std::pair<std::string, std::string>> pins = {};
  bool strided = false;  // without the einsum rewrite, and with strided shards

  CompileOptions options() const;
};

class TinyModel {
 public:
  // Files in examples/data.
  TinyModel(const char* graph_file, const char* tensors_file)
      : graph_file_(graph_file), tensors_file_(tensors_file) {}

  std::vector<uint8_t> graph_bytes() const;
  Graph rewritten(const RewriteOptions& options = {}) const;
  // Names of the nodes of the rewritten graph with this op, phase and module, so that a test can
  // pin them.
  std::vector<std::string> nodes(OpKind op, Phase phase, const std::string& module_suffix) const;
  // The plan as read back from its bytes, as in production. Checks that save(load(p)) = p and that
  // the optimum is proven. Returns null after a failure.
  std::shared_ptr<const Plan> plan_of(const CompileOptions& options) const;
  // Runs forward and backward twice on virtual ranks. Expects `results` results and gradients. They
  // must be within 2e-5 of PyTorch's and within 5e-6 of the unsharded run (relative, Frobenius),
  // and the two runs must be equal to the bit.
  void expect_pytorchs(const CompileOptions& options, size_t results) const;
  const import::TensorFile& tensors() const;  // PyTorch's

 private:
  const import::TensorFile& unsharded() const;  // results of the run on one rank

  std::string graph_file_, tensors_file_;
  mutable import::TensorFile tensors_, unsharded_;  // each is read or computed once
};

const TinyModel& llama_tiny();
const TinyModel& gpt2_tiny();

// The name as part of a gtest parameter name.
std::string test_name(std::string name);

}  // namespace shw::testing
