// The nearest prices at which each of a few cuts reaches a level:
//
//   minimise ½ |λ − centre|²  so that  cost_k + g_k · λ ≥ level for every cut k,  and λ ≥ 0.
//
// The dual has one weight μ_k ≥ 0 for each cut. At given weights the best prices are
// λ = max(0, centre + Σ μ_k g_k), and the weights that minimise
//
//   φ(μ) = ½ |max(0, centre + Σ μ_k g_k)|² + Σ μ_k (cost_k − level)
//
// give the nearest ones. φ is convex, and quadratic as long as the same prices are positive. Each
// step follows the Newton direction to the minimum of φ along it, over all quadratic pieces. If few
// prices are positive, cuts are linearly dependent and the Newton system is singular. Then the step
// follows a direction of weights that changes no positive price, until another price becomes
// positive or a weight becomes zero. If neither ever happens, no prices reach the level (Farkas'
// lemma).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/watch.h"
#include "support/status.h"

namespace shw::solver {

enum class Projection : uint8_t {
  kFound,
  kNone,     // no such prices within a sensible distance
  kUnknown,  // the search did not converge
};

class PriceProjection {
 public:
  explicit PriceProjection(std::span<const double> centre);
  // `weight`: the initial weight of the cut.
  void add_cut(double cost, std::span<const double> overload, double weight);

  // `tolerance`: by how much a cut may miss the level, in units of cost. kNone if the prices would
  // be further than `farthest` from the centre. Needs at least one cut.
  Result<Projection> run(double level, double tolerance, double farthest, Watch& watch);

  std::span<const double> prices() const { return std::span(prices_).first(num_rows_); }
  std::span<const double> weights() const { return weights_; }

 private:
  enum class Step : uint8_t { kTaken, kEndless, kNoStep };

  size_t num_cuts() const { return cost_.size(); }
  const double* overload(size_t cut) const { return overload_.data() + cut * stride_; }
  void move_to_weights();
  void find_slopes(double level);
  double error() const;
  double distance_at_least(double level) const;
  std::vector<size_t> moving_weights() const;
  std::vector<double> curvatures(std::span<const size_t> moving) const;
  bool find_direction();
  Step advance(double level);

  const size_t num_rows_, stride_;  // rows, and the same padded to whole vectors
  std::vector<double> centre_;      // padded, like the next four
  std::vector<double> overload_;    // by cut, then row
  std::vector<double> sum_;         // centre + Σ μ g
  std::vector<double> prices_;      // max(0, sum_)
  std::vector<double> change_;      // of sum_ along the direction
  std::vector<double> cost_, weights_, slope_, direction_;  // by cut
  bool is_flat_ = false;                                    // the direction moves no positive price
};

}  // namespace shw::solver
