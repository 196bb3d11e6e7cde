#include "runtime/cuda/plugin/driver.h"

#include <algorithm>
#include <iterator>

namespace shw::runtime::cuda {
namespace {

#define SHW_ENTRY_TABLE Driver
const EntryPoint kDriverEntryPoints[] = {SHW_CUDA_DRIVER(SHW_ENTRY_POINT)};
#undef SHW_ENTRY_TABLE

const LibraryKind kDriver = {"the CUDA driver",
                             {"libcuda.so.1"},
                             "install NVIDIA's driver 525 or newer (CUDA 12.0), or run on the CPU"};
constexpr int kLeastDriverVersion = 12000;

// Errors after which every driver call of this process fails with the same error.
bool is_lost(DriverError error) {
  constexpr DriverError kLost[] = {
      700,  // an illegal address
      702,  // a time-out of the system
      710,  // an assertion of a kernel
      714,  // an error of the hardware's stack
      715,  // an illegal instruction
      716,  // a misaligned address
      717,  // an address of another address space
      718,  // a program counter outside of the program
      719,  // another exception
  };
  return std::ranges::find(kLost, error) != std::end(kLost);
}

}  // namespace

Status Driver::check(DriverError error, const char* what, SourceLoc loc) const {
  if (error == kDriverSuccess) return {};
  const char *name = nullptr, *text = nullptr;
  if (error_name(error, &name) != kDriverSuccess || name == nullptr) name = "an unknown error";
  if (error_text(error, &text) != kDriverSuccess || text == nullptr) text = "no description";
  std::string message =
      std::string(what) + ": " + name + " (" + std::to_string(error) + "), " + text;
  if (is_lost(error)) message += "; nothing works on this device until the process is started anew";
  return {error == kDriverOutOfMemory ? Code::kResourceExhausted : Code::kInternal,
          std::move(message), loc};
}

Result<Driver> open_driver(const std::string& folder) {
  Driver driver;
  SHW_RETURN_IF_ERROR(open_library(kDriver, folder, kDriverEntryPoints, &driver));
  int version = 0, devices = 0;
  SHW_RETURN_IF_ERROR(driver.check(driver.driver_version(&version), "asking the CUDA driver"));
  if (version < kLeastDriverVersion)
    return unavailable("needs a driver for CUDA " + version_text(kLeastDriverVersion) +
                       " or newer, found one for CUDA " + version_text(version) + " at " +
                       library_file(reinterpret_cast<const void*>(driver.init)) + ": " +
                       kDriver.remedy);
  if (Status s = driver.check(driver.init(0), "the CUDA driver does not start"); !s.ok())
    return unavailable(s.message());
  SHW_RETURN_IF_ERROR(driver.check(driver.device_count(&devices), "counting CUDA devices"));
  if (devices == 0)
    return unavailable(
        "the CUDA driver finds no device: see what nvidia-smi and the environment "
        "variable CUDA_VISIBLE_DEVICES say");
  return driver;
}

}  // namespace shw::runtime::cuda
