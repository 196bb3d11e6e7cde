#include "graph/diff.h"

#include <algorithm>
#include <cmath>

namespace shw {
namespace {

std::string names(const Graph& g, std::span<const NodeId> ids) {
  std::string s = "(";
  for (size_t i = 0; i < ids.size(); ++i)
    s += (i ? ", " : "") + (ids[i].valid() ? g.name(ids[i]) : std::string("none"));
  return s + ")";
}

std::string types(const Graph& g, NodeId n) {
  std::string s = g.is_tuple(n) ? "(" : "";
  for (size_t i = 0; i < g.results(n).size(); ++i)
    s += (i ? ", " : "") + (g.results(n)[i] ? to_string(*g.results(n)[i]) : std::string("none"));
  return s + (g.is_tuple(n) ? ")" : "");
}

std::string text(const Attrs& attrs) {
  std::string s;
  for (const auto& [key, value] : attrs.items())
    s += (s.empty() ? "" : ", ") + std::string(attr_key_name(key)) + "=" + to_string(value);
  return "{" + s + "}";
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return (std::isnan(*x) && std::isnan(*y)) || (*x == *y && std::signbit(*x) == std::signbit(*y));
}

bool same_attrs(const Attrs& a, const Attrs& b) {
  return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                    [](const Attrs::Item& x, const Attrs::Item& y) {
                      return x.first == y.first && same_value(x.second, y.second);
                    });
}

std::string meta_difference(const NodeMeta& a, const NodeMeta& b, const DiffOptions& options) {
  const auto number = [](const char* what, int64_t x, int64_t y) {
    return x == y ? std::string()
                  : what + (": " + std::to_string(x)) + " against " + std::to_string(y);
  };
  std::string d = number("phase", static_cast<int>(a.phase), static_cast<int>(b.phase));
  if (d.empty())
    d = number("recompute tag", static_cast<int>(a.recompute), static_cast<int>(b.recompute));
  if (d.empty()) d = number("checkpoint region", a.ac_graph_id, b.ac_graph_id);
  if (d.empty()) d = number("sequence number", a.sequence_nr, b.sequence_nr);
  if (d.empty() && a.module_path != b.module_path)
    d = "module: \"" + a.module_path + "\" against \"" + b.module_path + "\"";
  if (d.empty() && options.source && a.source != b.source)
    d = "source: \"" + a.source + "\" against \"" + b.source + "\"";
  return d;
}

std::string node_difference(const Graph& a, const Graph& b, NodeId n, const DiffOptions& options) {
  const auto versus = [](const char* what, std::string x, const std::string& y) {
    return what + (": " + std::move(x)) + " against " + y;
  };
  if (a.name(n) != b.name(n)) return versus("name", a.name(n), b.name(n));
  if (a.op(n) != b.op(n))
    return versus("op", std::string(op_name(a.op(n))), std::string(op_name(b.op(n))));
  if (!std::ranges::equal(a.operands(n), b.operands(n)))
    return versus("operands", names(a, a.operands(n)), names(b, b.operands(n)));
  if (!same_attrs(a.attrs(n), b.attrs(n)))
    return versus("attributes", text(a.attrs(n)), text(b.attrs(n)));
  if (a.is_tuple(n) != b.is_tuple(n) || !std::ranges::equal(a.results(n), b.results(n)))
    return versus("type", types(a, n), types(b, n));
  return meta_difference(a.meta(n), b.meta(n), options);
}

template <class Info>
std::string list_difference(const char* what, std::span<const Info> a, std::span<const Info> b) {
  if (a.size() != b.size())
    return std::to_string(a.size()) + " " + what + "s against " + std::to_string(b.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) return what + (" " + std::to_string(i)) + " differs";
  return {};
}

}  // namespace

std::string first_difference(const Graph& a, const Graph& b, const DiffOptions& options) {
  for (uint32_t i = 0; i < std::min(a.num_nodes(), b.num_nodes()); ++i) {
    const std::string d = node_difference(a, b, NodeId{i}, options);
    if (!d.empty()) return "node " + std::to_string(i) + " (" + a.name(NodeId{i}) + "): " + d;
  }
  if (a.num_nodes() != b.num_nodes())
    return std::to_string(a.num_nodes()) + " nodes against " + std::to_string(b.num_nodes());
  std::string d = list_difference("input", a.inputs(), b.inputs());
  if (d.empty()) d = list_difference("output", a.outputs(), b.outputs());
  const std::vector<EntryInfo> entries_a = a.entries(), entries_b = b.entries();
  if (d.empty() && a.symbols() != b.symbols()) d = "symbols, or expressions of them, differ";
  return d.empty() ? list_difference("entry point", std::span(entries_a), std::span(entries_b)) : d;
}

}  // namespace shw
