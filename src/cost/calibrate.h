// Derives a description of links from measured collectives.
//
// A calibration has two parts. The parameters of the model (bandwidths, latencies) are fitted so
// that its prices are closest to the measurements; they apply to groups of every shape. In
// addition, up to three straight lines fit the measurements of each measured shape and replace the
// model there, because models are coarse: NCCL switches protocols as messages grow, and its tables
// for a single node have no parameters.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "cost/hardware.h"

namespace shw::cost {

struct Measurement {
  Collective collective = Collective::kAllGather;
  int64_t nodes = 1, devices_per_node = 1;
  struct Sample {
    int64_t bytes;  // as in CollectiveModel
    double us;
  };
  std::vector<Sample> samples;
};

// Relative deviation of prices from measured times, as a factor minus 1: a price twice as high and
// one half as high both count as 1. The mean is geometric.
struct FitError {
  double mean = 0, max = 0;
};

struct CalibratedCollective {
  FitError base, model, lines;  // before; with fitted parameters; with lines
};
struct CalibratedFigure {
  std::string name;  // as in descriptions: "nccl.inter_gb_per_s"
  double before, after;
  bool determined;  // whether the measurements determine it
};

struct Calibration {
  Hardware hardware;
  std::vector<CalibratedCollective> collectives;  // one per measurement
  std::vector<CalibratedFigure> figures;
};

// INVALID_ARGUMENT: a group that does not fit the base's nodes, two measurements of the same group,
// or sizes too small to determine a bandwidth.
Result<Calibration> calibrate(const Hardware& base, std::span<const Measurement> measurements);

}  // namespace shw::cost
