// shardwise: the command-line tool.
#include <cstdio>
#include <exception>

#include "tools/commands.h"

namespace shw::tools {
namespace {

const char* code_name(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kUnknown:
      return "UNKNOWN";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kAlreadyExists:
      return "ALREADY_EXISTS";
    case Code::kPermissionDenied:
      return "PERMISSION_DENIED";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kAborted:
      return "ABORTED";
    case Code::kOutOfRange:
      return "OUT_OF_RANGE";
    case Code::kUnimplemented:
      return "UNIMPLEMENTED";
    case Code::kInternal:
      return "INTERNAL";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDataLoss:
      return "DATA_LOSS";
  }
  return "UNKNOWN";
}

int run(int argc, char** argv) {
  CLI::App app{"Places the tensors of a graph on a mesh of devices, and runs the result."};
  app.name("shardwise");
  app.require_subcommand(1);
  int exit_code = 0;
  add_diff(app, exit_code);
  add_explain(app, exit_code);
  add_calibrate(app, exit_code);
  add_hardware(app, exit_code);
  add_import(app, exit_code);
  add_pareto(app, exit_code);
  add_plan(app, exit_code);
  add_run(app, exit_code);
  add_show(app, exit_code);
  add_solve(app, exit_code);
  add_search(app, exit_code);
  add_what_if(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;  // --help is an "error" of code 0
  }
  return exit_code;
}

}  // namespace

int print_error(const Status& status) {
  std::fprintf(stderr, "error: %s: %s", code_name(status.code()), status.message().c_str());
  if (status.node_index() >= 0)
    std::fprintf(stderr, " (node %lld, %s)", static_cast<long long>(status.node_index()),
                 status.node_name().c_str());
  std::fputc('\n', stderr);
  return 1;
}

}  // namespace shw::tools

int main(int argc, char** argv) {
  try {
    return shw::tools::run(argc, argv);
  } catch (const std::exception& e) {  // out of memory, above all
    return shw::tools::print_error(shw::internal_error(e.what()));
  }
}
