// shardwise: the command-line tool.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#ifdef __GLIBC__
#include <malloc.h>
#include <unistd.h>
#endif

#include "plan/plan_format.h"
#include "support/large_memory.h"
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

int run_tool(int argc, char** argv) {
  CommandLine command_line(
      "shardwise", plan_format::kLibraryVersion,
      "Shardwise distributes a tensor graph over a mesh of devices, and runs the resulting plan.");
  // In the order of the help text.
  for (const auto add : {add_import, add_plan, add_show, add_report, add_trace, add_run,
                         add_explain, add_diff, add_what_if, add_search, add_pareto, add_compare,
                         add_reshard, add_ops, add_hardware, add_calibrate, add_bench, add_solve})
    add(command_line);
  return command_line.run(argc, argv);
}

#ifdef __GLIBC__
// A plan takes and frees tens of MiB again and again. To give them back to the system in between
// costs a twentieth of its time; to touch each of their small pages for the first time, another.
void tune_heap() {
  constexpr int kReserve = 64 << 20;  // addresses; pages are taken when they are touched
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 2 * kReserve);
  mallopt(M_TOP_PAD, kReserve);
  void* const grown = std::malloc(1 << 20);  // more than the heap has yet
  const auto room = static_cast<char*>(sbrk(0)) - static_cast<char*>(grown);
  if (grown != nullptr && room > 0 && room <= 2 * kReserve) {  // memory of this heap
    void* first = grown;
    auto bytes = static_cast<size_t>(room);
    advise_huge_pages(std::align(kHugePage, kHugePage, first, bytes), bytes);
  }
  std::free(grown);
}
#endif

}  // namespace

int print_error(const Status& status, const std::string& prefix) {
  std::string line = prefix + "error: " + code_name(status.code()) + ": " + status.message();
  if (status.node_index() >= 0)
    line += " (node " + std::to_string(status.node_index()) + ", " + status.node_name() + ")";
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);  // one write: mpirun merges the ranks' output
  return 1;
}

}  // namespace shw::tools

int main(int argc, char** argv) {
#ifdef __GLIBC__
  shw::tools::tune_heap();
#endif
  try {
    return shw::tools::run_tool(argc, argv);
  } catch (const std::exception& e) {  // typically out of memory
    return shw::tools::print_error(shw::internal_error(e.what()));
  }
}
