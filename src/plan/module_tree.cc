#include "plan/module_tree.h"

#include <algorithm>
#include <cstdio>

#include "plan/report.h"
#include "support/json_writer.h"

namespace shw {
namespace {

constexpr size_t kMaxDepth = 64;  // of nested modules, since plans are not trusted

bool is_number(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Module& child(Module& module, const std::string& name) {
  for (Module& m : module.modules)
    if (m.name == name) return m;
  module.modules.emplace_back().name = name;
  return module.modules.back();
}

Module& descend(Module& root, const std::vector<std::string>& names) {
  Module* at = &root;
  for (const std::string& name : names) at = &child(*at, name);
  return *at;
}

void add_parameters(const Plan& plan, Module& root) {
  const auto mesh_rank = static_cast<int>(plan.program.mesh.size());
  for (const Port& port : plan.program.ports) {
    if (port.role != PortRole::kParameter && port.role != PortRole::kBuffer) continue;
    std::vector<std::string> names = module_names(port.name.substr(port.name.find('.') + 1));
    if (names.empty()) continue;
    const std::string name = names.back();
    names.pop_back();
    auto& list = descend(root, names).parameters;
    const int64_t bytes =
        port.value.valid() ? plan.program.values[port.value].type.bytes() : int64_t{0};
    list.push_back({name, to_string(port.global), to_string(port.layout, mesh_rank), bytes});
  }
}

void add_costs(const NodeDecision& d, Module& module) {
  ++module.num_nodes;
  module.compute_us += d.compute_us;
  module.comm_us += d.comm_us;
  module.transition_us += d.transition_us;
}

void add_all(const Module& from, Module& to) {
  to.num_nodes += from.num_nodes;
  to.compute_us += from.compute_us;
  to.comm_us += from.comm_us;
  to.transition_us += from.transition_us;
  to.peak_bytes += from.peak_bytes;
}

bool alike(const Module& a, const Module& b) {
  const auto same = [](const ModuleParameter& x, const ModuleParameter& y) {
    return x.name == y.name && x.type == y.type && x.layout == y.layout;
  };
  return (a.name == b.name || (is_number(a.name) && is_number(b.name))) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(), same) &&
         std::equal(a.modules.begin(), a.modules.end(), b.modules.begin(), b.modules.end(), alike);
}

// Adds the costs of an equal module, including all submodules.
void join(const Module& from, Module& to) {
  add_all(from, to);
  for (size_t i = 0; i < to.modules.size(); ++i) join(from.modules[i], to.modules[i]);
}

// Joins adjacent equal numbered modules into one, at all levels. Then joins a module that has only
// one submodule with that submodule.
void fold(Module& module) {
  std::vector<Module> folded;
  Module first;  // before costs are added
  for (Module& m : module.modules) {
    if (!folded.empty() && is_number(first.name) && is_number(m.name) && alike(first, m)) {
      join(m, folded.back());
      ++folded.back().count;
      folded.back().name = first.name + ".." + m.name;
      continue;
    }
    first = m;
    folded.push_back(std::move(m));
  }
  for (Module& m : folded) {
    fold(m);
    while (m.modules.size() == 1 && m.parameters.empty() && m.modules[0].num_nodes == m.num_nodes &&
           m.modules[0].peak_bytes == m.peak_bytes) {
      Module only = std::move(m.modules[0]);
      only.name = m.name + "." + only.name;
      only.count *= m.count;
      m = std::move(only);
    }
  }
  module.modules = std::move(folded);
}

std::string line(const std::string& name, const Module& m) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, "%8u %14.3f %14.3f %12s", m.num_nodes, m.compute_us,
                m.comm_us, human_bytes(m.peak_bytes).c_str());
  return name + std::string(name.size() < 44 ? 44 - name.size() : 1, ' ') + numbers;
}

void print(const Module& m, const std::string& indent, std::string& text) {
  text += line(indent + m.name, m) +
          (m.count > 1 ? "  (" + std::to_string(m.count) + " alike)\n" : "\n");
  for (const ModuleParameter& p : m.parameters) {
    const std::string name = indent + "  ." + p.name;
    text += name + std::string(name.size() < 44 ? 44 - name.size() : 1, ' ') + "  " + p.layout +
            "  " + p.type + ", " + human_bytes(p.bytes_per_rank) + " a rank\n";
  }
  for (const Module& sub : m.modules) print(sub, indent + "  ", text);
}

void write(const Module& m, JsonWriter& j) {
  j.begin_object().member("name", m.name).member("count", m.count).member("nodes", m.num_nodes);
  j.member("compute", m.compute_us).member("comm", m.comm_us);
  j.member("transition", m.transition_us).member("peak_bytes", m.peak_bytes);
  j.key("parameters").begin_array();
  for (const ModuleParameter& p : m.parameters) {
    j.begin_object().member("name", p.name).member("type", p.type).member("layout", p.layout);
    j.member("bytes_per_rank", p.bytes_per_rank).end_object();
  }
  j.end_array().key("modules").begin_array();
  for (const Module& sub : m.modules) write(sub, j);
  j.end_array().end_object();
}

}  // namespace

std::vector<std::string> module_names(std::string_view path) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (names.size() < kMaxDepth && !name.empty() && name != "_export_root" && name != "L" &&
        name != "self" && name != "__dict__" && name != "_modules")
      names.emplace_back(name);
  };
  size_t start = 0;
  for (size_t i = 0; i <= path.size(); ++i)
    if (i == path.size() || std::string_view(".[]'").find(path[i]) != std::string_view::npos) {
      add(path.substr(start, i - start));
      start = i + 1;
    }
  return names;
}

std::string module_pattern(std::string_view path) {
  std::string pattern;
  for (const std::string& name : module_names(path))
    pattern += (pattern.empty() ? "" : ".") + (is_number(name) ? "*" : name);
  return pattern;
}

Module module_tree(const Plan& plan) {
  Module root;
  root.name = "model";
  add_parameters(plan, root);
  for (const NodeDecision& d : plan.summary.decisions) {
    add_costs(d, root);
    Module* at = &root;
    for (const std::string& name : module_names(d.module_path))
      add_costs(d, *(at = &child(*at, name)));
  }
  for (const MemoryShare& share : plan.summary.memory_shares) {
    root.peak_bytes += share.bytes;
    Module* at = &root;
    for (const std::string& name : module_names(share.module_path))
      (at = &child(*at, name))->peak_bytes += share.bytes;
  }
  fold(root);
  return root;
}

std::string module_tree_text(const Module& root) {
  std::string text =
      "module" + std::string(38, ' ') + "   nodes     compute µs        comm µs      at peak\n";
  print(root, "", text);
  return text;
}

std::string module_tree_json(const Module& root) {
  JsonWriter j;
  write(root, j);
  return j.take();
}

}  // namespace shw
