// What one rank holds at every point of a step, as a budget of the placement problem.
//
// A point is a node of the rewritten graph, in its order: forward, then backward. A storage counts
// from the node that makes it to the last one that reads it, through whatever views share it, with
// the bytes of the piece that its layout leaves on a rank (of rank 0: the others' pieces are padded
// to that size). So activations that the backward half reads count until it has read them. For the
// whole step count inputs – parameters, buffers, batches, tangents –, with parameters the declared
// optimizer state, and what is returned, which is written into memory that the caller holds.
//
// Not counted, for a pair of strategies decides it and not a strategy: the copies that
// redistributions make, which live from their collective to their last user.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

struct MemoryPeak {
  double bytes = 0;
  NodeId at;  // the first node where it is reached
};

// What a rank holds memory for.
enum class MemoryKind : uint8_t {
  kParameter,
  kOptimizer,   // state of it
  kGradient,    // that is returned
  kInput,       // buffers, batches, tangents, seeds
  kResult,      // what else is returned
  kActivation,  // made by the forward half, read by the backward half
  kTemporary    // all else: made and read within a half
};
std::string_view to_string(MemoryKind kind);  // "parameters", "optimizer_state", "gradients", …

struct MemoryPart {
  MemoryKind kind;
  NodeId of;  // the node that makes it; of a gradient or an update, the input that it is for
  double bytes;
};

class MemoryModel {
 public:
  // Reads its arguments during the call only. `optimizer_factor`: bytes of optimizer state per byte
  // of parameter, there for the whole step. Adam: 2 where parameters are f32; 6 where they are bf16
  // and the optimizer keeps f32 copies beside its moments.
  static MemoryModel of(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
                        double optimizer_factor);

  // Adds a budget with these uses; returns its index.
  uint32_t add_budget(double limit_bytes, solver::PlacementProblem& problem) const;
  // Of a choice of one strategy per node.
  MemoryPeak peak(std::span<const uint32_t> choice) const;
  std::vector<double> bytes_at_points(std::span<const uint32_t> choice) const;
  // What the bytes at a point are of: they add up to bytes_at_points() there.
  std::vector<MemoryPart> parts(const Graph& graph, std::span<const uint32_t> choice,
                                NodeId at) const;
  // What no choice goes below: every storage at its smallest, at every point.
  MemoryPeak floor() const;

  struct Use {
    NodeId node;            // whose strategy decides
    uint32_t first, end;    // at the nodes first, …, end − 1
    uint32_t table;         // of bytes(): by strategy
    bool returned = false;  // written into memory that the caller holds
  };
  std::span<const Use> uses() const { return uses_; }
  std::span<const double> bytes(const Use& use) const { return tables_[use.table]; }

 private:
  class Builder;
  uint32_t num_points_ = 0;
  double optimizer_factor_ = 0;
  std::vector<Use> uses_;
  std::vector<std::vector<double>> tables_;
};

}  // namespace shw
