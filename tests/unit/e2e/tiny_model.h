// A model small enough to run, with PyTorch's own parameters, inputs, logits and gradients (fp32 on
// a CPU; examples/data).
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
  bool strided = false;  // without the einsum rewrite, and with strided shards on offer

  CompileOptions options() const;
};

class TinyModel {
 public:
  // Files in examples/data.
  TinyModel(const char* graph_file, const char* tensors_file)
      : graph_file_(graph_file), tensors_file_(tensors_file) {}

  std::vector<uint8_t> graph_bytes() const;
  Graph rewritten(const RewriteOptions& options = {}) const;
  // Nodes of the rewritten graph by what they are, so that a test can pin them by name.
  std::vector<std::string> nodes(OpKind op, Phase phase, const std::string& module_suffix) const;
  // Through bytes, as everything runs; save(load(p)) = p; the optimum is proven. Null: a failure.
  std::shared_ptr<const Plan> plan_of(const CompileOptions& options) const;
  // Runs forward and backward on virtual ranks, twice: `results` results and gradients within 2e-5
  // (relative, Frobenius) of PyTorch's and 5e-6 of the unsharded run, and to the bit the same each
  // time.
  void expect_pytorchs(const CompileOptions& options, size_t results) const;
  const import::TensorFile& tensors() const;  // PyTorch's

 private:
  const import::TensorFile& unsharded() const;  // results of the run on one rank

  std::string graph_file_, tensors_file_;
  mutable import::TensorFile tensors_, unsharded_;  // read, and run, once
};

const TinyModel& llama_tiny();
const TinyModel& gpt2_tiny();

// Of a gtest parameter.
std::string test_name(std::string name);

}  // namespace shw::testing
