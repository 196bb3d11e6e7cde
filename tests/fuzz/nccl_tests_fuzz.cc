// parse_nccl_tests on any text must return a status, or runs that calibration accepts or refuses.
#include <cstdint>
#include <cstdlib>

#include "cost/calibrate.h"
#include "cost/hardware_description.h"
#include "import/nccl_tests.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto runs = shw::import::parse_nccl_tests({reinterpret_cast<const char*>(data), size});
  if (!runs.ok()) return 0;
  std::vector<shw::cost::Measurement> measurements;
  for (const auto& run : *runs) {
    auto& m = measurements.emplace_back();
    m.nodes = run.nodes, m.devices_per_node = run.devices_per_node;
    for (const auto& row : run.rows) m.samples.push_back({row.bytes, row.us});
  }
  const auto fit = shw::cost::calibrate(*shw::cost::hardware_by_name("t4"), measurements);
  if (fit.ok() && !shw::cost::parse_hardware(shw::cost::hardware_json(fit->hardware)).ok())
    std::abort();
  return 0;
}
