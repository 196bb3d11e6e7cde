#include "plan/memory_report.h"

#include <algorithm>
#include <functional>
#include <set>

#include "plan/module_tree.h"
#include "plan/report.h"
#include "support/format.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

constexpr size_t kMaxModules = 10;  // in text

// "optimizer_state 12.00 GiB, parameters 2.00 GiB".
std::string kinds_text(const std::map<std::string, int64_t>& by_kind) {
  std::vector<std::pair<int64_t, std::string>> list;
  for (const auto& [kind, bytes] : by_kind) list.emplace_back(bytes, kind);
  sort_stably(list, std::ranges::greater(), &std::pair<int64_t, std::string>::first);
  std::string text;
  for (auto& [bytes, kind] : list) {
    std::ranges::replace(kind, '_', ' ');
    text += (text.empty() ? "" : ", ") + kind + " " + human_bytes(bytes);
  }
  return text;
}

std::string row(const std::string& name, const ModuleMemory& m, double all) {
  return format("  %12s %5.1f %% %6u  %s: ", human_bytes(m.bytes).c_str(),
                100 * static_cast<double>(m.bytes) / all, m.count, name.c_str()) +
         kinds_text(m.by_kind) + "\n";
}

std::string modules_table(const PlanSummary& s) {
  const auto all = static_cast<double>(s.memory_peak_bytes);
  const std::vector<ModuleMemory> modules = memory_by_module(s);
  std::string text = format("  %12s %7s %6s  module\n", "bytes/rank", "of all", "count");
  for (size_t i = 0; i < std::min(modules.size(), kMaxModules); ++i)
    text += row(modules[i].module.empty() ? "(none)" : modules[i].module, modules[i], all);
  ModuleMemory others;
  for (size_t i = kMaxModules; i < modules.size(); ++i) {
    others.count += modules[i].count;
    others.bytes += modules[i].bytes;
    for (const auto& [kind, bytes] : modules[i].by_kind) others.by_kind[kind] += bytes;
  }
  if (others.bytes > 0) text += row("(others)", others, all);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> memory_by_kind(const PlanSummary& summary) {
  std::map<std::string, int64_t> bytes;
  for (const MemoryShare& share : summary.memory_shares) bytes[share.kind] += share.bytes;
  std::vector<std::pair<std::string, int64_t>> list(bytes.begin(), bytes.end());
  sort_stably(list, std::ranges::greater(), &std::pair<std::string, int64_t>::second);
  return list;
}

std::vector<ModuleMemory> memory_by_module(const PlanSummary& summary) {
  std::map<std::string, ModuleMemory> by_pattern;
  std::map<std::string, std::set<std::string>> modules;
  for (const MemoryShare& share : summary.memory_shares) {
    const std::string pattern = module_pattern(share.module_path);
    ModuleMemory& m = by_pattern[pattern];
    m.module = pattern;
    m.bytes += share.bytes;
    m.by_kind[share.kind] += share.bytes;
    modules[pattern].insert(share.module_path);
  }
  std::vector<ModuleMemory> list;
  for (auto& [pattern, m] : by_pattern) {
    m.count = static_cast<uint32_t>(modules[pattern].size());
    list.push_back(std::move(m));
  }
  sort_stably(list, std::ranges::greater(), &ModuleMemory::bytes);
  return list;
}

std::string memory_text(const PlanSummary& s) {
  if (s.memory_peak_bytes == 0) return "";
  std::string t = format("  planned: peak %s at %s", human_bytes(s.memory_peak_bytes).c_str(),
                         s.memory_peak_node.c_str());
  if (s.memory_limit_bytes > 0)
    t += format(" of %s; at the margin a GiB more would save %.3f µs (priced at %u points)",
                human_bytes(s.memory_limit_bytes).c_str(), s.memory_price_per_gib,
                s.memory_binding_points);
  t += format("\n  as lowered: %s with optimizer state and the copies that redistributions make\n",
              human_bytes(s.memory_program_bytes).c_str());
  if (s.memory_shares.empty()) return t;
  std::map<std::string, int64_t> kinds;
  for (const auto& [kind, bytes] : memory_by_kind(s)) kinds[kind] = bytes;
  return t + "  of the peak: " + kinds_text(kinds) + "\n" + modules_table(s) + "\n";
}

void write_memory(JsonWriter& j, const PlanSummary& s) {
  if (s.memory_peak_bytes == 0) return;
  j.key("memory").begin_object().member("limit_bytes", s.memory_limit_bytes);
  j.member("peak_bytes", s.memory_peak_bytes).member("at", s.memory_peak_node);
  j.member("price_us_per_gib", s.memory_price_per_gib);
  j.member("points", s.memory_binding_points);
  j.member("program_bytes", s.memory_program_bytes);
  j.key("by_kind").begin_object();
  for (const auto& [kind, bytes] : memory_by_kind(s)) j.member(kind, bytes);
  j.end_object().key("by_module").begin_array();
  for (const ModuleMemory& m : memory_by_module(s)) {
    j.begin_object().member("module", m.module).member("count", m.count);
    j.member("bytes", m.bytes).key("by_kind").begin_object();
    for (const auto& [kind, bytes] : m.by_kind) j.member(kind, bytes);
    j.end_object().end_object();
  }
  j.end_array().end_object();
}

}  // namespace shw
