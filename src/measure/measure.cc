#include "measure/measure.h"

#include <algorithm>
#include <thread>

#include "measure/accelerator.h"
#include "measure/collectives.h"
#include "measure/kernels.h"
#include "runtime/cuda/ranks.h"

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

// Measures groups of at most eight ranks. Figures that this cannot determine, such as those of
// links between nodes, are those of the H100.
Result<answers::CalibrationReport> measure_cuda(const std::string& name) {
  SHW_ASSIGN_OR_RETURN(const int64_t found, runtime::cuda::num_devices());
  const int64_t devices = std::min<int64_t>(found, 8);
  SHW_ASSIGN_OR_RETURN(const runtime::RankBackend backend,
                       runtime::cuda::open_ranks(0, devices, std::chrono::minutes(1), {}));
  SHW_ASSIGN_OR_RETURN(const cost::Hardware base, cost::hardware_by_name("h100"));
  return measure_accelerators(backend, devices, {}, base, name);
}

}  // namespace

Result<answers::CalibrationReport> measure(std::string_view device, const std::string& name) {
  if (device == "cuda") return measure_cuda(name.empty() ? "cuda-measured" : name);
  if (device != "cpu")
    return invalid_argument("device '" + std::string(device) + "': expected cpu or cuda");
  const std::string title = name.empty() ? "cpu-measured" : name;
  SHW_ASSIGN_OR_RETURN(const cost::Hardware hardware, measured_device(title));
  SHW_ASSIGN_OR_RETURN(std::vector<cost::Measurement> collectives,
                       measure_collectives(hardware.device.shared_cores));
  return answers::calibrate(hardware, std::move(collectives), title);
}

}  // namespace shw::measure
