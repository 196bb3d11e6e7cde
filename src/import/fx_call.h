// A call of an overload that maps to a single operation: its arguments as operands and attributes.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "import/aten_table.h"
#include "ops/op_def.h"
#include "support/status.h"

namespace shw::import::fx {

// The value of a name.
struct Named {
  NodeId node;                            // none: an absent element of a tuple
  const nlohmann::json* value = nullptr;  // its recorded type
};
using Names = std::unordered_map<std::string_view, Named>;

// Converts an argument to an attribute; false: it is not of this kind.
bool convert(ParamKind kind, const nlohmann::json& value, AttrValue* out);

class Call {
 public:
  Call(const AtenOp& aten, const Names& names);  // both outlive the call
  Status read(const nlohmann::json& node);

  std::vector<NodeId> operands;
  Attrs attrs;

 private:
  std::string_view argument_name(size_t i) const;
  Status argument(std::string_view name, const nlohmann::json& value);
  Status set(const Param& p, size_t operand, const nlohmann::json& value);
  Status list(const Param& p, const nlohmann::json& value);
  Status reference(const Param& p, const nlohmann::json& value, NodeId* out) const;
  Status set_attr(const Param& p, const nlohmann::json& value);

  const AtenOp& aten_;
  const OpDef& def_;
  const Names& names_;
};

}  // namespace shw::import::fx
