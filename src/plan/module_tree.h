// A plan as the tree of the modules that its graph was traced from: where parameters lie, and what
// each module costs, and holds at the memory peak, with all that is in it.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.h"

namespace shw {

struct ModuleParameter {
  std::string name;  // in its module: "weight"
  std::string type, layout;
  int64_t bytes_per_rank = 0;
};

struct Module {
  std::string name;    // "wq"; of several that are alike "0..31"
  uint32_t count = 1;  // of those
  uint32_t num_nodes = 0;
  double compute_us = 0, comm_us = 0, transition_us = 0;  // with all below, of all that are alike
  int64_t peak_bytes = 0;  // that a rank holds for it at the highest point of a step; as costs
  std::vector<ModuleParameter> parameters;  // of one
  std::vector<Module> modules;
};

// Numbered modules next to each other with equal parameters, layouts and modules are told once.
// Buffers count as parameters. What has no module belongs to the root.
Module module_tree(const Plan& plan);
std::string module_tree_text(const Module& root);
std::string module_tree_json(const Module& root);

// "_export_root.layers.0.__dict__['_modules']['block'].wq" → layers, 0, block, wq.
std::vector<std::string> module_names(std::string_view path);
// The same path for all that differ in numbers alone: "layers.*.block.wq".
std::string module_pattern(std::string_view path);

}  // namespace shw
