#include "cts/backends.h"

#include <atomic>
#include <cstdlib>
#include <iostream>

#include "cts/mpi_world.h"
#include "runtime/cpu/device.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/null/channel.h"
#include "strict/device.h"

namespace shw::cts {
namespace {

using runtime::ChannelProvider;
using runtime::Device;

std::unique_ptr<ChannelProvider> as_they_are(std::unique_ptr<ChannelProvider> channels, Device&) {
  return channels;
}

const std::vector<Exemption> kNull = {
    {"ContractionTest.*", "computes nothing, and takes any operands"},
    {"EmbeddingTest.*", "computes nothing, and takes any operands"},
    {"GroupedTest.*", "computes nothing, and takes any operands"},
    {"AttentionTest.*", "computes nothing, and takes any operands"},
    {"PackedDocumentsTest.*", "computes nothing, and takes any operands"},
    {"AttentionWindowTest.*", "computes nothing, and takes any operands"},
    {"AttentionDropoutTest.*", "computes nothing, and takes any operands"},
    {"PagedAttentionTest.*", "computes nothing, and takes any operands"},
    {"MoveTest.*", "computes nothing"},
    {"PointwiseTest.*", "computes nothing, and takes any operands"},
    {"ReductionTest.*", "computes nothing, and takes any operands"},
    {"StreamTest.EnqueueingDoesNotWaitForWork", "host work is done by the thread that enqueues"},
    {"StreamTest.AnEventOrdersTwoStreams", "host work is done by the thread that enqueues"},
    {"StreamTest.RaisingTheFaultLetsItsStreamsDrain", "there is nothing to wait for"},
    {"EventTest.TellsWhenItIsReached", "every event is reached at once"},
    {"EventTest.MeasuresTime", "everything takes no time"},
    {"CopyTest.*", "device memory holds nothing"},
    {"MemoryTest.IsCopiedThereAndBack", "device memory holds nothing"},
    {"ChannelTest.*", "computes nothing, and waits for no other rank"},
    {"ExecutorTest.AFailingKernel*", "nothing fails in a dry run"},
    {"ExecutorTest.AnAbort*", "a run is over when enqueue returns"},
    {"ExecutorTest.Destruction*", "a run is over when enqueue returns"},
    {"ExecutorTest.ATimeLimit*", "a run is over when enqueue returns"},
    {"ChainTest.ARunFailsWithTheRunItWaitsFor", "nothing fails in a dry run"},
};

const std::vector<Exemption> kStrict = {
    {"ExecutorTest.AFailingKernelIsForgottenByReset",
     "a failing kernel loses the device, as on CUDA"},
};

const std::vector<Exemption> kCudaOnFakes = {
    {"ExecutorTest.ATrainingStep*",
     "adds in another order: tests/cuda compares within a tolerance"},
};

// The fake driver has eight devices. Consecutive calls open different ones, so that the ranks of a
// job do not share a device.
std::shared_ptr<Device> make_cuda_on_fakes() {
  static std::atomic<int> next{0};
  auto device = runtime::cuda::CudaDevice::open({.index = next++ % 8, .folder = SHW_FAKES});
  EXPECT_TRUE(device.ok()) << device.status().message();
  return device.ok() ? *device : nullptr;
}

// A device on a real GPU. NCCL accepts only one rank of a job on each device, so consecutive calls
// open different ones. Each case opens its devices anew, so compiled kernels are kept between cases
// in a folder.
std::shared_ptr<Device> make_cuda() {
  static std::atomic<int> next{0};
  const char* const kernels = std::getenv("SHW_TEST_GPU");
  for (;;) {
    auto device = runtime::cuda::CudaDevice::open(
        {.index = next++, .kernel_cache = kernels == nullptr ? "" : kernels});
    if (device.ok()) return *device;
    if (device.status().code() != Code::kInvalidArgument) return nullptr;
    next = 0;  // the index was past the last device
  }
}
std::unique_ptr<ChannelProvider> make_nccl(std::unique_ptr<ChannelProvider> control,
                                           Device& device) {
  return runtime::cuda::make_channels(static_cast<runtime::cuda::CudaDevice&>(device).context(),
                                      std::move(control), std::chrono::minutes(1));
}
std::vector<Backend> cuda_backend() {
  // This device is never closed: opening a device that no process has open is slow.
  static auto* const first =
      new Result<std::shared_ptr<runtime::cuda::CudaDevice>>(runtime::cuda::CudaDevice::open({}));
  if (!first->ok()) {
    std::cout << "not run: no device: " << first->status().message() << std::endl;
    std::exit(first->status().code() == Code::kUnavailable ? 0 : 1);
  }
  std::vector<Exemption> exemptions = kCudaOnFakes;
  if (!runtime::cuda::CudaDevice::open({.index = 3}).ok())
    for (const char* test : {"ChannelTest.*", "ExecutorTest.*", "ChainTest.*"})
      exemptions.push_back({test, "needs four GPUs, and this machine has fewer"});
  return {{"cuda", make_cuda, make_nccl, exemptions}};
}

}  // namespace

const std::vector<Backend>& backends() {
  if (std::getenv("SHW_TEST_GPU") != nullptr) {
    static const std::vector<Backend> cuda = cuda_backend();
    return cuda;
  }
  static const std::vector<Backend> mpi = {
      {"mpi",
       []() -> std::shared_ptr<Device> { return std::make_shared<runtime::cpu::CpuDevice>(); },
       as_they_are, mpi_exemptions()}};
  if (mpi_world() != nullptr) return mpi;
  static const std::vector<Backend> all = {
      {"cpu",
       []() -> std::shared_ptr<Device> { return std::make_shared<runtime::cpu::CpuDevice>(); },
       as_they_are},
      {"null",
       []() -> std::shared_ptr<Device> { return std::make_shared<runtime::null::NullDevice>(); },
       [](std::unique_ptr<ChannelProvider> channels, Device& device) {
         return runtime::null::make_channels(static_cast<runtime::null::NullDevice&>(device),
                                             channels->mesh(), channels->rank());
       },
       kNull},
      {"strict",
       []() -> std::shared_ptr<Device> { return std::make_shared<strict::StrictDevice>(); },
       [](std::unique_ptr<ChannelProvider> channels, Device& device) {
         return strict::make_strict_channels(static_cast<strict::StrictDevice&>(device).context(),
                                             std::move(channels));
       },
       kStrict},
      {"cuda_on_fakes", make_cuda_on_fakes, make_nccl, kCudaOnFakes},
  };
  return all;
}

std::vector<Backend> backends_of_executors() {
  std::vector<Backend> all = backends();
  for (Backend backend : backends()) {
    const auto device = backend.make();
    if (device == nullptr || !device->can().graphs) continue;
    backend.name += "_graphs";
    backend.graphs = true;
    all.push_back(std::move(backend));
  }
  return all;
}

std::string exemption_of(const Backend& backend) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto plain = [](std::string name, char from, bool after) {  // "Backends/Suite", "Case/cpu"
    const size_t slash = name.find(from);
    if (slash == std::string::npos) return name;
    return after ? name.substr(slash + 1) : name.substr(0, slash);
  };
  const std::string test =
      plain(info->test_suite_name(), '/', true) + "." + plain(info->name(), '/', false);
  for (const Exemption& e : backend.exemptions) {
    const bool prefix = e.test.back() == '*';
    const std::string want = prefix ? e.test.substr(0, e.test.size() - 1) : e.test;
    if (prefix ? test.starts_with(want) : test == want) return e.reason;
  }
  return {};
}

}  // namespace shw::cts
