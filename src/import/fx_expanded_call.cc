#include "import/fx_expanded_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "import/fx_values.h"

namespace shw::import::fx {
namespace {

class ExpandedCall {
 public:
  ExpandedCall(const Decomposition& how, const Names& names, const Graph& graph)
      : how_(how), names_(names), graph_(graph) {}

  Status bind(const json& node, Expansion& e) const {
    const json *args = member(node, "args"), *kwargs = member(node, "kwargs");
    if (args == nullptr || !args->is_array()) return invalid_argument("'args' is not a list");
    for (size_t i = 0;; ++i) {
      const std::string_view argument = word(how_.arguments, i);
      if (argument.empty() && i < args->size())
        return invalid_argument("argument " + std::to_string(i) + " is one too many");
      if (argument.empty()) break;
      const size_t equals = std::min(argument.find('='), argument.size());
      const std::string_view name = argument.substr(0, equals);
      const json* given = i < args->size()    ? &(*args)[i]
                          : kwargs != nullptr ? member(*kwargs, std::string(name).c_str())
                                              : nullptr;
      if (given != nullptr) {
        SHW_RETURN_IF_ERROR(bind_value(name, *given, e));
      } else if (equals < argument.size()) {
        e.run(argument.substr(equals + 1));
        e.bind(name, e.at("it"));
      } else {
        e.bind(name, {});
      }
    }
    return kwargs != nullptr && kwargs->is_object() ? check_keywords(*kwargs) : Status();
  }

 private:
  // A keyword that is not among the arguments has no effect, or is unknown.
  Status check_keywords(const json& kwargs) const {
    constexpr std::string_view kIdle = " device layout pin_memory memory_format dtype generator ";
    for (const auto& [key, value] : kwargs.items()) {
      bool known = value.is_null() || kIdle.find(" " + key + " ") != kIdle.npos;
      for (size_t i = 0; !known && !word(how_.arguments, i).empty(); ++i) {
        const std::string_view argument = word(how_.arguments, i);
        known = argument.substr(0, argument.find('=')) == key;
      }
      if (!known) return invalid_argument("unknown argument '" + key + "'");
    }
    return {};
  }

  Status bind_value(std::string_view name, const json& value, Expansion& e) const {
    AttrValue attr;
    if (value.is_null()) {
      e.bind(name, {});
    } else if (const std::string_view of = text_member(value, "n"); !of.empty()) {
      const auto it = names_.find(of);
      if (it == names_.end())
        return invalid_argument("argument '" + std::string(name) + "' is node '" + std::string(of) +
                                "', which does not come before its use");
      if (it->second.node.valid() && graph_.is_tuple(it->second.node))
        return invalid_argument("argument '" + std::string(name) + "' is a tuple");
      e.bind(name, it->second.node.valid() ? ExpansionValue(it->second.node) : ExpansionValue());
      TensorType type;
      if (it->second.value != nullptr && read_type(*it->second.value, &type).ok())
        e.record(name, type);
    } else if (value.is_array() ? convert(ParamKind::kInts, value, &attr)
                                : convert(ParamKind::kNumber, value, &attr) ||
                                      convert(ParamKind::kDtype, value, &attr) ||
                                      convert(ParamKind::kString, value, &attr)) {
      e.bind(name, std::move(attr));
    } else if (member(value, "device") == nullptr && member(value, "py") == nullptr) {
      return invalid_argument("argument '" + std::string(name) + "' cannot be " + shortened(value));
    }
    return {};
  }

  const Decomposition& how_;
  const Names& names_;
  const Graph& graph_;
};

}  // namespace

Status bind_arguments(const Decomposition& how, const Names& names, const Graph& graph,
                      const json& node, Expansion& e) {
  return ExpandedCall(how, names, graph).bind(node, e);
}

}  // namespace shw::import::fx
