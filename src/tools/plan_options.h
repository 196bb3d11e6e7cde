// The options of `compile` on the command line, generated from the rows of compiler/options.inc;
// for all verbs that plan.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"
#include "tools/command_line.h"

namespace shw::tools {

// The type into which the command line parses an option of type T. Lists: one text per occurrence;
// flags: a bool; others: a text. Numbers are written to the option itself.
template <class T>
struct TypedAs {
  using Type = std::string;
};
template <class T>
struct TypedAs<std::vector<T>> {
  using Type = std::vector<std::string>;
};
template <>
struct TypedAs<bool> {
  using Type = bool;
};
struct TypedOptions {
#define SHW_OPTION(type, name, ...) TypedAs<type>::Type name{};
#include "compiler/options.inc"
#undef SHW_OPTION
};

struct PlanOptions {
  std::string graph;
  TypedOptions typed;
  CompileOptions compile;  // numbers

  void add_to(Verb& verb, bool with_mesh = true);
  // All options, validated.
  Result<CompileOptions> options() const;
};

// Changed values for some of the options, given as --new-OPTION. New constraints are added; other
// options are replaced. Flags and numbers stay unchanged.
struct OptionChanges {
  TypedOptions typed;

  void add_to(Verb& verb, const std::string& heading);
  PlanOptions applied_to(PlanOptions options) const;
};

// "80GB", "74.5 GiB", "1e9".
Result<int64_t> parse_bytes(const std::string& text);

}  // namespace shw::tools
