// Builds a program on a mesh of 4 ranks. Every step makes one new f32 tensor.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "passes/pass.h"

namespace shw::testing {

class TensorSketch {
 public:
  TensorSketch() {
    p.mesh = {{"x", 4}};
    p.entries.emplace_back().name = "step";
  }
  ValueId input(Dims shape, PortRole role = PortRole::kInput) {
    const auto port = static_cast<uint32_t>(p.ports.size());
    const ValueId v = make(shape, StorageKind::kInput, port);
    p.entries[0].inputs.push_back(
        p.ports.push_back({"input." + std::to_string(port), role, p.values[v].type, Layout{}, v}));
    return v;
  }
  ValueId parameter(Dims shape) { return input(std::move(shape), PortRole::kParameter); }
  ValueId step(const std::string& kernel, std::vector<ValueId> in, Dims shape, double cost = 0) {
    const ValueId out = make(shape, StorageKind::kArena, UINT32_MAX);
    ProgramStep s;
    s.kernel = kernel;
    s.inputs = std::move(in);
    s.outputs = {out};
    s.cost_us = cost;
    if (kernel == "all_gather") s.collective = {CollectiveKind::kAllGather, ReduceOp::kSum, {0}};
    if (kernel == "reduce_scatter")
      s.collective = {CollectiveKind::kReduceScatter, ReduceOp::kSum, {0}};
    p.steps.push_back(s);
    p.entries[0].num_steps = static_cast<uint32_t>(p.steps.size());
    return out;
  }
  void output(ValueId v, PortRole role = PortRole::kResult) {
    const auto port = static_cast<uint32_t>(p.ports.size());
    ProgramStorage& s = p.storages[p.values[v].storage];
    s.kind = StorageKind::kOutput;
    s.port = port;
    p.entries[0].outputs.push_back(
        p.ports.push_back({"output." + std::to_string(port), role, p.values[v].type, Layout{}, v}));
  }
  uint32_t run(const PassDef& pass) {
    const PassDef* one[] = {&pass};
    Monitor monitor;
    const auto reports = run_passes(p, one, options, monitor);
    EXPECT_TRUE(reports.ok()) << reports.status().message() << "\n" << to_text(p);
    return reports.ok() ? (*reports)[0].changed : UINT32_MAX;
  }
  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (const ProgramStep& s : p.steps) names.push_back(s.kernel);
    return names;
  }

  Program p;
  PassOptions options;

 private:
  ValueId make(const Dims& shape, StorageKind kind, uint32_t port) {
    const TensorType type = row_major(Dtype::kF32, shape);
    return p.values.push_back({type, p.storages.push_back({type.bytes(), kind, port, -1}), 0});
  }
};

}  // namespace shw::testing
