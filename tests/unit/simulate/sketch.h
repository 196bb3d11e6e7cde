// Builds a program in which every step makes one new tensor.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "plan/program.h"

namespace shw::testing {

class Sketch {
 public:
  Sketch() {
    p.mesh = {{"dp", 2}, {"tp", 4}};
    p.entries.emplace_back().name = "step";
  }
  // A value in a new storage. Ports are omitted: the simulator does not need them for arena
  // storages.
  ValueId value(int64_t bytes, StorageKind kind = StorageKind::kArena) {
    const TensorType type = row_major(Dtype::kI8, {bytes});
    return p.values.push_back({type, p.storages.push_back({bytes, kind, UINT32_MAX, -1}), 0});
  }
  ValueId input(int64_t bytes) {
    const ValueId v = value(bytes, StorageKind::kInput);
    const PortId port = p.ports.push_back({"input", PortRole::kInput, p.values[v].type, {}, v});
    p.storages[p.values[v].storage].port = port.v;
    p.entries[0].inputs.push_back(port);
    return v;
  }
  // A compute step that writes `out`.
  ProgramStep& step(double us, std::vector<ValueId> in, std::vector<ValueId> out) {
    ProgramStep s;
    s.kernel = "kernel";
    s.inputs = std::move(in);
    s.outputs = std::move(out);
    s.cost_us = us;
    p.steps.push_back(std::move(s));
    p.entries.back().num_steps =
        static_cast<uint32_t>(p.steps.size()) - p.entries.back().first_step;
    return p.steps.back();
  }
  // A collective over `axes`, on its communicator's stream.
  ProgramStep& collective(double us, std::vector<uint8_t> axes, std::vector<ValueId> in,
                          std::vector<ValueId> out) {
    ProgramStep& s = step(us, std::move(in), std::move(out));
    s.kernel = "all_reduce";
    s.collective = {CollectiveKind::kAllReduce, ReduceOp::kSum, std::move(axes)};
    s.stream = communication_stream(p, s.collective.axes);
    return s;
  }
  // Puts all collectives on one stream, as happens when there are more communicators than streams.
  void share_a_stream() {
    p.streams = {ProgramStream{}, {StreamKind::kCommunication}};
    for (ProgramStep& s : p.steps) s.stream = s.stream == kComputeStream ? kComputeStream : 1;
  }
  // Makes step `second` wait until step `first` has ended.
  void order(uint32_t first, uint32_t second) {
    ProgramStep& s = p.steps[first];
    if (s.records == kNoEvent) s.records = p.num_events++;
    p.steps[second].waits.push_back(s.records);
  }
  void next_entry() {
    ProgramEntry& e = p.entries.emplace_back();
    e.name = "next";
    e.first_step = static_cast<uint32_t>(p.steps.size());
  }

  Program p;
};

}  // namespace shw::testing
