// The devices known by name: their rates, and how clusters of them are connected.
#include "cost/hardware.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

namespace shw::cost {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kTiB = 1024.0 * kGiB;
constexpr double kTera = 1e12;

struct DeviceRow {
  std::string_view name;
  double memory_bytes_per_s, tflops_f64, tflops_f32, tflops_f16, tflops_bf16, tflops_i8, tflops_f8,
      host_gbps;
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

// Whether `word` occurs in `text` without an adjacent letter or digit: "a100" is in "nvidia
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

// Bandwidths: meta-pytorch/autoparallel (a54c252), whose A100 figures are PyTorch's. An NVL72 rack
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

// Links that NCCL's model does not cover. Data sheets state the one-way peak; as with device rates,
// 70 % of it is assumed to be reached. Use `shardwise calibrate` to measure instead.
RingConfig ring_of(std::string_view device) {
  constexpr double kReached = 0.70;
  RingConfig ring;
  if (device == "mi300x") {
    // AMD Instinct MI300X data sheet: 7 Infinity Fabric links of 128 GB/s (both directions), one to
    // each of the other 7 devices. Between nodes: one 400 Gb/s card per device, as in AMD's cluster
    // reference design.
    ring.bw_intra_gbps = kReached * 7 * 64;
    ring.bw_inter_gbps = kReached * 50;
  } else if (device == "l4") {
    // NVIDIA L4 data sheet: PCIe 4.0 ×16, 64 GB/s (both directions), no NVLink. Between nodes:
    // Google Cloud's g2-standard-96, 8 devices on 100 Gb/s.
    ring.bw_intra_gbps = kReached * 32;
    ring.bw_inter_gbps = kReached * 12.5 / 8;
  } else if (device == "cpu") {
    // Measured by tests/bench (bench_runtime, 2026-11-21, two cores of a Xeon at 2.3 GHz) in shared
    // memory: 4 KiB all-reduces of 4, 8 and 64 virtual ranks take 43, 59 and 516 µs; 16 MiB and 4
    // MiB pieces move at 1.4 to 1.7 GB/s per rank. All virtual ranks are on one node.
    ring = {.devices_per_node = 1 << 20,
            .start_us = 15,
            .intra_hop_us = 4,
            .inter_hop_us = 4,
            .bw_intra_gbps = 1.4,
            .bw_inter_gbps = 1.4,
            .all_to_all_factor = 1};
  }
  return ring;
}

void set_cpu_rates(DeviceSpec& device) {
  device.efficiency = 1;    // the rates are measured
  device.launch_us = 0.05;  // bench_runtime: a step takes 44 ns
}

// Within this range prices stay finite for all tensor sizes.
bool is_figure(double x) { return x >= 1e-6 && x <= 1e24; }
bool is_rate(double x) { return x == 0 || is_figure(x); }
bool is_time(double x) { return x >= 0 && x <= 1e12; }
bool is_count(int64_t x) { return x >= 1 && x <= 1 << 20; }

struct Rule {
  bool holds;
  const char* figure;
  const char* wanted;
};
constexpr char kFigure[] = "a number from 1e-6 to 1e24", kRate[] = "0 or a number up to 1e24",
               kTime[] = "a number from 0 to 1e12", kCount[] = "a whole number from 1 to 1048576";

template <size_t n>
Status check(const Rule (&rules)[n], const std::string& place) {
  for (const Rule& r : rules)
    if (!r.holds) return invalid_argument("hardware: " + place + r.figure + " is not " + r.wanted);
  return {};
}

// A table has a time for every point of its grid, and is the only one of its kernel and dtype.
Status check_kernel(std::span<const KernelTimes> all, size_t index) {
  const KernelTimes& t = all[index];
  const std::string place = "device.kernels[" + std::to_string(index) + "].";
  size_t points = 1;
  bool ascends = !t.sizes.empty() && t.sizes.size() <= KernelTimes::kMaxAxes;
  for (const std::vector<int64_t>& axis : t.sizes) {
    ascends = ascends && !axis.empty() && axis.front() >= 1 &&
              std::ranges::adjacent_find(axis, std::greater_equal()) == axis.end();
    points *= axis.size();
  }
  const bool is_alone = std::ranges::none_of(all.first(index), [&](const KernelTimes& other) {
    return other.kernel == t.kernel && other.dtype == t.dtype;
  });
  const Rule rules[] = {
      {!t.kernel.empty(), "kernel", "the name of a kernel"},
      {is_alone, "kernel", "measured for the first time in that dtype"},
      {ascends, "sizes", "one to three lists of ascending sizes"},
      {t.us.size() == points, "us", "a list of one time for each point of the grid"},
      {std::ranges::all_of(t.us, is_figure), "us", "a list of numbers from 1e-6 to 1e24"}};
  return check(rules, place);
}

Status check_device(const DeviceSpec& d) {
  const Rule rules[] = {
      {is_figure(d.memory_bytes_per_s), "memory_bytes_per_s", kFigure},
      {is_rate(d.flops_f64), "flops_per_s.f64", kRate},
      {is_rate(d.flops_f32), "flops_per_s.f32", kRate},
      {is_rate(d.flops_f16), "flops_per_s.f16", kRate},
      {is_rate(d.flops_bf16), "flops_per_s.bf16", kRate},
      {is_rate(d.flops_i8), "flops_per_s.i8", kRate},
      {is_rate(d.flops_f8), "flops_per_s.f8", kRate},
      {is_rate(d.host_bytes_per_s), "host_bytes_per_s", kRate},
      {d.efficiency >= 1e-6 && d.efficiency <= 1, "efficiency", "a number from 1e-6 to 1"},
      {is_time(d.launch_us), "launch_us", kTime},
      {d.shared_cores == 0 || is_count(d.shared_cores), "shared_cores", "0 or a number of cores"}};
  SHW_RETURN_IF_ERROR(check(rules, "device."));
  for (size_t i = 0; i < d.kernels.size(); ++i) SHW_RETURN_IF_ERROR(check_kernel(d.kernels, i));
  return {};
}

Status check_nccl(const NcclConfig& c) {
  const Rule rules[] = {{is_count(c.gpus_per_node), "devices_per_node", kCount},
                        {is_count(c.num_channels), "channels", kCount},
                        {is_figure(c.bw_intra_gbps), "intra_gb_per_s", kFigure},
                        {is_figure(c.bw_inter_gbps), "inter_gb_per_s", kFigure},
                        {is_time(c.net_latency_us), "net_latency_us", kTime}};
  return check(rules, "nccl.");
}

Status check_ring(const RingConfig& r) {
  const Rule rules[] = {{is_count(r.devices_per_node), "devices_per_node", kCount},
                        {is_time(r.start_us), "start_us", kTime},
                        {is_time(r.intra_hop_us), "intra_hop_us", kTime},
                        {is_time(r.inter_hop_us), "inter_hop_us", kTime},
                        {is_figure(r.bw_intra_gbps), "intra_gb_per_s", kFigure},
                        {is_figure(r.bw_inter_gbps), "inter_gb_per_s", kFigure},
                        {is_figure(r.all_to_all_factor), "all_to_all_factor", kFigure}};
  return check(rules, "ring.");
}

Status check_measured(const std::vector<MeasuredCollective>& measured) {
  for (size_t i = 0; i < measured.size(); ++i) {
    const MeasuredCollective& m = measured[i];
    const std::string place = "measured[" + std::to_string(i) + "].";
    const Rule rules[] = {{is_count(m.nodes), "nodes", kCount},
                          {is_count(m.devices_per_node), "devices_per_node", kCount},
                          {m.nodes * m.devices_per_node >= 2, "nodes", "of a group of several"},
                          {!m.lines.empty(), "lines", "a list of at least one"}};
    SHW_RETURN_IF_ERROR(check(rules, place));
    for (const MeasuredCollective& other : std::span(measured).first(i))
      if (other.collective == m.collective && other.nodes == m.nodes &&
          other.devices_per_node == m.devices_per_node)
        return invalid_argument("hardware: " + place +
                                "collective was measured among such a group already");
    for (const MeasuredCollective::Line& line : m.lines) {
      const Rule of_line[] = {{is_time(line.latency_us), "latency_us", kTime},
                              {is_figure(line.bw_gbps), "gb_per_s", kFigure}};
      SHW_RETURN_IF_ERROR(check(of_line, place + "lines."));
    }
  }
  return {};
}

}  // namespace

double sharing(const DeviceSpec& device, int64_t ranks) {
  if (device.shared_cores == 0) return 1;
  return std::max(1.0, static_cast<double>(ranks) / static_cast<double>(device.shared_cores));
}

int default_num_channels(Architecture arch) { return arch == Architecture::kAmpere ? 12 : 16; }

std::string_view hardware_name(size_t index) {
  return index < std::size(kDevices) ? std::string_view(kDevices[index].name) : std::string_view();
}

std::vector<std::string_view> hardware_names() {
  std::vector<std::string_view> names;
  for (const DeviceRow& d : kDevices) names.push_back(d.name);
  return names;
}

Result<Hardware> hardware_by_name(std::string_view name) {
  const std::string wanted = lower(name);
  const auto* row = std::find_if(std::begin(kDevices), std::end(kDevices),
                                 [&](const DeviceRow& d) { return contains_word(wanted, d.name); });
  if (row == std::end(kDevices)) {
    std::string known;
    for (std::string_view n : hardware_names())
      known += (known.empty() ? "" : ", ") + std::string(n);
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
                     .flops_i8 = row->tflops_i8 * kTera,
                     .flops_f8 = row->tflops_f8 * kTera,
                     .host_bytes_per_s = row->host_gbps * 1e9};
  if (row->name == "cpu") set_cpu_rates(hardware.device);
  hardware.nccl = nccl_of(row->name);
  hardware.ring = ring_of(row->name);
  return hardware;
}

Status check(const Hardware& hardware) {
  SHW_RETURN_IF_ERROR(check_device(hardware.device));
  return check_links(hardware);
}

Status check_links(const Hardware& hardware) {
  if (hardware.nccl) SHW_RETURN_IF_ERROR(check_nccl(*hardware.nccl));
  SHW_RETURN_IF_ERROR(check_ring(hardware.ring));
  return check_measured(hardware.measured);
}

}  // namespace shw::cost
