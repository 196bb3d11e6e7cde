// How much of its communication the simulated schedule of a program hides, by node and by kind.
//
// A kind is what is sent, in which phase. Gathers of parameters can start early, and reductions of
// gradients can end late; activations lie on the chain of the layers. Kinds are told apart in a
// graph and in a program alike, so that what the simulator says of steps can be said of edges.
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

// An edge of the graph: what it sends, and what the program calls the node that reads it.
struct SentEdge {
  uint32_t origin;  // of the consumer: ProgramStep::node
  uint8_t kind;
};
// In the order of priced_problem(): by consumer and operand.
std::vector<SentEdge> sent_edges(const Graph& graph);

class Exposure {
 public:
  static Exposure of(const Program& program);

  // Simulated, each entry as often as it is called.
  double step_us() const { return step_us_; }
  // Of the time that collectives of an edge take, the share that compute waits for. Where the node
  // has none, that of all of its kind; where these have none either, `otherwise`.
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
