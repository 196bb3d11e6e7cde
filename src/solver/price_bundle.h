// What labellings say of prices: a labelling that costs c and overloads the rows by g costs
// c + λ · g at prices λ, so the relaxation L(λ) can nowhere be higher than the least of these.
// Where all of them are high is where to look next (a level bundle: Lemaréchal, Nemirovskii &
// Nesterov 1995). Unlike an average of labellings it sees which rows pay and which have room to
// spare.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/watch.h"
#include "support/status.h"

namespace shw::solver {

enum class Projection {
  kFound,
  kNone,     // there is nothing within any sensible distance
  kUnknown,  // the search came to no end
};

class PriceBundle {
 public:
  // A labelling: its cost, and load − slack by row. One that is known already changes nothing; of
  // many, those go that no longer count.
  void add(double cost, std::span<const double> overload);
  // What the cheapest of the labellings costs at these prices.
  double least(std::span<const double> prices) const;

  // The prices nearest to `centre` at which no labelling that was added costs less than `level`, up
  // to `tolerance`. At least one was added. Quick where the last one had this centre too.
  Result<Projection> project(std::span<const double> centre, double level, double tolerance,
                             std::vector<double>& prices, Watch& watch);

 private:
  struct Cut {
    double cost;  // at prices of zero
    std::vector<double> overload;
    double weight = 0;  // of the last projection
    uint32_t idle = 0;  // projections since it had one
  };
  struct Point;
  void make_room();
  Point at(std::span<const double> weights, std::span<const double> centre, double level) const;
  std::vector<double> newton_step(const Point& point, std::span<const double> weights,
                                  double ridge) const;
  std::vector<double> newton_step(const Point& point, std::span<const double> weights,
                                  std::span<const uint8_t> pays, double ridge) const;
  bool advance(std::span<const double> step, std::span<const double> centre, double level,
               std::vector<double>& weights, Point& point) const;

  std::vector<Cut> cuts_;
};

}  // namespace shw::solver
