// shardwise ops: the operations that graphs may have, with their operands and attributes.
#include <cstdio>
#include <memory>
#include <string>

#include "ops/signature.h"
#include "tools/commands.h"

namespace shw::tools {
namespace {

Status print(const std::string& part) {
  bool found = false;
  for (size_t i = 1; i < static_cast<size_t>(OpKind::kCount); ++i) {  // 0: input
    const auto op = static_cast<OpKind>(i);
    if (op_name(op).find(part) == std::string_view::npos) continue;
    std::printf("%s\n", signature(op).c_str());
    found = true;
  }
  return found ? Status() : unknown_op(part);
}

}  // namespace

void add_ops(CommandLine& command_line) {
  auto part = std::make_shared<std::string>();
  Verb verb = command_line.verb("ops", "Operations that graphs may have, by PyTorch's names");
  verb.footer(
      "slice(self, dim: int = 0, start: int = 0, end: int?, step: int = 1)\n"
      "An attribute with = has that value where it is absent. One with ? may be absent. Every "
      "other "
      "one must be given.");
  verb.option("PART", *part, "List only operations whose names contain this text");
  verb.runs([part] { return print(*part); });
}

}  // namespace shw::tools
