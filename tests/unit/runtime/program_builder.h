// Builds per-rank programs by hand. Each result has its own storage, memory is never reused, and
// events order values that cross streams.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace shw::testing {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::vector<Mesh::Axis> mesh) {
    program().mesh = std::move(mesh);
    program().entries.emplace_back().name = "step";
  }

  Program& program() { return plan_->program; }
  ProgramEntry& entry() { return program().entries[0]; }
  Mesh mesh() { return *Mesh::create(program().mesh); }

  ValueId input(const std::string& name, Dtype dtype, const Dims& global, const Layout& layout) {
    const TensorType local = row_major(dtype, local_shape(global, layout, mesh()));
    const ValueId value = add_value(local, StorageKind::kInput, next_port());
    entry().inputs.push_back(program().ports.push_back(
        {name, PortRole::kInput, row_major(dtype, global), layout, value}));
    return value;
  }

  // A view of the storage of `base`.
  ValueId view(ValueId base, const TensorType& type, int64_t offset_bytes = 0) {
    ProgramValue v = program().values[base];
    v.type = type;
    v.offset_bytes += offset_bytes;
    const ValueId view = program().values.push_back(v);
    made_on_[view.v] = made_on_.count(base.v) ? made_on_[base.v] : Origin{};
    return view;
  }

  ValueId compute(const std::string& kernel, std::vector<ValueId> inputs, const TensorType& result,
                  Attrs attrs = {}) {
    ProgramStep step;
    step.kernel = kernel;
    step.inputs = std::move(inputs);
    step.attrs = std::move(attrs);
    return add_step(std::move(step), add_value(result, StorageKind::kArena, UINT32_MAX));
  }

  ValueId collective(CollectiveKind kind, std::vector<uint8_t> axes, ValueId input,
                     const Dims& result, ReduceOp op = ReduceOp::kSum) {
    ProgramStep step;
    step.kernel = "collective";
    step.inputs = {input};
    step.collective = {kind, op, std::move(axes)};
    if (kind == CollectiveKind::kPermute)  // in reverse order: the identity for one axis
      step.collective.to_axes.assign(step.collective.axes.rbegin(), step.collective.axes.rend());
    step.stream = communication_stream(program(), step.collective.axes);
    const TensorType type = row_major(program().values[input].type.dtype, result);
    return add_step(std::move(step), add_value(type, StorageKind::kArena, UINT32_MAX));
  }

  void output(const std::string& name, ValueId value, const Dims& global, const Layout& layout) {
    const TensorType type = program().values[value].type;
    const TensorType local = row_major(type.dtype, type.shape);
    ProgramStep step;
    step.kernel = "clone";
    step.inputs = {value};
    const ValueId copy =
        add_step(std::move(step), add_value(local, StorageKind::kOutput, next_port()));
    entry().outputs.push_back(program().ports.push_back(
        {name, PortRole::kResult, row_major(type.dtype, global), layout, copy}));
  }

  std::shared_ptr<const Plan> finish() {
    entry().num_steps = static_cast<uint32_t>(program().steps.size());
    return plan_;
  }

 private:
  struct Origin {
    int stream = -1;  // -1: an input
    uint32_t event = kNoEvent;
    size_t step = 0;
  };

  uint32_t next_port() { return static_cast<uint32_t>(program().ports.size()); }

  ValueId add_value(const TensorType& type, StorageKind kind, uint32_t port) {
    ProgramStorage storage{type.bytes(), kind, port, -1};
    if (kind == StorageKind::kArena) {
      storage.offset_bytes = program().arena_bytes;
      program().arena_bytes +=
          (type.bytes() + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    }
    return program().values.push_back({type, program().storages.push_back(storage), 0});
  }

  ValueId add_step(ProgramStep step, ValueId result) {
    for (ValueId in : step.inputs) {
      if (!in.valid()) continue;
      Origin& origin = made_on_[in.v];
      if (origin.stream < 0 || origin.stream == static_cast<int>(step.stream)) continue;
      ProgramStep& maker = program().steps[origin.step];
      if (maker.records == kNoEvent) maker.records = program().num_events++;
      step.waits.push_back(maker.records);
    }
    step.outputs = {result};
    step.node = static_cast<uint32_t>(program().steps.size());
    made_on_[result.v] = {static_cast<int>(step.stream), kNoEvent, program().steps.size()};
    program().steps.push_back(std::move(step));
    return result;
  }

  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::map<uint32_t, Origin> made_on_;
};

}  // namespace shw::testing
