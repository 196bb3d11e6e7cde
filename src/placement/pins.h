// User constraints on layouts, as two short texts: a pattern that selects nodes, and a rule for
// their layouts.
//
//   pattern    terms joined by &, all of which must match:
//     NAME         a node, or an input or output by its full name ("param.wq", "input.0",
//                  "output"); * and ? match as in file names
//     module:PATH  a node of the module with that path, or of a module inside it
//     op:NAME      a node with that op
//   layouts    one layout, or several alternatives separated by ; where * matches any placement on
//              that mesh dim: "S(0)*". A shard order is required only if it is written:
//              "S(0)S(0)|1,0"
//     !LAYOUTS     none of these
//     same         any layout, but the same for all matching nodes
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

// * and ? match as in file names.
bool glob_matches(const std::string& glob, const std::string& text);

class NodePattern {
 public:
  // INVALID_ARGUMENT: an empty term, or an unknown op.
  static Result<NodePattern> parse(std::string_view text);
  // The matching nodes with one result, in graph order.
  std::vector<NodeId> nodes(const Graph& graph) const;

 private:
  struct Term {
    enum class Of { kName, kModule, kOp } of = Of::kName;
    std::string glob;
  };
  static bool holds(const Term& term, const Graph& graph, NodeId n,
                    const std::vector<std::string>& names);
  std::vector<Term> terms_;
};

class LayoutRule {
 public:
  static Result<LayoutRule> parse(std::string_view text, int mesh_rank);
  static LayoutRule exactly(const Layout& layout);
  // One layout without *, in text form. A shard order is required if it is written.
  static Result<LayoutRule> parse_exact(std::string_view text, int mesh_rank);

  bool is_same() const { return same_; }
  // Whether it requires exactly one layout, so that the node is pinned.
  bool is_exact() const;
  bool allows(const Layout& layout) const;  // `same`: true for all
  // Whether it allows the placements in at least one shard order.
  bool allows_in_some_order(const Layout& layout, int mesh_rank) const;
  // Whether a shard order is written.
  bool has_orders() const;
  bool forbids() const { return forbids_; }
  // The layout of an exact rule.
  const Layout& layout() const { return forms_[0].layout; }
  std::string text(int mesh_rank) const;

 private:
  struct Form {
    Layout layout;
    uint32_t anything = 0;  // mesh dims written as *
    bool ordered = false;
    std::string written{};
    bool matches(const Layout& l) const;
  };
  static Result<Form> parse_form(std::string_view text, int mesh_rank);
  std::vector<Form> forms_;
  bool forbids_ = false, same_ = false;
};

// One such constraint; `text` is what the user wrote: "PATTERN=LAYOUTS".
struct Pin {
  std::string text;
  NodePattern nodes;
  LayoutRule rule;
  static Result<Pin> parse(std::string_view pattern, std::string_view layouts, int mesh_rank);
};

}  // namespace shw
