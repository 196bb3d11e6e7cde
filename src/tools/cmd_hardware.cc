// shardwise hardware: what is known by name, or one machine in the file format that --hardware
// takes.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cost/hardware_description.h"
#include "tools/commands.h"
#include "tools/hardware_option.h"

namespace shw::tools {
namespace {

struct HardwareOptions {
  std::string name;
  bool json = false;
};

std::string links_text(const cost::Hardware& h) {
  char text[96];
  const double intra = h.nccl ? h.nccl->bw_intra_gbps : h.ring.bw_intra_gbps;
  const double inter = h.nccl ? h.nccl->bw_inter_gbps : h.ring.bw_inter_gbps;
  std::snprintf(text, sizeof text, "%-5s %8lld %9.4g %9.4g", h.nccl ? "nccl" : "ring",
                static_cast<long long>(h.devices_per_node()), intra, inter);
  return text;
}

void print_table(const std::vector<cost::Hardware>& all) {
  std::printf("%-12s %11s %9s %9s  %-5s %8s %9s %9s\n", "", "memory GB/s", "f32 TF/s", "bf16 TF/s",
              "links", "per node", "intra", "inter GB/s");
  for (const cost::Hardware& h : all)
    std::printf("%-12s %11.0f %9.4g %9.4g  %s%s\n", h.name.c_str(),
                h.device.memory_bytes_per_s / 1e9, h.device.flops_f32 / 1e12,
                h.device.flops_bf16 / 1e12, links_text(h).c_str(),
                h.measured.empty() ? "" : ", measured");
}

Status run_hardware(const HardwareOptions& o) {
  std::vector<cost::Hardware> chosen;
  if (o.name.empty()) {
    for (std::string_view name : cost::hardware_names()) {
      SHW_ASSIGN_OR_RETURN(cost::Hardware h, cost::hardware_by_name(name));
      chosen.push_back(std::move(h));
    }
  } else {
    SHW_ASSIGN_OR_RETURN(cost::Hardware h, read_hardware(o.name));
    chosen.push_back(std::move(h));
  }
  if (!o.json) {
    print_table(chosen);
  } else if (!o.name.empty()) {
    std::printf("%s\n", cost::hardware_json(chosen[0]).c_str());
  } else {
    for (size_t i = 0; i < chosen.size(); ++i)
      std::printf("%s%s", i == 0 ? "[" : ",\n", cost::hardware_json(chosen[i]).c_str());
    std::printf("]\n");
  }
  return {};
}

}  // namespace

void add_hardware(CommandLine& command_line) {
  auto o = std::make_shared<HardwareOptions>();
  Verb verb =
      command_line.verb("hardware", "List known hardware, or print a description to start from");
  verb.option("NAME", o->name, "A name or a description (.json); default: list all known names");
  verb.flag("--json", o->json, "Print JSON, in the format that --hardware reads");
  verb.runs([o] { return run_hardware(*o); });
}

}  // namespace shw::tools
