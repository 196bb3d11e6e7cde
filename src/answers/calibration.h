// Fits a hardware description to measured collectives, those of nccl-tests or of this process
// (measure/), and reports the fit.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/calibrate.h"

namespace shw::answers {

// Output of a program of nccl-tests or rccl-tests.
struct MeasuredFile {
  std::string name;  // for messages and the report
  std::span<const uint8_t> bytes;
  std::string collective;  // "all_gather", …; empty: the file names it (import/nccl_tests.h)
};

struct CalibrationReport {
  struct Source {
    std::string file;
    int line;
  };
  std::vector<cost::Measurement> measurements;
  std::vector<Source> sources;  // by measurement
  cost::Calibration calibration;
  std::string base;         // name of the hardware that calibration started from
  std::string description;  // of the result: JSON that parse_hardware() reads
};

bool is_collective(std::string_view name);
std::string_view collective_name(cost::Collective collective);

// `name`: of the result; empty: the base's with "-calibrated". INVALID_ARGUMENT: a file is not such
// output (the message names the line), or its runs do not fit the base (cost/calibrate.h).
Result<CalibrationReport> calibrate(const cost::Hardware& base, std::span<const MeasuredFile> files,
                                    const std::string& name);

// The same for collectives that this process has timed. Figures of the links that no measurement
// determines are taken from `base` and marked as a fallback.
Result<CalibrationReport> calibrate(const cost::Hardware& base,
                                    std::vector<cost::Measurement> measurements,
                                    const std::string& name);

std::string to_json(const CalibrationReport& report);
std::string to_text(const CalibrationReport& report);  // a table

}  // namespace shw::answers
