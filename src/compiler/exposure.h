// How much communication the simulated schedule of a program hides, by node and by kind.
//
// A kind is what is sent, and in which pass: forward or backward. Kinds differ in how much a
// schedule can hide. Gathers of parameters can start early, and reductions of gradients can end
// late, but activations lie on the critical path through the layers. The same kinds exist for the
// steps of a program and for the edges of a graph. So what the simulator measures for steps can be
// applied to edges.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/program.h"

namespace shw {

enum class Sent : uint8_t { kActivation = 0, kParameter = 1, kGradient = 2 };
inline constexpr size_t kNumSentKinds = 6;
constexpr size_t sent_kind(Sent sent, bool backward) {
  return static_cast<size_t>(sent) * 2 + (backward ? 1 : 0);
}
constexpr bool is_activation(size_t kind) { return kind < 2; }

// An edge of the graph: the kind that it sends, and the program's number for the node that reads
// it.
struct SentEdge {
  uint32_t origin;  // of the consumer: ProgramStep::node
  uint8_t kind;
};
// In the order of priced_problem(): by consumer and operand.
std::vector<SentEdge> sent_edges(const Graph& graph);

class Exposure {
 public:
  static Exposure of(const Program& program);

  // The simulated time of a step. Each entry counts as often as it is called.
  double step_us() const { return step_us_; }
  // The exposed share of the time of an edge's collectives: the share that compute waits for. If
  // the node has no collectives of this kind, the share is that of all collectives of the kind. If
  // there are none of the kind either, it is `otherwise`.
  double share(const SentEdge& edge, double otherwise) const;

 private:
  struct Times {
    double busy_us = 0, exposed_us = 0;
  };
  double step_us_ = 0;
  std::array<Times, kNumSentKinds> by_kind_{};
  std::vector<std::array<Times, kNumSentKinds>> by_node_;  // by origin
};

}  // namespace shw
