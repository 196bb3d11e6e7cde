// Appends storages, windows into them, and steps to a Program. Steps belong to the current node.
#pragma once
#include <string_view>

#include "graph/graph.h"
#include "plan/program.h"

namespace shw {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(Program& program) : p_(program) {}

  // Makes `node` the current node: the following steps belong to it.
  void serve(NodeId node, Phase phase) {
    node_ = node.v;
    phase_ = static_cast<uint8_t>(phase);
  }

  const ProgramValue& value(ValueId v) const { return p_.values[v]; }
  ValueId window(const TensorType& type, StorageId storage, int64_t offset_bytes) {
    return p_.values.push_back({type, storage, offset_bytes});
  }
  // A window onto the same bytes with another type.
  ValueId window_like(ValueId of, const TensorType& type) {
    const ProgramValue& v = p_.values[of];
    return window(type, v.storage, v.offset_bytes);
  }
  // A window onto a new storage.
  ValueId fresh(const TensorType& type, StorageKind kind = StorageKind::kArena,
                uint32_t port = UINT32_MAX) {
    return window(type, p_.storages.push_back({type.bytes(), kind, port, -1}), 0);
  }
  ProgramStep& step(std::string_view kernel, ValueList inputs, ValueList outputs, double cost_us) {
    ProgramStep s;
    s.kernel = kernel;
    s.inputs = std::move(inputs);
    s.outputs = std::move(outputs);
    s.node = node_;
    s.phase = phase_;
    s.cost_us = cost_us;
    p_.steps.push_back(std::move(s));
    return p_.steps.back();
  }
  // A row-major copy.
  ValueId clone(ValueId of, double cost_us) {
    const TensorType type = row_major(value(of).type.dtype, value(of).type.shape);
    const ValueId copy = fresh(type);
    step("clone", {of}, {copy}, cost_us);
    return copy;
  }

 private:
  Program& p_;
  uint32_t node_ = UINT32_MAX;
  uint8_t phase_ = 0;
};

}  // namespace shw
