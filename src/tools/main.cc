// shardwise: the command-line tool.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>

#include "plan/plan_format.h"
#include "support/similar.h"
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

// A suggestion after a usage error.
std::string hint(const CLI::App& app, std::span<const char* const> words) {
  if (words.size() < 2 || words[1][0] == '-') return "";
  const CLI::App* verb = nullptr;
  std::vector<std::string> names;
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(other->get_name());
    if (names.back() == words[1]) verb = other;
  }
  if (verb == nullptr)
    return "There is no verb '" + std::string(words[1]) + "'" + did_you_mean(words[1], names) +
           "\n";
  names.clear();
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  std::string text;
  for (const char* word : words.subspan(2)) {
    const std::string name(word, std::strcspn(word, "="));
    if (name.starts_with("--") && std::ranges::find(names, name) == names.end())
      text += verb->get_name() + " has no option " + name + did_you_mean(name, names) + "\n";
  }
  return text;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Shardwise distributes a tensor graph over a mesh of devices, and runs the resulting plan."};
  app.name("shardwise");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("shardwise ") + plan_format::kLibraryVersion);
  int exit_code = 0;
  // In the order of the help text.
  for (const auto add : {add_import, add_plan, add_show, add_report, add_trace, add_run,
                         add_explain, add_diff, add_what_if, add_search, add_pareto, add_reshard,
                         add_ops, add_hardware, add_calibrate, add_solve})
    add(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (app.exit(e) == 0) return 0;  // --help is an "error" of code 0
    std::fputs(hint(app, std::span<const char* const>(argv, static_cast<size_t>(argc))).c_str(),
               stderr);
    return 2;
  }
  return exit_code;
}

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
  try {
    return shw::tools::run(argc, argv);
  } catch (const std::exception& e) {  // typically out of memory
    return shw::tools::print_error(shw::internal_error(e.what()));
  }
}
