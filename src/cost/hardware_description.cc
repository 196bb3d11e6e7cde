// Reads and writes hardware descriptions. The reader of each object accepts the keys it knows,
// keeps the base's values for absent ones, and refuses all other keys by name.
#include "cost/hardware_description.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "support/json_value.h"
#include "support/json_writer.h"

namespace shw::cost {
namespace {

constexpr std::string_view kArchitectures[] = {"ampere", "hopper", "blackwell"};
constexpr std::string_view kCollectives[] = {"all_gather", "reduce_scatter", "all_reduce",
                                             "all_to_all", "collective_permute"};
// By Basis; none is 0.
constexpr std::string_view kBases[] = {"", "measured", "interpolated", "analytical", "fallback"};
constexpr size_t kMaxNameBytes = 128;
constexpr double kMaxCount = 1 << 20;  // of devices, nodes, channels
constexpr double kMaxSize = 0x1p40;    // of a kernel

enum class Absent : uint8_t { kKeep, kRefuse };

class ObjectReader {
 public:
  // `value` is an object; `place` is its path in messages ("nccl").
  ObjectReader(const JsonValue& value, std::string place, Absent absent)
      : value_(value), place_(std::move(place)), absent_(absent) {}

  Status number(std::string_view key, double& out) {
    SHW_ASSIGN_OR_RETURN(const JsonValue* v, get(key, JsonValue::Kind::kNumber, "a number"));
    if (v != nullptr) out = v->number;
    return {};
  }
  Status count(std::string_view key, auto& out) {
    SHW_ASSIGN_OR_RETURN(const JsonValue* v, get(key, JsonValue::Kind::kNumber, "a number"));
    if (v == nullptr) return {};
    if (!(v->number >= 1 && v->number <= kMaxCount) || v->number != std::floor(v->number))
      return error(key, "is not a whole number from 1 to 1048576");
    out = static_cast<std::remove_reference_t<decltype(out)>>(v->number);
    return {};
  }
  Status flag(std::string_view key, bool& out) {
    SHW_ASSIGN_OR_RETURN(const JsonValue* v, get(key, JsonValue::Kind::kBool, "true or false"));
    if (v != nullptr) out = v->boolean;
    return {};
  }
  Status text(std::string_view key, std::string& out) {
    SHW_ASSIGN_OR_RETURN(const JsonValue* v, get(key, JsonValue::Kind::kString, "a string"));
    if (v != nullptr) out = v->string;
    return {};
  }
  // The index of one of `words`.
  Status choice(std::string_view key, std::span<const std::string_view> words, auto& out) {
    SHW_ASSIGN_OR_RETURN(const JsonValue* v, get(key, JsonValue::Kind::kString, "a string"));
    if (v == nullptr) return {};
    const auto at = std::find(words.begin(), words.end(), v->string);
    if (at == words.end()) return error(key, "is not one of " + list(words));
    out = static_cast<std::remove_reference_t<decltype(out)>>(at - words.begin());
    return {};
  }
  // nullptr: absent.
  Result<const JsonValue*> object(std::string_view key) {
    return get(key, JsonValue::Kind::kObject, "an object");
  }
  Result<const JsonValue*> array(std::string_view key) {
    return get(key, JsonValue::Kind::kArray, "an array");
  }
  bool is_null(std::string_view key) {
    const JsonValue* v = value_.find(key);
    if (v == nullptr || v->kind != JsonValue::Kind::kNull) return false;
    known_.push_back(key);
    return true;
  }
  bool has(std::string_view key) const { return value_.find(key) != nullptr; }

  // Checks that every key was consumed.
  Status finish() const {
    for (const std::string& key : value_.keys)
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        return error(key, "is not known here: known are " + list(known_));
    return {};
  }
  Status error(std::string_view key, const std::string& what) const {
    return invalid_argument("hardware: " + path(key) + " " + what);
  }
  std::string path(std::string_view key) const {
    return (place_.empty() ? "" : place_ + ".") + std::string(key);
  }

 private:
  Result<const JsonValue*> get(std::string_view key, JsonValue::Kind kind, const char* wanted) {
    known_.push_back(key);
    const JsonValue* v = value_.find(key);
    if (v == nullptr && absent_ == Absent::kRefuse)
      return error(key, "is missing, and there is no base that says it");
    if (v != nullptr && v->kind != kind) return error(key, std::string("is not ") + wanted);
    return v;
  }
  static std::string list(std::span<const std::string_view> words) {
    std::string text;
    for (std::string_view w : words) text += (text.empty() ? "" : ", ") + std::string(w);
    return text;
  }

  const JsonValue& value_;
  const std::string place_;
  Absent absent_;
  std::vector<std::string_view> known_;

 public:
  // From here on, absent keys keep their value.
  void the_rest_may_be_absent() { absent_ = Absent::kKeep; }
};

// The objects of an array, each with its path in messages.
template <class Read>
Status read_objects(const JsonValue& array, const std::string& place, Read&& read) {
  for (size_t i = 0; i < array.items.size(); ++i) {
    const std::string at = place + "[" + std::to_string(i) + "]";
    if (array.items[i].kind != JsonValue::Kind::kObject)
      return invalid_argument("hardware: " + at + " is not an object");
    SHW_RETURN_IF_ERROR(read(array.items[i], at));
  }
  return {};
}

Status read_sizes(const JsonValue& array, const std::string& place, std::vector<int64_t>& out) {
  for (const JsonValue& item : array.items) {
    if (item.kind != JsonValue::Kind::kNumber || !(item.number >= 1 && item.number <= kMaxSize) ||
        item.number != std::floor(item.number))
      return invalid_argument("hardware: " + place + " is not a list of whole numbers from 1 on");
    out.push_back(static_cast<int64_t>(item.number));
  }
  return {};
}

Status read_kernel(const JsonValue& value, const std::string& place, KernelTimes& out) {
  ObjectReader in(value, place, Absent::kRefuse);
  std::string dtype;
  SHW_RETURN_IF_ERROR(in.text("kernel", out.kernel));
  SHW_RETURN_IF_ERROR(in.text("dtype", dtype));
  const auto known = dtype_from_name(dtype);
  if (!known) return in.error("dtype", "is no dtype");
  out.dtype = *known;
  SHW_ASSIGN_OR_RETURN(const JsonValue* sizes, in.array("sizes"));
  SHW_ASSIGN_OR_RETURN(const JsonValue* us, in.array("us"));
  for (const JsonValue& axis : sizes->items) {
    if (axis.kind != JsonValue::Kind::kArray) return in.error("sizes", "is not a list of lists");
    SHW_RETURN_IF_ERROR(read_sizes(axis, in.path("sizes"), out.sizes.emplace_back()));
  }
  for (const JsonValue& item : us->items) {
    if (item.kind != JsonValue::Kind::kNumber) return in.error("us", "is not a list of numbers");
    out.us.push_back(item.number);
  }
  return in.finish();
}

// Reads a list that replaces that of the base.
template <class T, class Read>
Status read_list(const JsonValue& array, const std::string& place, Read&& read,
                 std::vector<T>& out) {
  out.clear();
  return read_objects(array, place, [&](const JsonValue& value, const std::string& at) {
    return read(value, at, out.emplace_back());
  });
}

Status read_basis(const JsonValue& value, const std::string& place, FigureBasis& out) {
  ObjectReader in(value, place, Absent::kRefuse);
  SHW_RETURN_IF_ERROR(in.text("figure", out.figure));
  SHW_RETURN_IF_ERROR(in.choice("basis", kBases, out.basis));
  if (out.basis == Basis{}) return in.error("basis", "is empty");
  return in.finish();
}

Status read_device(const JsonValue& value, Absent absent, DeviceSpec& device) {
  ObjectReader in(value, "device", absent);
  SHW_RETURN_IF_ERROR(in.number("memory_bytes_per_s", device.memory_bytes_per_s));
  in.the_rest_may_be_absent();
  SHW_RETURN_IF_ERROR(in.number("host_bytes_per_s", device.host_bytes_per_s));
  SHW_RETURN_IF_ERROR(in.number("efficiency", device.efficiency));
  SHW_RETURN_IF_ERROR(in.number("launch_us", device.launch_us));
  if (in.has("shared_cores")) SHW_RETURN_IF_ERROR(in.count("shared_cores", device.shared_cores));
  SHW_ASSIGN_OR_RETURN(const JsonValue* kernels, in.array("kernels"));
  if (kernels != nullptr)
    SHW_RETURN_IF_ERROR(read_list(*kernels, "device.kernels", read_kernel, device.kernels));
  SHW_ASSIGN_OR_RETURN(const JsonValue* rates, in.object("flops_per_s"));
  if (rates != nullptr) {
    ObjectReader of(*rates, "device.flops_per_s", Absent::kKeep);
    SHW_RETURN_IF_ERROR(of.number("f64", device.flops_f64));
    SHW_RETURN_IF_ERROR(of.number("f32", device.flops_f32));
    SHW_RETURN_IF_ERROR(of.number("f16", device.flops_f16));
    SHW_RETURN_IF_ERROR(of.number("bf16", device.flops_bf16));
    SHW_RETURN_IF_ERROR(of.number("i8", device.flops_i8));
    SHW_RETURN_IF_ERROR(of.number("f8", device.flops_f8));
    SHW_RETURN_IF_ERROR(of.finish());
  }
  return in.finish();
}

Status read_nccl(const JsonValue& value, std::optional<NcclConfig>& out) {
  ObjectReader in(value, "nccl", out ? Absent::kKeep : Absent::kRefuse);
  NcclConfig nccl = out.value_or(NcclConfig{});
  SHW_RETURN_IF_ERROR(in.choice("architecture", kArchitectures, nccl.arch));
  SHW_RETURN_IF_ERROR(in.count("devices_per_node", nccl.gpus_per_node));
  SHW_RETURN_IF_ERROR(in.number("intra_gb_per_s", nccl.bw_intra_gbps));
  SHW_RETURN_IF_ERROR(in.number("inter_gb_per_s", nccl.bw_inter_gbps));
  SHW_RETURN_IF_ERROR(in.flag("nvswitch", nccl.nvswitch));
  in.the_rest_may_be_absent();
  if (!out) nccl.num_channels = default_num_channels(nccl.arch);
  SHW_RETURN_IF_ERROR(in.count("channels", nccl.num_channels));
  SHW_RETURN_IF_ERROR(in.flag("collnet", nccl.has_collnet));
  SHW_RETURN_IF_ERROR(in.number("net_latency_us", nccl.net_latency_us));
  out = nccl;
  return in.finish();
}

Status read_ring(const JsonValue& value, RingConfig& ring) {
  ObjectReader in(value, "ring", Absent::kKeep);
  SHW_RETURN_IF_ERROR(in.count("devices_per_node", ring.devices_per_node));
  SHW_RETURN_IF_ERROR(in.number("start_us", ring.start_us));
  SHW_RETURN_IF_ERROR(in.number("intra_hop_us", ring.intra_hop_us));
  SHW_RETURN_IF_ERROR(in.number("inter_hop_us", ring.inter_hop_us));
  SHW_RETURN_IF_ERROR(in.number("intra_gb_per_s", ring.bw_intra_gbps));
  SHW_RETURN_IF_ERROR(in.number("inter_gb_per_s", ring.bw_inter_gbps));
  SHW_RETURN_IF_ERROR(in.number("all_to_all_factor", ring.all_to_all_factor));
  return in.finish();
}

Status read_measured(const JsonValue& array, std::vector<MeasuredCollective>& out) {
  out.clear();  // the base's measurements are of other machines
  return read_objects(array, "measured", [&](const JsonValue& value, const std::string& place) {
    MeasuredCollective m;
    ObjectReader in(value, place, Absent::kRefuse);
    SHW_RETURN_IF_ERROR(in.choice("collective", kCollectives, m.collective));
    SHW_RETURN_IF_ERROR(in.count("nodes", m.nodes));
    SHW_RETURN_IF_ERROR(in.count("devices_per_node", m.devices_per_node));
    SHW_ASSIGN_OR_RETURN(const JsonValue* lines, in.array("lines"));
    SHW_RETURN_IF_ERROR(in.finish());
    const auto read_line = [&](const JsonValue& line_value, const std::string& at) {
      ObjectReader line(line_value, at, Absent::kRefuse);
      MeasuredCollective::Line l{};
      SHW_RETURN_IF_ERROR(line.number("latency_us", l.latency_us));
      SHW_RETURN_IF_ERROR(line.number("gb_per_s", l.bw_gbps));
      m.lines.push_back(l);
      return line.finish();
    };
    SHW_RETURN_IF_ERROR(read_objects(*lines, place + ".lines", read_line));
    out.push_back(std::move(m));
    return Status();
  });
}

Result<Hardware> read_hardware(const JsonValue& root) {
  ObjectReader in(root, "", Absent::kKeep);
  Hardware hardware;
  std::string base, comment;
  SHW_RETURN_IF_ERROR(in.text("base", base));
  const bool has_base = in.has("base");
  if (has_base) {
    SHW_ASSIGN_OR_RETURN(hardware, hardware_by_name(base));
  }
  SHW_RETURN_IF_ERROR(in.text("name", hardware.name));
  SHW_RETURN_IF_ERROR(in.text("comment", comment));
  if (hardware.name.empty() || hardware.name.size() > kMaxNameBytes)
    return in.error("name", "is missing, empty or longer than 128 bytes");
  hardware.device.name = hardware.name;

  SHW_ASSIGN_OR_RETURN(const JsonValue* device, in.object("device"));
  if (device == nullptr && !has_base)
    return in.error("device", "is missing, and there is no base that says it");
  if (device != nullptr)
    SHW_RETURN_IF_ERROR(
        read_device(*device, has_base ? Absent::kKeep : Absent::kRefuse, hardware.device));
  if (in.is_null("nccl")) {
    hardware.nccl.reset();
  } else {
    SHW_ASSIGN_OR_RETURN(const JsonValue* nccl, in.object("nccl"));
    if (nccl != nullptr) SHW_RETURN_IF_ERROR(read_nccl(*nccl, hardware.nccl));
  }
  SHW_ASSIGN_OR_RETURN(const JsonValue* ring, in.object("ring"));
  if (ring != nullptr) SHW_RETURN_IF_ERROR(read_ring(*ring, hardware.ring));
  SHW_ASSIGN_OR_RETURN(const JsonValue* measured, in.array("measured"));
  if (measured != nullptr) SHW_RETURN_IF_ERROR(read_measured(*measured, hardware.measured));
  SHW_ASSIGN_OR_RETURN(const JsonValue* bases, in.array("bases"));
  if (bases != nullptr) SHW_RETURN_IF_ERROR(read_list(*bases, "bases", read_basis, hardware.bases));
  SHW_RETURN_IF_ERROR(in.finish());
  SHW_RETURN_IF_ERROR(check(hardware));
  return hardware;
}

void write_nccl(const NcclConfig& nccl, JsonWriter& out) {
  out.key("nccl").begin_object();
  out.member("architecture", kArchitectures[static_cast<size_t>(nccl.arch)])
      .member("devices_per_node", nccl.gpus_per_node)
      .member("intra_gb_per_s", nccl.bw_intra_gbps)
      .member("inter_gb_per_s", nccl.bw_inter_gbps)
      .member("nvswitch", nccl.nvswitch)
      .member("channels", nccl.num_channels)
      .member("collnet", nccl.has_collnet)
      .member("net_latency_us", nccl.net_latency_us);
  out.end_object();
}

void write_measured(const std::vector<MeasuredCollective>& measured, JsonWriter& out) {
  out.key("measured").begin_array();
  for (const MeasuredCollective& m : measured) {
    out.begin_object();
    out.member("collective", kCollectives[static_cast<size_t>(m.collective)])
        .member("nodes", m.nodes)
        .member("devices_per_node", m.devices_per_node);
    out.key("lines").begin_array();
    for (const MeasuredCollective::Line& l : m.lines)
      out.begin_object()
          .member("latency_us", l.latency_us)
          .member("gb_per_s", l.bw_gbps)
          .end_object();
    out.end_array().end_object();
  }
  out.end_array();
}

void write_kernels(const std::vector<KernelTimes>& kernels, JsonWriter& out) {
  out.key("kernels").begin_array();
  for (const KernelTimes& t : kernels) {
    out.begin_object().member("kernel", std::string_view(t.kernel));
    out.member("dtype", dtype_name(t.dtype)).key("sizes").begin_array();
    for (const std::vector<int64_t>& axis : t.sizes) {
      out.begin_array();
      for (const int64_t size : axis) out.value(size);
      out.end_array();
    }
    out.end_array().key("us").begin_array();
    for (const double us : t.us) out.value(us);
    out.end_array().end_object();
  }
  out.end_array();
}

void write_bases(const std::vector<FigureBasis>& bases, JsonWriter& out) {
  out.key("bases").begin_array();
  for (const FigureBasis& b : bases)
    out.begin_object()
        .member("figure", std::string_view(b.figure))
        .member("basis", kBases[static_cast<size_t>(b.basis)])
        .end_object();
  out.end_array();
}

}  // namespace

Result<Hardware> parse_hardware(std::string_view json) {
  Result<JsonValue> root = parse_json(json);
  if (!root.ok())
    return Status(root.status().code(), "hardware description: " + root.status().message());
  if (root->kind != JsonValue::Kind::kObject)
    return invalid_argument("hardware description: is not a JSON object");
  return read_hardware(*root);
}

std::string hardware_json(const Hardware& hardware) {
  const DeviceSpec& d = hardware.device;
  const RingConfig& r = hardware.ring;
  JsonWriter out;
  out.begin_object().member("name", hardware.name);
  out.key("device").begin_object().member("memory_bytes_per_s", d.memory_bytes_per_s);
  out.key("flops_per_s").begin_object();
  out.member("f64", d.flops_f64).member("f32", d.flops_f32).member("f16", d.flops_f16);
  out.member("bf16", d.flops_bf16).member("i8", d.flops_i8).member("f8", d.flops_f8);
  out.end_object();
  out.member("host_bytes_per_s", d.host_bytes_per_s);
  out.member("efficiency", d.efficiency).member("launch_us", d.launch_us);
  if (d.shared_cores > 0) out.member("shared_cores", d.shared_cores);
  if (!d.kernels.empty()) write_kernels(d.kernels, out);
  out.end_object();
  if (hardware.nccl) write_nccl(*hardware.nccl, out);
  out.key("ring").begin_object();
  out.member("devices_per_node", r.devices_per_node).member("start_us", r.start_us);
  out.member("intra_hop_us", r.intra_hop_us).member("inter_hop_us", r.inter_hop_us);
  out.member("intra_gb_per_s", r.bw_intra_gbps).member("inter_gb_per_s", r.bw_inter_gbps);
  out.member("all_to_all_factor", r.all_to_all_factor).end_object();
  if (!hardware.measured.empty()) write_measured(hardware.measured, out);
  if (!hardware.bases.empty()) write_bases(hardware.bases, out);
  return out.end_object().take();
}

Result<Hardware> find_hardware(std::string_view name_or_description) {
  const size_t first = name_or_description.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && name_or_description[first] == '{')
    return parse_hardware(name_or_description);
  return hardware_by_name(name_or_description);
}

}  // namespace shw::cost
