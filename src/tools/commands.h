// The verbs of the command-line tool, one file each.
#pragma once
#include <string>

#include "support/status.h"
#include "tools/command_line.h"

namespace shw::tools {

// Prints "error: CODE: message" to stderr, with the node of the graph if known. Returns 1.
int print_error(const Status& status, const std::string& prefix = "");

void add_diff(CommandLine& command_line);
void add_explain(CommandLine& command_line);
void add_bench(CommandLine& command_line);
void add_calibrate(CommandLine& command_line);
void add_compare(CommandLine& command_line);
void add_hardware(CommandLine& command_line);
void add_import(CommandLine& command_line);
void add_ops(CommandLine& command_line);
void add_pareto(CommandLine& command_line);
void add_plan(CommandLine& command_line);
void add_report(CommandLine& command_line);
void add_reshard(CommandLine& command_line);
void add_run(CommandLine& command_line);
void add_show(CommandLine& command_line);
void add_solve(CommandLine& command_line);
void add_search(CommandLine& command_line);
void add_trace(CommandLine& command_line);
void add_what_if(CommandLine& command_line);

}  // namespace shw::tools
