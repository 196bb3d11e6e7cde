// What users say about where results lie, in two short texts: which nodes, and which layouts.
//
//   which      terms, joined by &, that must all hold:
//     NAME         a node, or an input or output by its full name ("param.wq", "input.0",
//                  "output"); * and ? stand for anything, as in file names
//     module:PATH  a node of a module with that path, or of a module inside it
//     op:NAME      a node of that op
//   layouts    one layout, or several separated by ; of which any will do. * is anything along that
//              mesh dim: "S(0)*". An order is asked for where one is written: "S(0)S(0)|1,0"
//     !LAYOUTS     none of these
//     same         whatever it is, all nodes that match lie alike
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

// * and ? stand for anything, as in file names.
bool glob_matches(const std::string& glob, const std::string& text);

class NodePattern {
 public:
  // INVALID_ARGUMENT: an empty term, an op that does not exist.
  static Result<NodePattern> parse(std::string_view text);
  // Nodes with one result that match, in the order of the graph.
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

  bool is_same() const { return same_; }
  // One layout is asked for, whole: the node is pinned.
  bool is_exact() const;
  bool allows(const Layout& layout) const;  // of `same`: all
  std::string text(int mesh_rank) const;

 private:
  struct Form {
    Layout layout;
    uint32_t anything = 0;  // mesh dims written *
    bool ordered = false;
    std::string written{};
    bool matches(const Layout& l) const;
  };
  static Result<Form> parse_form(std::string_view text, int mesh_rank);
  std::vector<Form> forms_;
  bool forbids_ = false, same_ = false;
};

// One such statement; `text` is how users know it: "PATTERN=LAYOUTS".
struct Pin {
  std::string text;
  NodePattern nodes;
  LayoutRule rule;
  static Result<Pin> parse(std::string_view pattern, std::string_view layouts, int mesh_rank);
};

}  // namespace shw
