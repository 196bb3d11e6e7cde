// The verbs of the command-line tool, one file each. A verb adds its subcommand and, when it was
// chosen, sets the exit code: 0 done, 1 the operation failed (print_error says why); 2, wrong
// usage, is main's.
#pragma once
#include <CLI/CLI.hpp>

#include "support/status.h"

namespace shw::tools {

// "error: CODE: message" on stderr, with the node of the graph where one is known. Returns 1.
int print_error(const Status& status);

void add_diff(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_hardware(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_ops(CLI::App& app, int& exit_code);
void add_pareto(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_solve(CLI::App& app, int& exit_code);
void add_search(CLI::App& app, int& exit_code);
void add_what_if(CLI::App& app, int& exit_code);

}  // namespace shw::tools
