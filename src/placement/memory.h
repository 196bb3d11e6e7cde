// What one rank holds at every point of a step, as a budget of the placement problem.
//
// A point is a node of the rewritten graph, in its order: forward, then backward. For the whole
// step count inputs – parameters, buffers, batches, tangents –, with parameters the declared
// optimizer state, and what is returned, which is written into memory that the caller holds. Of all
// else a storage counts from the node that makes it to the last one that reads it, with the bytes
// of the piece that its layout leaves on a rank (of rank 0: the others' pieces are padded to that
// size).
//
// A view or an alias may ask for another layout than its operand has. Then it is a copy, with a
// life of its own; else it lies where its operand lies. So a storage and its views divide the time
// in which any of them is read: each pays, with the bytes of its own layout, from where those end
// that end before. That is exact where their layouts are equal, and too little where they are not,
// by the copies: what stays to be paid on top is known for a pair of layouts, of the two ends of an
// edge. An op whose operand lies otherwise than it asks holds a copy while it runs, paid likewise.
//
// A budget adds up what labels of variables take, and a copy is made by a pair. So in a problem
// each copy that is worth it becomes a variable of its own beside the edge that makes it: which
// layout is copied, and whether it is. It costs nothing, agrees with both ends, and takes the
// copy's bytes. With all of them, the budget holds what peak() counts; without the small ones,
// less.
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

// Which copies a budget counts: those that may take so many bytes, and are there at one of the
// points.
struct CountedCopies {
  double from_bytes = HUGE_VAL;  // none
  std::vector<uint8_t> at;       // by point; empty: at any
};

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
  // Graph and strategies must outlive it. `optimizer_factor`: bytes of optimizer state per byte of
  // parameter, there for the whole step. Adam: 2 where parameters are f32; 6 where they are bf16
  // and the optimizer keeps f32 copies beside its moments.
  static MemoryModel of(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
                        double optimizer_factor);

  struct Use {
    NodeId node;            // whose strategy decides
    uint32_t first, end;    // at the nodes first, …, end − 1
    uint32_t table;         // of bytes(): by strategy
    bool returned = false;  // written into memory that the caller holds
  };
  // Adds a budget with these uses, and with copies as variables behind those of the nodes. Returns
  // its index.
  uint32_t add_budget(double limit_bytes, const CountedCopies& copies,
                      solver::PlacementProblem& problem) const;

  // Of a choice of one strategy per node.
  MemoryPeak peak(std::span<const uint32_t> choice) const;
  std::vector<double> bytes_at_points(std::span<const uint32_t> choice) const;
  // What the bytes at a point are of: they add up to bytes_at_points() there.
  std::vector<MemoryPart> parts(const Graph& graph, std::span<const uint32_t> choice,
                                NodeId at) const;
  // What no choice goes below: every storage at its smallest, at every point; without copies.
  MemoryPeak floor() const;

  uint32_t num_points() const { return num_points_; }
  std::span<const Use> uses() const { return uses_; }
  std::span<const double> bytes(const Use& use) const { return tables_[use.table]; }

 private:
  class Builder;
  // If `reader` asks for its operand in another layout than `of` has, one of them takes more.
  struct Copy {
    NodeId reader, of;
    uint32_t operand, result;  // of the reader; of what is read
    bool reader_pays;          // for its copy; else `of` does, for what is copied
    uint32_t first, end;
    uint32_t table;  // by the payer's strategy
  };
  class CopyVariables;
  void add_copies(uint32_t budget, const CountedCopies& counted,
                  solver::PlacementProblem& problem) const;
  bool is_copied(const Copy& c, std::span<const uint32_t> choice) const {
    return strategies_->operand_layout(c.reader, c.operand, choice[c.reader.v]) !=
           strategies_->result_layout(c.of, c.result, choice[c.of.v]);
  }
  double copied_bytes(const Copy& c, std::span<const uint32_t> choice) const {
    return tables_[c.table][choice[c.reader_pays ? c.reader.v : c.of.v]];
  }

  const Strategies* strategies_ = nullptr;
  uint32_t num_points_ = 0;
  double optimizer_factor_ = 0;
  std::vector<Use> uses_;
  std::vector<Copy> copies_;
  std::vector<std::vector<double>> tables_;
};

}  // namespace shw
