// The device table and the detection of a cluster's NCCL configuration from a device's name.
#include "cost/hardware.h"

#include <algorithm>
#include <cctype>

namespace shw::cost {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kTiB = 1024.0 * kGiB;
constexpr double kTera = 1e12;

struct DeviceRow {
  std::string_view name;
  double memory_bytes_per_s, tflops_f64, tflops_f32, tflops_f16, tflops_bf16, tflops_i8;
};

constexpr DeviceRow kDevices[] = {
#define DEVICE(...) {__VA_ARGS__},
#include "cost/tables/devices.inc"
#undef DEVICE
};

std::string lower(std::string_view text) {
  std::string s(text);
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Whether `word` stands in `text` with no letter or digit on either side: "a100" is in "nvidia
// a100-sxm4-80gb", but "t4" is not in "mt400".
bool contains_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) &&
        (end == text.size() || !is_word_char(text[end])))
      return true;
  }
  return false;
}

// Bandwidths: meta-pytorch/autoparallel (a54c252), whose A100 figures are PyTorch's; an NVL72 rack
// of B200 counts as one node.
std::optional<NcclConfig> nccl_of(std::string_view device) {
  const auto config = [](Architecture arch, int64_t gpus, double intra, double inter,
                         bool nvswitch) {
    return NcclConfig{.arch = arch,
                      .gpus_per_node = gpus,
                      .bw_intra_gbps = intra,
                      .bw_inter_gbps = inter,
                      .nvswitch = nvswitch,
                      .num_channels = default_num_channels(arch)};
  };
  if (device == "gb200" || device == "b200")
    return config(Architecture::kBlackwell, 72, 640, 50, true);
  if (device == "h200" || device == "h100") return config(Architecture::kHopper, 8, 320, 50, true);
  if (device == "a100" || device == "pg509")
    return config(Architecture::kAmpere, 8, 87.7, 25, false);
  return std::nullopt;
}

}  // namespace

int default_num_channels(Architecture arch) { return arch == Architecture::kAmpere ? 12 : 16; }

Result<Hardware> hardware_by_name(std::string_view name) {
  const std::string wanted = lower(name);
  const auto* row = std::find_if(std::begin(kDevices), std::end(kDevices),
                                 [&](const DeviceRow& d) { return contains_word(wanted, d.name); });
  if (row == std::end(kDevices)) {
    std::string known;
    for (const DeviceRow& d : kDevices) known += (known.empty() ? "" : ", ") + std::string(d.name);
    return invalid_argument("unknown hardware '" + std::string(name) + "': known are " + known);
  }
  Hardware hardware;
  hardware.name = row->name;
  hardware.device = {.name = std::string(row->name),
                     .memory_bytes_per_s = row->memory_bytes_per_s,
                     .flops_f64 = row->tflops_f64 * kTera,
                     .flops_f32 = row->tflops_f32 * kTera,
                     .flops_f16 = row->tflops_f16 * kTera,
                     .flops_bf16 = row->tflops_bf16 * kTera,
                     .flops_i8 = row->tflops_i8 * kTera};
  hardware.nccl = nccl_of(row->name);
  return hardware;
}

}  // namespace shw::cost
