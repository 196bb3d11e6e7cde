// NVRTC: compiles CUDA C++ at run time.
#pragma once
#include <string>

#include "runtime/cuda/plugin/library.h"

struct _nvrtcProgram;

namespace shw::runtime::cuda {

using NvrtcError = int;  // nvrtcResult
using NvrtcProgram = _nvrtcProgram*;

#define SHW_CUDA_NVRTC(X)                                                              \
  X(NvrtcError(int*, int*), version, "nvrtcVersion")                                   \
  X(const char*(NvrtcError), error_text, "nvrtcGetErrorString")                        \
  X(NvrtcError(NvrtcProgram*, const char*, const char*, int, const char* const*,       \
               const char* const*),                                                    \
    create, "nvrtcCreateProgram")                                                      \
  X(NvrtcError(NvrtcProgram*), destroy, "nvrtcDestroyProgram")                         \
  X(NvrtcError(NvrtcProgram, int, const char* const*), compile, "nvrtcCompileProgram") \
  X(NvrtcError(NvrtcProgram, size_t*), binary_size, "nvrtcGetCUBINSize")               \
  X(NvrtcError(NvrtcProgram, char*), binary, "nvrtcGetCUBIN")                          \
  X(NvrtcError(NvrtcProgram, size_t*), log_size, "nvrtcGetProgramLogSize")             \
  X(NvrtcError(NvrtcProgram, char*), log, "nvrtcGetProgramLog")

struct Nvrtc {
  SHW_CUDA_NVRTC(SHW_ENTRY_MEMBER)
  Status check(NvrtcError error, const char* what, SourceLoc loc = SourceLoc::current()) const;
};

Result<Nvrtc> open_nvrtc(const std::string& folder);

// Compiles a program, which may include the files of kernels/, for devices of this compute
// capability. Returns a binary for Driver::load_module. INTERNAL: compilation failed; the message
// has the compiler's log.
Result<std::string> compile_program(const Nvrtc& nvrtc, const std::string& name,
                                    const std::string& text, int major, int minor);
// A text that contains everything that the binary depends on.
Result<std::string> program_description(const Nvrtc& nvrtc, const std::string& text, int major,
                                        int minor);

}  // namespace shw::runtime::cuda
