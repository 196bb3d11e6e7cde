// A small valid program with one of everything, and its plan: y = relu(gather(x)) · w, and the sum
// of the gradient over the mesh.
#pragma once
#include "plan/plan.h"

namespace shw::testing {

inline Program sample_program() {
  Program p;
  p.mesh = {{"dp", 2}, {"tp", 4}};
  const auto storage = [&](int64_t bytes, StorageKind kind, uint32_t port, int64_t offset) {
    return p.storages.push_back({bytes, kind, port, offset});
  };
  const auto value = [&](TensorType type, StorageId s) { return p.values.push_back({type, s, 0}); };
  const StorageId x = storage(64, StorageKind::kInput, 0, -1);
  const StorageId w = storage(128, StorageKind::kInput, 1, -1);
  const StorageId gathered = storage(256, StorageKind::kArena, UINT32_MAX, 0);
  const StorageId positive = storage(256, StorageKind::kArena, UINT32_MAX, 256);
  const StorageId product =
      storage(128, StorageKind::kArena, UINT32_MAX, 0);  // where `gathered` was
  const StorageId y = storage(128, StorageKind::kOutput, 2, -1);
  const ValueId vx = value(row_major(Dtype::kF32, {2, 8}), x);
  const ValueId vw = value(row_major(Dtype::kF32, {8, 4}), w);
  const ValueId vw_t = value({{4, 8}, {1, 4}, Dtype::kF32}, w);
  const ValueId vg = value(row_major(Dtype::kF32, {4, 2, 8}), gathered);
  const ValueId vg2 = value(row_major(Dtype::kF32, {8, 8}), gathered);
  const ValueId vr = value(row_major(Dtype::kF32, {8, 8}), positive);
  const ValueId vp = value(row_major(Dtype::kF32, {8, 4}), product);
  const ValueId vy = value(row_major(Dtype::kF32, {8, 4}), y);

  const auto step = [&](std::string kernel, std::vector<ValueId> in, std::vector<ValueId> out) {
    ProgramStep s;
    s.kernel = std::move(kernel);
    s.inputs = std::move(in);
    s.outputs = std::move(out);
    p.steps.push_back(s);
    return &p.steps.back();
  };
  ProgramStep* s = step("all_gather", {vx}, {vg});
  s->collective = {CollectiveKind::kAllGather, ReduceOp::kSum, {1}};
  s->stream = communication_stream(p, s->collective.axes);
  s->records = 0;
  s->node = 3;
  s->cost_us = 12.5;
  s->basis = PriceBasis::kInterpolated;
  s->recomputed = true;
  s = step("relu", {vg2}, {vr});
  s->waits = {0};
  s = step("einsum", {vr, vw_t, {}}, {vp, {}});
  s->attrs.set(AttrKey::kEquation, std::string("ab,cb->ac"));
  s->attrs.set(AttrKey::kDims, std::vector<int64_t>{1, -2});
  s->attrs.set(AttrKey::kDim, int64_t{-1});
  s->attrs.set(AttrKey::kScale, 0.125);
  s->attrs.set(AttrKey::kKeepDim, true);
  s->attrs.set(AttrKey::kDtype, Dtype::kBF16);
  s->records = 1;
  s->phase = 1;
  s = step("all_reduce", {vp}, {vy});
  s->collective = {CollectiveKind::kAllReduce, ReduceOp::kAvg, {1, 0}};
  s->stream = communication_stream(p, s->collective.axes);
  s->waits = {1};
  p.num_events = 2;

  const Layout s0_tp = *parse_layout("RS(0)", 2), replicated;
  p.ports.push_back({"input.0", PortRole::kInput, row_major(Dtype::kF32, {8, 8}), s0_tp, vx});
  p.ports.push_back(
      {"param.w", PortRole::kParameter, row_major(Dtype::kF32, {8, 4}), replicated, vw});
  p.ports.push_back({"output", PortRole::kResult, row_major(Dtype::kF32, {8, 4}), replicated, vy});
  p.ports.push_back({"grad.w", PortRole::kGradient, {}, {}, {}});
  ProgramEntry e;
  e.name = "step";
  e.inputs = {PortId{0}, PortId{1}};
  e.outputs = {PortId{2}, PortId{3}};
  e.num_steps = 4;
  p.entries.push_back(e);
  p.arena_bytes = 512;
  p.live_peak_bytes = 512;
  return p;
}

inline Plan sample_plan() {
  Plan plan;
  plan.program = sample_program();
  PlanSummary& s = plan.summary;
  s.objective_us = 123.25;
  s.bound_us = 123.25;
  s.proven = true;
  s.num_nodes = 4;
  s.num_strategies = 77;
  s.hardware = "h100";
  s.rules = "compat";
  s.graph_hash = 0x1122334455667788;
  s.options_hash = 2;
  s.mesh_hash = 3;
  s.memory_limit_bytes = 1000;
  s.memory_peak_bytes = 900;
  s.memory_peak_node = "mm";
  s.memory_price_per_gib = 0.5;
  s.memory_binding_points = 2;
  s.memory_program_bytes = 950;
  s.overlap = "bounded";
  s.memory_shares = {{"parameters", "layers.0", 600}, {"inputs", "", 300}};
  s.decisions.push_back({"mm", "einsum", 1, "layers.0", "RR, RR", "RR", 7, 0.5, 1});
  return plan;
}

}  // namespace shw::testing
