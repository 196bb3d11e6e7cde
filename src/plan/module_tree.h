// Presents a plan as the tree of the modules that its graph was traced from: the layouts of
// parameters, and for each module, including its submodules, the costs and the memory at the peak.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.h"

namespace shw {

struct ModuleParameter {
  std::string name;  // within its module: "weight"
  std::string type, layout;
  int64_t bytes_per_rank = 0;
};

struct Module {
  std::string name;    // "wq"; for several equal modules "0..31"
  uint32_t count = 1;  // of those
  uint32_t num_nodes = 0;
  double compute_us = 0, comm_us = 0, transition_us = 0;  // incl. submodules, of all equal modules
  int64_t peak_bytes = 0;  // held by a rank for it at the peak of a step; summed as the costs
  std::vector<ModuleParameter> parameters;  // of one
  std::vector<Module> modules;
};

// Adjacent numbered modules with equal parameters, layouts and submodules are listed once. Buffers
// count as parameters. Nodes without a module belong to the root.
Module module_tree(const Plan& plan);
std::string module_tree_text(const Module& root);
std::string module_tree_json(const Module& root);

// "_export_root.layers.0.__dict__['_modules']['block'].wq" → layers, 0, block, wq.
std::vector<std::string> module_names(std::string_view path);
// A common pattern for paths that differ only in numbers: "layers.*.block.wq".
std::string module_pattern(std::string_view path);

}  // namespace shw
