// A fake libnvrtc. For the kernels that the fakes were built with it returns a binary that only
// names them. Other code is compiled for the host.
#include "fakes/nvrtc.h"

#include <cstring>
#include <string>

#include "fakes/driver.h"
#include "fakes/host_compiler.h"
#include "fakes/inject.h"
#include "runtime/cuda/plugin/kernels/sources.h"
#include "runtime/cuda/plugin/nvrtc.h"

using namespace shw::fakes;
using namespace shw::runtime::cuda;

struct _nvrtcProgram : Counted {
  bool is_ours = false;
  std::string text, binary, log;
};

namespace {
constexpr NvrtcError kCompilationError = 6, kInvalidOption = 5;
}

SHW_FAKE_API NvrtcError nvrtcVersion(int* major, int* minor) {
  const int other = injected("nvrtcVersion");
  *major = other != 0 ? other : 13;
  *minor = 0;
  return 0;
}
SHW_FAKE_API const char* nvrtcGetErrorString(NvrtcError) { return "an error of the fake NVRTC"; }
SHW_FAKE_API NvrtcError nvrtcCreateProgram(NvrtcProgram* program, const char* text, const char*,
                                           int num_headers, const char* const* headers,
                                           const char* const* names) {
  // The program is ours if its headers are those that the fakes were built with. A known kernel is
  // a program that consists of one include of such a header.
  const auto known = kernel_headers();
  bool is_ours = static_cast<size_t>(num_headers) == known.size(), is_there = false;
  std::string binary;
  for (size_t i = 0; is_ours && i < known.size(); ++i) {
    is_ours =
        std::strcmp(headers[i], known[i].text) == 0 && std::strcmp(names[i], known[i].name) == 0;
    const std::string name = names[i];
    if (text != "#include \"" + name + "\"\n") continue;
    is_there = true;
    binary = kFakeBinary + name.substr(0, name.find('.')) + '\0';
  }
  *program = new _nvrtcProgram;
  (*program)->is_ours = is_ours;
  (*program)->text = is_there ? "" : text;
  (*program)->binary = binary;
  return 0;
}
SHW_FAKE_API NvrtcError nvrtcDestroyProgram(NvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return 0;
}
SHW_FAKE_API NvrtcError nvrtcCompileProgram(NvrtcProgram program, int num_options,
                                            const char* const* options) {
  const bool architecture =
      num_options > 0 && std::strncmp(options[0], "--gpu-architecture=sm_", 22) == 0;
  if (!architecture) return kInvalidOption;
  const int code = injected("nvrtcCompileProgram");
  if (code != 0 || !program->is_ours) {
    program->log = "FAKE: this compiler takes only the headers that it was built with";
    return code != 0 ? code : kCompilationError;
  }
  if (program->text.empty()) return 0;
  auto compiled = compile_for_host(program->text);
  if (!compiled.ok()) {
    program->log = compiled.status().message();
    return kCompilationError;
  }
  program->binary = std::string(kFakeBinary) + kGenerated + '\0' +
                    std::to_string(compiled->size()) + '\0' + *compiled;
  return 0;
}
SHW_FAKE_API NvrtcError nvrtcGetCUBINSize(NvrtcProgram program, size_t* size) {
  *size = program->binary.size();
  return 0;
}
SHW_FAKE_API NvrtcError nvrtcGetCUBIN(NvrtcProgram program, char* binary) {
  std::memcpy(binary, program->binary.data(), program->binary.size());
  return 0;
}
SHW_FAKE_API NvrtcError nvrtcGetProgramLogSize(NvrtcProgram program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
SHW_FAKE_API NvrtcError nvrtcGetProgramLog(NvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
