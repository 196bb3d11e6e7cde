// The verbs of the command-line tool, one file each. A verb adds its subcommand and, if selected,
// sets the exit code: 0 success, 1 the operation failed (print_error reports why). main sets 2,
// wrong usage.
#pragma once
#include <CLI/CLI.hpp>

#include "support/status.h"

namespace shw::tools {

// Prints "error: CODE: message" to stderr, with the node of the graph if known. Returns 1.
int print_error(const Status& status, const std::string& prefix = "");

void add_diff(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_hardware(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_ops(CLI::App& app, int& exit_code);
void add_pareto(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_reshard(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_solve(CLI::App& app, int& exit_code);
void add_search(CLI::App& app, int& exit_code);
void add_trace(CLI::App& app, int& exit_code);
void add_what_if(CLI::App& app, int& exit_code);

}  // namespace shw::tools
