// From measured collectives to a description of the links that they ran on.
//
// Two things come of it. The figures of the model (bandwidths, latencies) are moved to where its
// prices are closest to the measurements: they hold for groups of every shape. And for the shapes
// that were measured, a few straight lines through the measurements take the model's place: models
// are coarse, NCCL switches protocols as messages grow, and its tables for one node ask no figure.
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
    int64_t bytes;  // as CollectiveModel counts them
    double us;
  };
  std::vector<Sample> samples;
};

// By how much prices miss the times, as a factor less 1: twice too much and half of it are both 1.
// The mean is the geometric one.
struct FitError {
  double mean = 0, max = 0;
};

struct CalibratedCollective {
  FitError base, model, lines;  // before; with the figures fitted; with the lines
};
struct CalibratedFigure {
  std::string name;  // as in descriptions: "nccl.inter_gb_per_s"
  double before, after;
  bool told;  // whether any price depends on it
};

struct Calibration {
  Hardware hardware;
  std::vector<CalibratedCollective> collectives;  // one a measurement
  std::vector<CalibratedFigure> figures;
};

// INVALID_ARGUMENT: a group that the base's nodes cannot hold, two measurements of the same group,
// or sizes too small to tell a bandwidth.
Result<Calibration> calibrate(const Hardware& base, std::span<const Measurement> measurements);

}  // namespace shw::cost
