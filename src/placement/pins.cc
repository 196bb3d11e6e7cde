#include "placement/pins.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace shw {

bool glob_matches(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The names of every node: its own, and those of the inputs and outputs it represents.
std::vector<std::vector<std::string>> names_of(const Graph& graph) {
  std::vector<std::vector<std::string>> names(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) names[i].push_back(graph.name(NodeId{i}));
  for (const InputInfo& in : graph.inputs()) names[in.node.v].push_back(graph.full_name(in));
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) names[out.node.v].push_back(graph.full_name(out));
  return names;
}

}  // namespace

Result<NodePattern> NodePattern::parse(std::string_view text) {
  NodePattern pattern;
  for (std::string_view part : split(text, '&')) {
    Term term;
    if (take_prefix(part, "module:"))
      term.of = Term::Of::kModule;
    else if (take_prefix(part, "op:"))
      term.of = Term::Of::kOp;
    if (part.empty())
      return invalid_argument("pattern '" + std::string(text) + "': a term is empty");
    term.glob = part;
    pattern.terms_.push_back(std::move(term));
  }
  return pattern;
}

bool NodePattern::holds(const Term& term, const Graph& graph, NodeId n,
                        const std::vector<std::string>& names) {
  switch (term.of) {
    case Term::Of::kName:
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return glob_matches(term.glob, name); });
    case Term::Of::kModule: {
      const std::string& path = graph.meta(n).module_path;
      return glob_matches(term.glob, path) || glob_matches(term.glob + ".*", path);
    }
    case Term::Of::kOp:
      return glob_matches(term.glob, std::string(op_name(graph.op(n))));
  }
  return false;
}

std::vector<NodeId> NodePattern::nodes(const Graph& graph) const {
  const auto names = names_of(graph);
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (!graph.is_tuple(NodeId{i}) && std::all_of(terms_.begin(), terms_.end(), [&](const Term& t) {
          return holds(t, graph, NodeId{i}, names[i]);
        }))
      nodes.push_back(NodeId{i});
  return nodes;
}

// A * is parsed as R and its mesh dim recorded. Each placement starts with its letter; the second S
// of SS does not start one.
Result<LayoutRule::Form> LayoutRule::parse_form(std::string_view text, int mesh_rank) {
  Form form;
  std::string plain(text);
  int placements = 0;
  bool inside = false;
  for (size_t i = 0; i < plain.size() && plain[i] != '|'; ++i) {
    char& c = plain[i];
    if (c == '(') inside = true;
    if (c == ')') inside = false;
    if (inside || std::string_view("RSPM*").find(c) == std::string_view::npos) continue;
    if (c == 'S' && i > 0 && plain[i - 1] == 'S') continue;
    if (c == '*') {
      c = 'R';
      if (placements < kMaxMeshRank) form.anything |= 1u << placements;
    }
    ++placements;
  }
  auto layout = parse_layout(plain, mesh_rank);
  if (!layout.ok()) {
    if (plain == text) return layout.status();
    return invalid_argument("layout '" + std::string(text) + "': " + layout.status().message());
  }
  form.layout = *layout;
  form.written = text;
  form.ordered = plain.find('|') != std::string::npos;
  return form;
}

bool LayoutRule::Form::matches(const Layout& l) const {
  for (int m = 0; m < kMaxMeshRank; ++m)
    if (!(anything >> m & 1) && l[m] != layout[m]) return false;
  return !ordered || l.order == layout.order;
}

Result<LayoutRule> LayoutRule::parse(std::string_view text, int mesh_rank) {
  LayoutRule rule;
  if (text == "same") {
    rule.same_ = true;
    return rule;
  }
  rule.forbids_ = take_prefix(text, "!");
  for (std::string_view part : split(text, ';')) {
    SHW_ASSIGN_OR_RETURN(Form form, parse_form(part, mesh_rank));
    rule.forms_.push_back(form);
  }
  return rule;
}

LayoutRule LayoutRule::exactly(const Layout& layout) {
  LayoutRule rule;
  rule.forms_.push_back({layout});
  return rule;
}

Result<LayoutRule> LayoutRule::parse_exact(std::string_view text, int mesh_rank) {
  // Checked first: the general form also accepts *.
  SHW_RETURN_IF_ERROR(parse_layout(text, mesh_rank).status());
  LayoutRule rule;
  SHW_ASSIGN_OR_RETURN(Form form, parse_form(text, mesh_rank));
  rule.forms_.push_back(std::move(form));
  return rule;
}

std::string LayoutRule::text(int mesh_rank) const {
  if (same_) return "same";
  std::string text = forbids_ ? "!" : "";
  for (const Form& f : forms_)
    text += (&f == &forms_[0] ? "" : ";") +
            (f.anything == 0 ? to_string(f.layout, mesh_rank) : f.written);
  return text;
}

bool LayoutRule::is_exact() const {
  return !forbids_ && forms_.size() == 1 && forms_[0].anything == 0;
}

bool LayoutRule::allows(const Layout& layout) const {
  if (same_) return true;
  return forbids_ != std::any_of(forms_.begin(), forms_.end(),
                                 [&](const Form& f) { return f.matches(layout); });
}

bool LayoutRule::has_orders() const {
  return std::ranges::any_of(forms_, [](const Form& f) { return f.ordered; });
}

bool LayoutRule::allows_in_some_order(const Layout& layout, int mesh_rank) const {
  if (!has_orders()) return allows(layout);
  Layout reordered = layout;
  std::array<uint8_t, kMaxMeshRank> order = Layout{}.order;
  do {
    reordered.order = order;
    if (allows(normalised(reordered))) return true;
  } while (std::next_permutation(order.begin(), order.begin() + mesh_rank));
  return false;
}

Result<Pin> Pin::parse(std::string_view pattern, std::string_view layouts, int mesh_rank) {
  Pin pin;
  pin.text = std::string(pattern) + "=" + std::string(layouts);
  SHW_ASSIGN_OR_RETURN(pin.nodes, NodePattern::parse(pattern));
  SHW_ASSIGN_OR_RETURN(pin.rule, LayoutRule::parse(layouts, mesh_rank));
  return pin;
}

}  // namespace shw
