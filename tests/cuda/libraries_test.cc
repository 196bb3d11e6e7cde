// The error messages if NVIDIA's libraries are missing or too old.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "cuda/fakes.h"
#include "runtime/collective/local.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/cuda/plugin/nvrtc.h"

namespace shw::runtime::cuda {
namespace {

using testing::Injected;

// A temporary folder with some of the fakes.
class Folder {
 public:
  explicit Folder(const std::vector<std::string>& libraries)
      : path_(std::filesystem::temp_directory_path() /
              ("shw_fakes_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
    for (const std::string& name : libraries)
      std::filesystem::create_symlink(std::filesystem::path(SHW_FAKES) / name, path_ / name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Status open(const std::string& folder = SHW_FAKES, int index = 0) {
  return CudaDevice::open({.index = index, .folder = folder}).status();
}
void expect_unavailable(const Status& status, const std::vector<std::string>& words) {
  EXPECT_EQ(status.code(), Code::kUnavailable);
  for (const std::string& word : words)
    EXPECT_NE(status.message().find(word), std::string::npos)
        << "'" << word << "' is not in: " << status.message();
}

TEST(CudaLibrariesTest, AMissingLibraryIsNamedWithWhatToDo) {
  expect_unavailable(open(Folder({}).path()),
                     {"the CUDA driver is not available", "install NVIDIA's driver", "libcuda"});
  expect_unavailable(open(Folder({"libcuda.so.1"}).path()),
                     {"NVRTC is not available", "install NVRTC", "libnvrtc.so.12"});
  expect_unavailable(open(Folder({"libcuda.so.1", "libnvrtc.so.13"}).path()),
                     {"cuBLASLt is not available", "install cuBLAS"});
  EXPECT_TRUE(open(Folder({"libcuda.so.1", "libnvrtc.so.13", "libcublasLt.so.13"}).path()).ok())
      << "NCCL is needed by jobs of several ranks only";
}

TEST(CudaLibrariesTest, AnOldLibraryIsNamedWithItsVersionAndPlace) {
  {
    const Injected old("cuDriverGetVersion", 11080);
    expect_unavailable(open(), {"CUDA 12.0 or newer", "found one for CUDA 11.8", " at /"});
  }
  {
    const Injected old("nvrtcVersion", 11);
    expect_unavailable(open(), {"needs NVRTC 12 or newer", "found 11.0"});
  }
  {
    const Injected old("cublasLtGetVersion", 110500);
    expect_unavailable(open(), {"needs cuBLASLt 12 or newer", "found 110500"});
  }
  {
    const Injected old("compute capability", 7);
    expect_unavailable(open(), {"too old", "8.0 or newer", "7.x"});
  }
  EXPECT_TRUE(open().ok());
}

TEST(CudaLibrariesTest, AMachineWithoutDevicesIsUnavailable) {
  {
    const Injected none("cuDeviceGetCount", -1);
    expect_unavailable(open(), {"finds no device", "nvidia-smi"});
  }
  const Injected broken("cuInit", 999);
  expect_unavailable(open(), {"does not start"});
}

TEST(CudaLibrariesTest, ADeviceThatDoesNotExistIsAnArgument) {
  const Status status = open(SHW_FAKES, 8);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("there are 8"), std::string::npos) << status.message();
  EXPECT_EQ(open(SHW_FAKES, -1).code(), Code::kInvalidArgument);
}

TEST(CudaLibrariesTest, KernelsThatDoNotCompileSayWhy) {
  auto context = Context::open({.folder = SHW_FAKES});
  ASSERT_TRUE(context.ok()) << context.status().message();
  const Injected broken("nvrtcCompileProgram", 6);
  const Status status = (*context)->load(programs(DeviceProgram::pointwise));
  EXPECT_EQ(status.code(), Code::kInternal);
  for (const char* word : {"do not compile for --gpu-architecture=sm_90", "FAKE: this compiler"})
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

TEST(CudaLibrariesTest, TheFirstChannelNeedsNccl) {
  const Mesh mesh = *Mesh::parse("x=2");
  const uint8_t axes[] = {0};
  const auto first_channel = [&](const std::string& folder) {
    const auto hub = LocalHub::create(mesh);
    auto context = Context::open({.folder = folder});
    EXPECT_TRUE(context.ok()) << context.status().message();
    const auto channels = make_channels(*context, hub->provider(0), {});
    return channels->channel(axes).status();
  };
  expect_unavailable(
      first_channel(Folder({"libcuda.so.1", "libnvrtc.so.13", "libcublasLt.so.13"}).path()),
      {"NCCL is not available", "install NCCL 2.18"});
  const Injected old("ncclGetVersion", 21605);
  expect_unavailable(first_channel(SHW_FAKES),
                     {"needs NCCL 2.18.0 or newer", "found 2.16.5", " at /"});
}

// Uses the real compiler if it is installed; it needs no GPU. This test compiles one program for
// each architecture. compile_kernels.py compiles all programs for all architectures.
TEST(CudaLibrariesTest, NvrtcCompilesTheKernels) {
  auto nvrtc = open_nvrtc({});
  if (!nvrtc.ok()) GTEST_SKIP() << "not run: " << nvrtc.status().message();
  for (const auto& [program, major, minor] :
       {std::tuple("lines", 8, 0), std::tuple("norm", 9, 0), std::tuple("sort", 10, 0)}) {
    const std::string text = "#include \"" + std::string(program) + ".cuh\"\n";
    const auto binary = compile_program(*nvrtc, program, text, major, minor);
    ASSERT_TRUE(binary.ok()) << binary.status().message();
    EXPECT_EQ(binary->substr(1, 3), "ELF");
  }
}

}  // namespace
}  // namespace shw::runtime::cuda
