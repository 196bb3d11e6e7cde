// Reads a caller's compile options from C.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "boundary.h"
#include "compiler/pipeline.h"
#include "shardwise/compile.h"

namespace shw::capi {

// The options, and the monitor for the caller's progress callback and cancel flag.
struct CompileRequest {
  CompileOptions options;
  Monitor monitor;
};
// `tasks`: the host's threads.
Result<CompileRequest> read_compile_options(const shw_compile_options* options,
                                            const TaskExecutor& tasks);

// `what`: the field's name, for messages.
Result<std::span<const uint8_t>> bytes_of(shw_bytes bytes, const char* what);
// A name or a description; the compiler accepts both. NULL and empty: the default.
Result<std::string> hardware_of(const char* name, shw_bytes description, const char* what);
using Layouts = std::vector<std::pair<std::string, std::string>>;  // name, and its layout
Result<Layouts> layouts_of(const shw_pin* pins, size_t count, const char* what);
Result<Layouts> layouts_of(const shw_port_layout* ports, size_t count, const char* what);
Result<std::vector<std::string>> names_of(const char* const* names, size_t count, const char* what);
Result<ParameterBudget> budget_of(shw_param_budget kind, double factor);
Result<int64_t> memory_limit_of(int64_t bytes);
Result<double> time_limit_of(double seconds);
Monitor monitor_of(const shw_cancel* cancel, shw_progress_fn progress, void* progress_user);

}  // namespace shw::capi
