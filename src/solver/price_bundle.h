// A cutting-plane model of the relaxation as a function of the prices. A labelling that costs c and
// overloads the rows by g costs c + λ · g at prices λ, so L(λ) is at most the minimum of these
// cuts. Good prices lie where all cuts are high (level bundle method: Lemaréchal, Nemirovskii &
// Nesterov 1995). Unlike an average of overloads, the model knows which rows are full and which
// have slack.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/price_projection.h"
#include "solver/watch.h"
#include "support/status.h"

namespace shw::solver {

class PriceBundle {
 public:
  // Adds the cut of a labelling: its cost, and load − slack by row. Duplicates are ignored; when
  // there are too many, those that had no weight in recent projections are dropped.
  void add(double cost, std::span<const double> overload);
  // The value of the model at these prices: the minimum over the cuts.
  double least(std::span<const double> prices) const;

  // Projects `centre` onto the prices at which every cut is at least `level`, up to `tolerance`.
  // Needs at least one cut. Fast if the previous call had the same centre.
  Result<Projection> project(std::span<const double> centre, double level, double tolerance,
                             std::vector<double>& prices, Watch& watch);

 private:
  struct Cut {
    double cost;  // at prices of zero
    std::vector<double> overload;
    double weight = 0;  // in the last projection
    uint32_t idle = 0;  // projections since it last had weight
  };
  void make_room();

  std::vector<Cut> cuts_;
};

}  // namespace shw::solver
