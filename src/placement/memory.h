// Models the bytes that one rank holds at every point of a step, as a budget of the placement
// problem.
//
// A point is a node of the rewritten graph, in graph order: forward, then backward. These are live
// for the whole step: inputs (parameters, buffers, batches, tangents), the declared optimizer
// state, and results, which are written into the caller's memory. A value that updates an input in
// place has no memory of its own. Every other storage is live from the node that makes it to the
// last node that reads it. It is charged with the bytes of rank 0's piece; the other pieces are
// padded to that size.
//
// A view or alias whose layout differs from its operand's is a copy with its own lifetime;
// otherwise both share a storage. A storage and its views are therefore charged consecutively: each
// covers the interval after the previous one's last use, with the bytes of its own layout. This is
// exact if their layouts are equal. Otherwise it underestimates by the size of the copies, which
// depends on the layouts at both ends of an edge. An operand that an op requires in another layout
// is copied while the op runs, and charged the same way.
//
// A budget adds up usages of single variables, but a copy depends on a pair. So each copy that is
// large enough becomes an additional variable beside its edge. The labels of this variable say
// which layout is copied, if any. Such a variable costs nothing, must agree with both ends, and
// uses the copy's bytes. With all of them the budget equals peak(); if small ones are omitted, it
// is a lower bound.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

// The copies that a budget counts: those of at least `from_bytes` that are live at one of the
// points `at`.
struct CountedCopies {
  double from_bytes = HUGE_VAL;  // none
  std::vector<uint8_t> at;       // by point; empty: all points
  bool operator==(const CountedCopies&) const = default;
};

struct MemoryPeak {
  double bytes = 0;
  NodeId at;  // the first node with the peak
};

// What a rank uses memory for.
enum class MemoryKind : uint8_t {
  kParameter,
  kOptimizer,   // its state
  kGradient,    // returned to the caller
  kInput,       // buffers, batches, tangents, seeds
  kResult,      // other returned values
  kActivation,  // made by the forward pass, read by the backward pass
  kTemporary    // made and read within one pass
};
std::string_view to_string(MemoryKind kind);  // "parameters", "optimizer_state", "gradients", …

struct MemoryPart {
  MemoryKind kind;
  NodeId of;  // the node that makes it; for a gradient or an update, the input that it belongs to
  double bytes;
};

class MemoryModel {
 public:
  // Graph and strategies must outlive it. `optimizer_factor`: bytes of optimizer state per byte of
  // parameter, live for the whole step. Adam: 2 for f32 parameters, 6 for bf16 parameters if the
  // optimizer keeps f32 copies beside its moments.
  static MemoryModel of(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
                        double optimizer_factor);

  struct Use {
    NodeId node;            // its strategy determines the bytes
    uint32_t first, end;    // live at the nodes first, …, end − 1
    uint32_t table;         // index of bytes(), by strategy
    bool returned = false;  // written into memory of the caller
  };
  // Adds a budget with uses(). The copies that it counts become variables after those of the nodes.
  // Returns the index of the budget.
  uint32_t add_budget(double limit_bytes, const CountedCopies& copies,
                      solver::PlacementProblem& problem) const;

  // For a choice of one strategy per node.
  MemoryPeak peak(std::span<const uint32_t> choice) const;
  std::vector<double> bytes_at_points(std::span<const uint32_t> choice) const;
  // The breakdown of bytes_at_points() at one point.
  std::vector<MemoryPart> parts(const Graph& graph, std::span<const uint32_t> choice,
                                NodeId at) const;
  // A lower bound for every choice: each storage at its smallest, without copies.
  MemoryPeak floor() const;

  uint32_t num_points() const { return num_points_; }
  std::span<const Use> uses() const { return uses_; }
  std::span<const double> bytes(const Use& use) const { return tables_[use.table]; }

 private:
  class Builder;
  // Extra memory if `reader` requires its operand in another layout than `of` has.
  struct Copy {
    NodeId reader, of;
    uint32_t operand, result;  // of the reader; of the node read
    bool charged_to_reader;    // charged with the reader's copy; otherwise `of` is, with what is
                               // copied
    uint32_t first, end;
    uint32_t table;  // by strategy of the node that is charged
  };
  class CopyVariables;
  void add_copies(uint32_t budget, const CountedCopies& counted,
                  solver::PlacementProblem& problem) const;
  bool is_copied(const Copy& c, std::span<const uint32_t> choice) const {
    return strategies_->operand_layout(c.reader, c.operand, choice[c.reader.v]) !=
           strategies_->result_layout(c.of, c.result, choice[c.of.v]);
  }
  double copied_bytes(const Copy& c, std::span<const uint32_t> choice) const {
    return tables_[c.table][choice[c.charged_to_reader ? c.reader.v : c.of.v]];
  }

  const Strategies* strategies_ = nullptr;
  uint32_t num_points_ = 0;
  double optimizer_factor_ = 0;
  std::vector<Use> uses_;
  std::vector<Copy> copies_;
  std::vector<std::vector<double>> tables_;
};

}  // namespace shw
