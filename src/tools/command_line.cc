#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "support/similar.h"
#include "tools/commands.h"

namespace shw::tools {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::shows_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::repeatable() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::separator(char between_values) {
  option_->delimiter(between_values);
  return *this;
}

Option& Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::one_of(std::initializer_list<const char*> values) {
  option_->check(CLI::IsMember(std::vector<std::string>(values.begin(), values.end())));
  return *this;
}

Option& Option::between(int lowest, int highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Option& Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

template <class T>
Option Verb::option(const std::string& name, T& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
template Option Verb::option(const std::string&, std::string&, const std::string&);
template Option Verb::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Verb::option(const std::string&, double&, const std::string&);
template Option Verb::option(const std::string&, int&, const std::string&);
template Option Verb::option(const std::string&, int64_t&, const std::string&);
template Option Verb::option(const std::string&, uint32_t&, const std::string&);
template Option Verb::option(const std::string&, uint64_t&, const std::string&);

Option Verb::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}

void Verb::footer(const std::string& text) { app_->footer(text); }

void Verb::runs(std::function<Status()> action) {
  app_->callback([action = std::move(action), exit_code = exit_code_] {
    if (const Status status = action(); !status.ok()) *exit_code = print_error(status);
  });
}

CommandLine::CommandLine(const std::string& name, const std::string& version,
                         const std::string& help)
    : app_(std::make_unique<CLI::App>(help)) {
  app_->name(name);
  app_->require_subcommand(1);
  app_->set_version_flag("--version", name + " " + version);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::verb(const std::string& name, const std::string& help) {
  return {app_->add_subcommand(name, help), exit_code_};
}

// A suggestion after a usage error.
static std::string hint(const CLI::App& app, std::span<const char* const> words) {
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

int CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (app_->exit(e) == 0) return 0;  // --help is an "error" of code 0
    std::fputs(hint(*app_, std::span<const char* const>(argv, static_cast<size_t>(argc))).c_str(),
               stderr);
    return 2;
  }
  return exit_code_;
}

}  // namespace shw::tools
