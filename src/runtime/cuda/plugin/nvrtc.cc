#include "runtime/cuda/plugin/nvrtc.h"

#include <vector>

#include "runtime/cuda/plugin/kernels/sources.h"

namespace shw::runtime::cuda {
namespace {

#define SHW_ENTRY_TABLE Nvrtc
const EntryPoint kNvrtcEntryPoints[] = {SHW_CUDA_NVRTC(SHW_ENTRY_POINT)};
#undef SHW_ENTRY_TABLE

const LibraryKind kNvrtc = {"the CUDA compiler NVRTC",
                            {"libnvrtc.so.13", "libnvrtc.so.12"},
                            "install NVRTC 12 or newer (of the CUDA toolkit, or the Python package "
                            "nvidia-cuda-nvrtc) where the system looks for libraries"};

std::string architecture_option(int major, int minor) {
  return "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
}
// Fused multiply-adds are disabled, so that results are the same on every device.
constexpr const char* kOtherOptions[] = {"--std=c++17", "--fmad=false"};

// Owns an NVRTC program during its compilation.
class Program {
 public:
  explicit Program(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Status create(const std::string& name, const std::string& text) {
    std::vector<const char*> texts, names;
    for (const KernelSource& header : kernel_headers()) {
      texts.push_back(header.text);
      names.push_back(header.name);
    }
    return nvrtc_.check(nvrtc_.create(&program_, text.c_str(), name.c_str(),
                                      static_cast<int>(texts.size()), texts.data(), names.data()),
                        "making a program of CUDA kernels");
  }
  Status compile(const std::string& architecture) {
    const char* const options[] = {architecture.c_str(), kOtherOptions[0], kOtherOptions[1]};
    const NvrtcError error = nvrtc_.compile(program_, 3, options);
    if (error == 0) return {};
    return internal_error("the CUDA kernels do not compile for " + architecture + ": " +
                          nvrtc_.error_text(error) + "\n" + log());
  }
  Result<std::string> binary() const {
    size_t size = 0;
    SHW_RETURN_IF_ERROR(nvrtc_.check(nvrtc_.binary_size(program_, &size), "compiling kernels"));
    std::string bytes(size, '\0');
    SHW_RETURN_IF_ERROR(nvrtc_.check(nvrtc_.binary(program_, bytes.data()), "compiling kernels"));
    return bytes;
  }

 private:
  std::string log() const {
    size_t size = 0;
    if (nvrtc_.log_size(program_, &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    return nvrtc_.log(program_, text.data()) == 0 ? text.c_str() : "";
  }

  const Nvrtc& nvrtc_;
  NvrtcProgram program_ = nullptr;
};

}  // namespace

Status Nvrtc::check(NvrtcError error, const char* what, SourceLoc loc) const {
  if (error == 0) return {};
  return {Code::kInternal, std::string(what) + ": " + error_text(error), loc};
}

Result<Nvrtc> open_nvrtc(const std::string& folder) {
  Nvrtc nvrtc;
  SHW_RETURN_IF_ERROR(open_library(kNvrtc, folder, kNvrtcEntryPoints, &nvrtc));
  int major = 0, minor = 0;
  SHW_RETURN_IF_ERROR(nvrtc.check(nvrtc.version(&major, &minor), "asking NVRTC"));
  if (major < 12)
    return unavailable(
        "needs NVRTC 12 or newer, found " + std::to_string(major) + "." + std::to_string(minor) +
        " at " + library_file(reinterpret_cast<const void*>(nvrtc.version)) + ": " + kNvrtc.remedy);
  return nvrtc;
}

Result<std::string> compile_program(const Nvrtc& nvrtc, const std::string& name,
                                    const std::string& text, int major, int minor) {
  Program program(nvrtc);
  SHW_RETURN_IF_ERROR(program.create(name, text));
  SHW_RETURN_IF_ERROR(program.compile(architecture_option(major, minor)));
  return program.binary();
}

Result<std::string> program_description(const Nvrtc& nvrtc, const std::string& text, int major,
                                        int minor) {
  int version = 0, part = 0;
  SHW_RETURN_IF_ERROR(nvrtc.check(nvrtc.version(&version, &part), "asking NVRTC"));
  std::string all = "NVRTC " + std::to_string(version) + "." + std::to_string(part) + " " +
                    architecture_option(major, minor);
  for (const char* option : kOtherOptions) all += std::string(" ") + option;
  all += "\n" + text;
  for (const KernelSource& header : kernel_headers())
    all += std::string("\n") + header.name + "\n" + header.text;
  return all;
}

}  // namespace shw::runtime::cuda
