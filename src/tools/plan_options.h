// The options of `compile` on the command line, row by row of compiler/options.inc: for the verbs
// that plan.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"
#include "tools/command_line.h"

namespace shw::tools {

// What the command line writes for an option of type T: lists, one text each time the option is
// given; flags, whether it is; others as a text. Numbers go to the option itself.
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

// Other values for some of the options, as --new-OPTION: constraints are added, all else is
// replaced. Flags and numbers stay.
struct OptionChanges {
  TypedOptions typed;

  void add_to(Verb& verb, const std::string& heading);
  PlanOptions applied_to(PlanOptions options) const;
};

// "80GB", "74.5 GiB", "1e9".
Result<int64_t> parse_bytes(const std::string& text);

}  // namespace shw::tools
