#include "measure/measure.h"

#include <algorithm>
#include <thread>

#include "measure/collectives.h"
#include "measure/kernels.h"

namespace shw::measure {
namespace {

constexpr int64_t kOneNode = 1 << 20;  // ranks: all share the memory of this machine

Result<cost::Hardware> measured_device(const std::string& name) {
  SHW_ASSIGN_OR_RETURN(cost::Hardware hardware, cost::hardware_by_name("cpu"));
  hardware.name = hardware.device.name = name;
  hardware.device.shared_cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  hardware.ring.devices_per_node = kOneNode;
  SHW_RETURN_IF_ERROR(measure_kernels(hardware.device, hardware.bases));
  return hardware;
}

}  // namespace

Result<answers::CalibrationReport> measure(std::string_view device, const std::string& name) {
  if (device == "cuda")
    return unimplemented(
        "measuring CUDA devices: this backend has not run on a GPU yet, and no time that fakes of "
        "NVIDIA's libraries take is a performance figure");
  if (device != "cpu")
    return invalid_argument("device '" + std::string(device) + "': expected cpu");
  const std::string title = name.empty() ? "cpu-measured" : name;
  SHW_ASSIGN_OR_RETURN(const cost::Hardware hardware, measured_device(title));
  SHW_ASSIGN_OR_RETURN(std::vector<cost::Measurement> collectives,
                       measure_collectives(hardware.device.shared_cores));
  return answers::calibrate(hardware, std::move(collectives), title);
}

}  // namespace shw::measure
