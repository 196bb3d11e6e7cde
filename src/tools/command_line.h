// The tool's command line: verbs, their options, and their actions. CLI11 does the parsing. It is
// hidden behind this interface, because its templates add seconds to the compilation of every file
// that includes them.
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "support/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shw::tools {

// Properties of an option, set in a chain: verb.option(…).required().
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& shows_default();  // the help text states the value that the variable has now
  Option& repeatable();     // takes one value each time it is given
  Option& separator(char between_values);
  Option& group(const std::string& heading);
  Option& one_of(std::initializer_list<const char*> values);
  Option& between(int lowest, int highest);
  Option& positive();
  Option& not_negative();

 private:
  CLI::Option* option_;  // the command line's
};

class Verb {
 public:
  Verb(CLI::App* app, int& exit_code) : app_(app), exit_code_(&exit_code) {}
  // An option (`--name`, `-n,--name`) or a positional argument (`NAME`). Its value is written to
  // `value`, which must live until the verb has run. T: std::string, std::vector<std::string>,
  // double, int, int64_t, uint32_t, uint64_t.
  template <class T>
  Option option(const std::string& name, T& value, const std::string& help);
  Option flag(const std::string& name, bool& value, const std::string& help);
  void footer(const std::string& text);
  // Sets the verb's action, which runs once its options have their values. An error is printed, and
  // the tool exits with 1.
  void runs(std::function<Status()> action);

 private:
  CLI::App* app_;  // the command line's
  int* exit_code_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& version, const std::string& help);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Verb verb(const std::string& name, const std::string& help);
  // Runs the verb that the arguments name. Returns the exit code: 0 success; 1 the verb failed; 2
  // wrong usage, which is reported on stderr with suggestions.
  int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_ = 0;
};

}  // namespace shw::tools
