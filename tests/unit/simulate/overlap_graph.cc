#include "unit/simulate/overlap_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "import/json_file.h"

namespace shw::testing {
namespace {

using Json = nlohmann::json;
const std::string kData = std::string(SHW_TEST_DATA) + "/overlap/";

// From the narrowest to the widest. The wider of two operands determines the result.
constexpr std::pair<const char*, int64_t> kDtypes[] = {
    {"bool", 1}, {"int32", 4}, {"int64", 8}, {"bfloat16", 2}, {"float32", 4}, {"complex64", 8}};
int rank_of(const std::string& dtype) {
  for (int i = 0; i < static_cast<int>(std::size(kDtypes)); ++i)
    if (dtype == kDtypes[i].first) return i;
  ADD_FAILURE() << "dtype " << dtype;
  return 0;
}

struct Tensor {
  std::vector<int64_t> shape;
  std::string dtype;
  ValueId value;  // invalid: no tensor
  int64_t elements() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }
  int64_t bytes() const { return elements() * kDtypes[rank_of(dtype)].second; }
};
using Tensors = std::vector<Tensor>;

std::vector<int64_t> broadcast(std::vector<int64_t> a, std::vector<int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

class Reader {
 public:
  Reader(const Json& file, const CollectiveTable& table, bool waits)
      : file_(file), table_(table), waits_(waits) {
    for (const auto& [name, group] : file["groups"].items()) {
      groups_[name] = static_cast<uint8_t>(out_.program.mesh.size());
      out_.program.mesh.push_back({name, group["size"].get<int64_t>()});
    }
    out_.program.entries.emplace_back().name = "step";
  }

  OverlapGraph read() {
    for (const Json& node : file_["nodes"]) {
      if (node["op"] == "placeholder") add_input(node);
      if (node["op"] == "output") add_outputs(node["args"]);
      if (node["op"] == "call_function") add_call(node);
      if (::testing::Test::HasFailure()) return {};
    }
    ProgramEntry& entry = out_.program.entries[0];
    entry.num_steps = static_cast<uint32_t>(out_.program.steps.size());
    return std::move(out_);
  }

 private:
  void add_input(const Json& node) {
    const Json& v = node["val"];
    const auto [it, added] = inputs_.try_emplace(v["storage"].get<std::string>(), ValueId{});
    if (added) {
      it->second = new_value(v["storage_bytes"], StorageKind::kInput,
                             static_cast<uint32_t>(out_.program.ports.size()));
      out_.input_bytes += v["storage_bytes"].get<int64_t>();
      Program& p = out_.program;
      const auto name = node["name"].get<std::string>();  // others are saved activations
      const PortRole role = name.starts_with("primals") ? PortRole::kParameter : PortRole::kInput;
      p.entries[0].inputs.push_back(
          p.ports.push_back({node["name"].get<std::string>(), role, p.values[it->second].type,
                             Layout{}, it->second}));
    }
    values_[node["name"].get<std::string>()] = {
        {v["shape"].get<std::vector<int64_t>>(), v["dtype"].get<std::string>(), it->second}};
  }

  // Marks the values that the graph returns and that are not inputs.
  void add_outputs(const Json& args) {
    for (const Tensor& t : tensors_in(args)) {
      ProgramStorage& s = out_.program.storages[out_.program.values[t.value].storage];
      if (s.kind == StorageKind::kArena) s.kind = StorageKind::kSession;
    }
  }

  void add_call(const Json& node) {
    const std::string target = node["target"];
    op_ = target.substr(0, target.rfind('.'));
    if (target == "getitem") op_ = target;
    args_ = &node["args"];
    in_ = tensors_in(*args_);
    made_.clear();
    Tensors results = results_of(node);
    if (!waits_ && made_.empty()) {  // a window
      values_[node["name"].get<std::string>()] = std::move(results);
      return;
    }
    ProgramStep step;
    step.kernel = op_;
    for (const Tensor& t : in_) step.inputs.push_back(t.value);
    step.outputs = made_;
    if (op_.starts_with("_c10d_functional.")) communicate(step);
    if (step.stream == kComputeStream) step.cost_us = compute_us();
    out_.program.steps.push_back(std::move(step));
    values_[node["name"].get<std::string>()] = std::move(results);
  }

  // A collective starts when compute reaches its position. A wait is for the collective that made
  // the waited value.
  void communicate(ProgramStep& step) {
    Program& p = out_.program;
    const uint32_t storage = p.values[in_[0].value].storage.v;
    if (op_ == "_c10d_functional.wait_tensor") {
      if (const auto it = ready_.find(storage); it != ready_.end()) step.waits = {it->second};
      return;
    }
    const std::string name = op_.substr(std::string("_c10d_functional.").size());
    const std::string group = args_->back();
    const auto kind = name == "all_reduce"              ? CollectiveKind::kAllReduce
                      : name == "reduce_scatter_tensor" ? CollectiveKind::kReduceScatter
                                                        : CollectiveKind::kAllGather;
    step.collective = {kind, ReduceOp::kSum, {groups_.at(group)}};
    step.stream = communication_stream(p, step.collective.axes);
    step.cost_us = collective_us(name, group);
    step.records = p.num_events++;
    ready_[p.values[made_[0]].storage.v] = step.records;
    for (size_t i = p.steps.size(); i-- > 0;) {
      ProgramStep& before = p.steps[i];
      if (before.stream != kComputeStream) continue;
      if (before.records == kNoEvent) before.records = p.num_events++;
      step.waits = {before.records};
      break;
    }
  }

  // The time from the table. Groups that the table does not have are priced by a bandwidth.
  double collective_us(const std::string& name, const std::string& group) {
    const int64_t size = out_.program.mesh[groups_.at(group)].size;
    const int64_t bytes = in_[0].bytes();
    OverlapGraph::Total& total = out_.collectives[name + " " + group];
    ++total.count;
    total.operand_bytes += bytes;
    const auto ms = table_.ms(name, group, size, bytes);
    if (!ms) ++total.not_in_table;
    if (!ms) return 10 + static_cast<double>(bytes) / 50e3;
    total.table_ms += *ms;
    return *ms * 1e3;
  }

  // The roofline of an H100 at 0.7 of its rates. Views and waits take no time.
  double compute_us() {
    if (made_.empty()) return 0;
    int64_t bytes = 0;
    for (const Tensor& t : in_) bytes += t.bytes();
    for (ValueId v : made_) bytes += out_.program.storages[out_.program.values[v].storage].bytes;
    return std::max(flops_ / 0.7 / 989e6, static_cast<double>(bytes) / 0.7 / 3.35e6);
  }

  Tensors results_of(const Json& node) {
    flops_ = 0;
    if (op_ == "getitem")
      return {values_.at((*args_)[0]["n"].get<std::string>()).at((*args_)[1].get<size_t>())};
    if (op_ == "aten.split") return split();
    if (op_ == "aten._scaled_dot_product_cudnn_attention") return attention();
    if (op_ == "aten._scaled_dot_product_cudnn_attention_backward") {
      count_flops(10 * attention_size(in_[1], in_[2]));
      return {made(in_[1].shape, in_[1].dtype), made(in_[2].shape, in_[2].dtype),
              made(in_[3].shape, in_[3].dtype)};
    }
    if (std::optional<Tensor> view = view_of()) return {*view};
    if (std::optional<Tensor> moved = moved_of()) return {*moved};
    return {computed(node)};
  }

  // Ops that return views of their operands.
  std::optional<Tensor> view_of() {
    if (in_.empty()) return std::nullopt;
    const Json& a = *args_;
    Tensor x = in_[0];
    if (op_ == "aten.view") {
      x.shape = a[1].get<std::vector<int64_t>>();
      const auto open = std::ranges::find(x.shape, -1);
      if (open != x.shape.end()) *open = in_[0].elements() / -x.elements();
    } else if (op_ == "aten.permute") {
      for (size_t i = 0; i < x.shape.size(); ++i) x.shape[i] = in_[0].shape[a[1][i].get<size_t>()];
    } else if (op_ == "aten.expand") {
      x.shape = a[1].get<std::vector<int64_t>>();
    } else if (op_ == "aten.unsqueeze") {
      const auto dim = a[1].get<int64_t>();
      x.shape.insert(dim < 0 ? x.shape.end() + dim + 1 : x.shape.begin() + dim, 1);
    } else if (op_ == "aten.squeeze") {
      x.shape.erase(x.shape.begin() + a[1].get<int64_t>());
    } else if (op_ == "aten.view_as_complex") {
      x.shape.pop_back();
      x.dtype = "complex64";
    } else if (op_ == "aten.view_as_real") {
      x.shape.push_back(2);
      x.dtype = "float32";
    } else if (op_ != "aten._conj" && op_ != "_c10d_functional.wait_tensor") {
      return std::nullopt;
    }
    return x;
  }
  Tensors split() {
    const Json& a = *args_;
    const auto dim = a.size() > 2 ? a[2].get<size_t>() : 0;
    Tensors parts;
    for (int64_t left = in_[0].shape[dim], size = a[1]; left > 0; left -= size) {
      parts.push_back(in_[0]);
      parts.back().shape[dim] = std::min(left, size);
    }
    return parts;
  }

  // Collectives, and ops that join tensors.
  std::optional<Tensor> moved_of() {
    const Json& a = *args_;
    if (in_.empty()) return std::nullopt;
    std::vector<int64_t> shape = in_[0].shape;
    if (op_ == "_c10d_functional.all_gather_into_tensor") {
      shape[0] *= a[1].get<int64_t>();
    } else if (op_ == "_c10d_functional.reduce_scatter_tensor") {
      shape[0] /= a[2].get<int64_t>();
    } else if (op_ == "aten.cat") {
      const auto dim = a.size() > 1 ? a[1].get<size_t>() : 0;
      shape[dim] = 0;
      for (const Tensor& t : in_) shape[dim] += t.shape[dim];
    } else if (op_ != "_c10d_functional.all_reduce") {
      return std::nullopt;
    }
    return made(shape, in_[0].dtype);
  }

  Tensors attention() {
    const Tensor& q = in_[0];
    count_flops(4 * attention_size(q, in_[1]));
    Tensors results(9);  // output, log of the sum, …, seed and offset of the dropout, mask
    results[0] = made(q.shape, q.dtype);
    results[1] = made({q.shape[0], q.shape[1], q.shape[2], 1}, "float32");
    results[6] = made({}, "int64");
    results[7] = made({}, "int64");
    return results;
  }
  static double attention_size(const Tensor& q, const Tensor& k) {
    return static_cast<double>(q.elements()) * static_cast<double>(k.shape[2]);
  }
  void count_flops(double flops) {
    flops_ = flops;
    out_.flops += flops;
    ++out_.num_products;
  }

  Tensor computed(const Json& node) {
    static const std::set<std::string> kAlike = {"aten.pow",        "aten.rsqrt",    "aten.sigmoid",
                                                 "aten.neg",        "aten.exp",      "aten.clone",
                                                 "aten.reciprocal", "aten.index_put"};
    static const std::set<std::string> kPairs = {"aten.mul", "aten.add", "aten.sub", "aten.div",
                                                 "aten.bitwise_or"};
    const Json& a = *args_;
    if (op_ == "aten.full") return made(a[0], node["kwargs"]["dtype"]["dtype"]);
    const Tensor x = in_.at(0);
    if (kAlike.contains(op_)) return made(x.shape, x.dtype);
    if (kPairs.contains(op_)) return in_.size() == 1 ? made(x.shape, x.dtype) : joined(x, in_[1]);
    if (op_ == "aten.lt" || op_ == "aten.ge" || op_ == "aten.eq") return made(x.shape, "bool");
    if (op_ == "prims.convert_element_type") return made(x.shape, a[1]["dtype"]);
    if (op_ == "aten.where") {
      Tensor either = in_.at(1);
      either.shape = broadcast(x.shape, either.shape);
      return joined(either, in_.at(2));
    }
    if (op_ == "aten.mean" || op_ == "aten.sum") return reduced(x);
    if (op_ == "aten.mm") {
      count_flops(2.0 * static_cast<double>(x.elements() * in_.at(1).shape[1]));
      return made({x.shape[0], in_[1].shape[1]}, x.dtype);
    }
    if (op_ == "aten.embedding") {
      std::vector<int64_t> shape = in_.at(1).shape;
      shape.push_back(x.shape[1]);
      return made(shape, x.dtype);
    }
    ADD_FAILURE() << "no rule for " << op_;
    return x;
  }
  Tensor joined(const Tensor& a, const Tensor& b) {
    return made(broadcast(a.shape, b.shape),
                rank_of(a.dtype) < rank_of(b.dtype) ? b.dtype : a.dtype);
  }
  Tensor reduced(const Tensor& x) {
    const Json& a = *args_;
    const bool keep = a.size() > 2 && a[2].get<bool>();
    std::vector<int64_t> shape;
    for (size_t i = 0; i < x.shape.size(); ++i) {
      const bool gone = std::ranges::any_of(a[1], [&](const Json& d) {
        const auto dim = d.get<int64_t>();
        return (dim < 0 ? dim + static_cast<int64_t>(x.shape.size()) : dim) ==
               static_cast<int64_t>(i);
      });
      if (!gone || keep) shape.push_back(gone ? 1 : x.shape[i]);
    }
    return made(shape, x.dtype);
  }

  Tensor made(const std::vector<int64_t>& shape, const std::string& dtype) {
    Tensor t{shape, dtype, {}};
    t.value = new_value(t.bytes(), StorageKind::kArena);
    made_.push_back(t.value);
    return t;
  }
  ValueId new_value(int64_t bytes, StorageKind kind, uint32_t port = UINT32_MAX) {
    Program& p = out_.program;
    return p.values.push_back(
        {row_major(Dtype::kI8, {bytes}), p.storages.push_back({bytes, kind, port, -1}), 0});
  }

  // All tensors that appear anywhere in `args`, in order.
  Tensors tensors_in(const Json& args) const {
    Tensors found;
    if (args.is_object() && args.contains("n")) {
      for (const Tensor& t : values_.at(args["n"].get<std::string>()))
        if (t.value.valid()) found.push_back(t);
    } else if (args.is_array()) {
      for (const Json& item : args) {
        const Tensors more = tensors_in(item);
        found.insert(found.end(), more.begin(), more.end());
      }
    }
    return found;
  }

  const Json& file_;
  const CollectiveTable& table_;
  const bool waits_;
  OverlapGraph out_;
  std::map<std::string, uint8_t> groups_;
  std::map<std::string, ValueId> inputs_;  // by name of the storage
  std::map<std::string, Tensors> values_;  // by node
  std::map<uint32_t, uint32_t> ready_;     // event of the collective that wrote a storage
  // State of the current node.
  std::string op_;
  const Json* args_ = nullptr;
  Tensors in_;
  std::vector<ValueId> made_;
  double flops_ = 0;
};

}  // namespace

CollectiveTable::CollectiveTable(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  for (int i = 0; std::getline(in, line); ++i) {
    if (i < 2) continue;  // head
    Row& row = rows_.emplace_back();
    std::istringstream words(line);
    words >> row.label >> row.group_size >> row.collective;
    for (double ms; words >> ms;) row.ms.push_back(ms);
    EXPECT_EQ(row.ms.size(), kSizes) << path << ": " << line;
  }
  EXPECT_FALSE(rows_.empty()) << path;
}

std::optional<double> CollectiveTable::ms(const std::string& collective, const std::string& group,
                                          int64_t group_size, int64_t bytes) const {
  const auto row = std::ranges::find_if(rows_, [&](const Row& r) {
    return r.collective == collective && group.find(r.label) != std::string::npos &&
           (r.group_size == group_size || collective == "all_reduce");
  });
  if (row == rows_.end()) return std::nullopt;
  const double mib = static_cast<double>(bytes) / (1 << 20);
  const auto whole = static_cast<int64_t>(mib);
  if (whole < 1) return row->ms.front();
  size_t i = 0;
  while (i + 2 < kSizes && mib >= static_cast<double>(int64_t{2} << i)) ++i;
  if (whole == int64_t{1} << i) return row->ms[i];
  if (whole == int64_t{2} << i) return row->ms[i + 1];
  const auto below = static_cast<double>(int64_t{1} << i);  // beyond the last the line goes on
  return row->ms[i] + (row->ms[i + 1] - row->ms[i]) * (mib - below) / below;
}

OverlapGraph overlap_graph(const std::string& name, const std::string& table, bool waits) {
  const auto file = import::read_json_file(kData + name + ".graph.json.gz");
  EXPECT_TRUE(file.ok()) << file.status().message();
  if (!file.ok()) return {};
  const CollectiveTable times(kData + table);
  return Reader(*file, times, waits).read();
}

}  // namespace shw::testing
