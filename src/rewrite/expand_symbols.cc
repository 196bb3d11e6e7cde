#include "rewrite/expand_symbols.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "graph/reader.h"
#include "ops/entries.h"
#include "rewrite/at_sizes.h"
#include "rewrite/verify.h"

namespace shw {
namespace {

using Mask = uint64_t;  // of symbols
static_assert(kMaxSymbols <= 64);
using Sizes = std::vector<int64_t>;  // one a symbol

Mask symbols_of(std::span<const Expr> exprs) {
  Mask mask = 0;
  for (const Expr& e : exprs)
    for (const auto& [symbol, factor] : e.terms) mask |= Mask{1} << symbol;
  return mask;
}

// By node: the symbols that its value depends on.
std::vector<Mask> dependencies(const Graph& g) {
  std::vector<Mask> masks(g.num_nodes(), 0);
  for (const auto& [at, exprs] : g.symbols().shapes) masks[at.first] |= symbols_of(exprs);
  for (const auto& [at, value] : g.symbols().attributes) masks[at.first] |= symbols_of(value.exprs);
  for (uint32_t i = 0; i < g.num_nodes(); ++i)
    for (NodeId o : g.operands(NodeId{i}))
      if (o.valid()) masks[i] |= masks[o.v];
  return masks;
}

Sizes restricted(const Sizes& sizes, Mask mask) {
  Sizes out = sizes;
  for (size_t s = 0; s < out.size(); ++s)
    if ((mask >> s & 1) == 0) out[s] = -1;
  return out;
}

// The values that an entry returns, and the inputs of which they are gradients or updates.
std::vector<NodeId> nodes_of_outputs(const Graph& g, const EntryInfo& entry) {
  std::vector<NodeId> nodes;
  for (uint32_t o : entry.outputs) {
    const OutputInfo& out = g.outputs()[o];
    if (out.node.valid()) nodes.push_back(out.node);
    if (out.of_input >= 0) nodes.push_back(g.inputs()[static_cast<size_t>(out.of_input)].node);
  }
  return nodes;
}

// Chooses the sizes for which each entry is made.
class Choice {
 public:
  Choice(const Graph& graph, const std::vector<EntryInfo>& entries, const std::vector<Mask>& masks,
         std::span<const BucketSizes> asked)
      : symbols_(graph.symbols().table), entries_(entries), asked_(asked) {
    const auto nodes = nodes_of_entries(graph);
    for (size_t e = 0; e < entries.size(); ++e) {
      Mask mask = 0;
      for (uint32_t i = 0; i < graph.num_nodes(); ++i)
        if (nodes[e][i]) mask |= masks[i];
      for (uint32_t k : entries[e].inputs) mask |= masks[graph.inputs()[k].node.v];
      for (NodeId n : nodes_of_outputs(graph, entries[e])) mask |= masks[n.v];
      used_.push_back(mask);
    }
  }

  // The buckets of each entry, from the smallest sizes to the largest; the first symbol varies
  // slowest.
  Result<std::vector<std::vector<Sizes>>> run() {
    for (const BucketSizes& b : asked_) SHW_RETURN_IF_ERROR(check(b));
    std::vector<std::vector<Sizes>> buckets;
    size_t total = 0;
    for (size_t e = 0; e < entries_.size(); ++e) {
      SHW_ASSIGN_OR_RETURN(buckets.emplace_back(), of_entry(e));
      total += buckets.back().size();
    }
    if (total > GraphLimits{}.max_entries)
      return invalid_argument("there are " + std::to_string(total) +
                              " buckets, more than the limit of " +
                              std::to_string(GraphLimits{}.max_entries));
    return buckets;
  }

 private:
  Status check(const BucketSizes& b) const {
    const auto symbol = std::ranges::find(symbols_, b.symbol, &Symbol::name);
    if (symbol == symbols_.end()) return no_symbol(b.symbol);
    const auto place = static_cast<size_t>(symbol - symbols_.begin());
    bool known = false, uses = false;
    for (size_t e = 0; e < entries_.size(); ++e) {
      if (!b.entry.empty() && entries_[e].name != b.entry) continue;
      known = true;
      uses |= (used_[e] >> place & 1) != 0;
    }
    if (!known)
      return invalid_argument("buckets of an entry '" + b.entry + "', which there is not");
    if (!uses)
      return invalid_argument("buckets of symbol '" + b.symbol + "', which " +
                              (b.entry.empty() ? "no entry" : "entry '" + b.entry + "'") +
                              (b.entry.empty() ? " depends on" : " does not depend on"));
    if (b.sizes.empty()) return invalid_argument("no sizes of symbol '" + b.symbol + "'");
    for (int64_t size : b.sizes) SHW_RETURN_IF_ERROR(check_size(*symbol, size));
    return {};
  }

  Status no_symbol(const std::string& name) const {
    std::string known;
    for (const Symbol& s : symbols_) known += (known.empty() ? "" : ", ") + s.name;
    return invalid_argument("buckets of a symbol '" + name + "', which the graph does not have" +
                            (known.empty() ? "" : "; it has " + known));
  }

  // Sizes stated for the entry itself take precedence over sizes for every entry.
  std::vector<int64_t> sizes_of(size_t entry, size_t symbol) const {
    std::vector<int64_t> sizes;
    for (const bool of_all : {false, true}) {
      for (const BucketSizes& b : asked_)
        if (b.symbol == symbols_[symbol].name &&
            (of_all ? b.entry.empty() : b.entry == entries_[entry].name))
          sizes.insert(sizes.end(), b.sizes.begin(), b.sizes.end());
      if (!sizes.empty()) break;
    }
    if (sizes.empty()) sizes = {symbols_[symbol].hint};
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  Result<std::vector<Sizes>> of_entry(size_t entry) const {
    std::vector<Sizes> buckets{Sizes(symbols_.size(), -1)};
    for (size_t s = 0; s < symbols_.size(); ++s) {
      if ((used_[entry] >> s & 1) == 0) continue;
      std::vector<Sizes> next;
      for (const Sizes& b : buckets)
        for (int64_t size : sizes_of(entry, s)) {
          next.push_back(b);
          next.back()[s] = size;
        }
      if (next.size() > GraphLimits{}.max_entries)
        return invalid_argument("entry '" + entries_[entry].name +
                                "' has more buckets than the limit of " +
                                std::to_string(GraphLimits{}.max_entries));
      buckets = std::move(next);
    }
    return buckets;
  }

  std::span<const Symbol> symbols_;
  const std::vector<EntryInfo>& entries_;
  std::span<const BucketSizes> asked_;
  std::vector<Mask> used_;  // by entry
};

class Expansion {
 public:
  Expansion(const Graph& graph, std::vector<Mask> masks, std::vector<std::vector<Sizes>> buckets)
      : from_(graph),
        masks_(std::move(masks)),
        entries_(graph.entries()),
        buckets_(std::move(buckets)),
        instances_(graph.num_nodes()) {}

  Result<Graph> run() {
    to_.derive_from(from_);
    number();
    for (uint32_t i = 0; i < from_.num_nodes(); ++i)
      for (auto& [sizes, made] : instances_[i])
        if (Status s = make(NodeId{i}, sizes, made); !s.ok()) {
          const std::string at = sizes_text(sizes, from_.symbols().table);
          return at_origin({s.code(), (at.empty() ? "" : "at " + at + ": ") + s.message()}, from_,
                           NodeId{i});
        }
    for (const auto& [output, bucket] : outputs_) add_output(output, bucket);
    return finish_entries();
  }

 private:
  // Determines which nodes to make, and numbers the outputs.
  void number() {
    for (const Output& o : list_outputs()) {
      numbers_.emplace(std::pair(o.output, key_of(o.output, *o.bucket)), outputs_.size());
      outputs_.push_back({o.output, *o.bucket});
    }
    const auto nodes = nodes_of_entries(from_);
    std::vector<uint8_t> seen(from_.num_nodes(), 0);
    for (size_t e = 0; e < entries_.size(); ++e)
      for (const Sizes& bucket : buckets_[e]) {
        for (uint32_t i = 0; i < from_.num_nodes(); ++i)
          if (nodes[e][i] || is_listed(e, NodeId{i})) want(NodeId{i}, bucket), seen[i] = 1;
        for (NodeId n : nodes_of_outputs(from_, entries_[e])) want(n, bucket), seen[n.v] = 1;
        // Also their operands, even if an earlier entry of the session makes them.
        for (uint32_t i = from_.num_nodes(); i-- > 0;)
          if (instances_[i].contains(restricted(bucket, masks_[i])))
            for (NodeId o : from_.operands(NodeId{i}))
              if (o.valid()) want(o, bucket), seen[o.v] = 1;
      }
    for (const InputInfo& in : from_.inputs())  // that no entry reads
      if (!seen[in.node.v]) want(in.node, hints_of(from_.symbols().table));
  }
  void want(NodeId n, const Sizes& sizes) { instances_[n.v][restricted(sizes, masks_[n.v])]; }
  bool is_listed(size_t entry, NodeId n) const {
    const int32_t input = from_.input_index(n);
    return input >= 0 &&
           std::ranges::binary_search(entries_[entry].inputs, static_cast<uint32_t>(input));
  }

  struct Output {
    uint32_t output;
    const Sizes* bucket;
  };
  // Lists the outputs in order, each once per distinct sizes.
  std::vector<Output> list_outputs() const {
    std::vector<Output> list;
    for (uint32_t o = 0; o < from_.outputs().size(); ++o) {
      std::vector<Sizes> seen;
      for (size_t e = 0; e < entries_.size(); ++e)
        for (const Sizes& bucket : buckets_[e])
          if (std::ranges::binary_search(entries_[e].outputs, o) &&
              std::ranges::find(seen, key_of(o, bucket)) == seen.end()) {
            seen.push_back(key_of(o, bucket));
            list.push_back({o, &bucket});
          }
    }
    return list;
  }
  // The sizes on which an output, or the input that it belongs to, depends.
  Sizes key_of(uint32_t output, const Sizes& bucket) const {
    const OutputInfo& out = from_.outputs()[output];
    Mask mask = out.node.valid() ? masks_[out.node.v] : 0;
    if (out.of_input >= 0) mask |= masks_[from_.inputs()[static_cast<size_t>(out.of_input)].node.v];
    return restricted(bucket, mask);
  }

  const Exprs* exprs_of(NodeId n, uint32_t result) const {
    const auto it = from_.symbols().shapes.find({n.v, result});
    return it == from_.symbols().shapes.end() ? nullptr : &it->second;
  }

  // The recorded type with its sizes as numbers.
  Result<TensorType> recorded_at(NodeId n, uint32_t result, const Sizes& sizes) const {
    const TensorType& type = *from_.results(n)[result];
    const Exprs* exprs = exprs_of(n, result);
    if (exprs == nullptr) return type;
    return type_at(type, *exprs, sizes, from_.symbols().table);
  }

  Result<Attrs> attrs_at(NodeId n, const Sizes& sizes) const {
    Attrs attrs = from_.attrs(n);
    const auto& all = from_.symbols().attributes;
    for (auto it = all.lower_bound({n.v, AttrKey{}}); it != all.end() && it->first.first == n.v;
         ++it)
      SHW_RETURN_IF_ERROR(set_at(it->first.second, it->second, sizes, attrs));
    return attrs;
  }

  std::string name_of(NodeId n, const Sizes& sizes) const {
    if (instances_[n.v].size() == 1) return from_.name(n);
    return from_.name(n) + "@" + sizes_text(sizes, from_.symbols().table);
  }

  Status make(NodeId n, const Sizes& sizes, NodeId& made) {
    const int32_t input = from_.input_index(n);
    if (input >= 0) {
      SHW_RETURN_IF_ERROR(make_input(n, static_cast<uint32_t>(input), sizes, made));
    } else {
      std::vector<NodeId> operands;
      for (NodeId o : from_.operands(n)) operands.push_back(o.valid() ? instance(o, sizes) : o);
      SHW_ASSIGN_OR_RETURN(Attrs attrs, attrs_at(n, sizes));
      SHW_ASSIGN_OR_RETURN(const auto results, results_at(n, sizes, operands, attrs));
      made = to_.add_node(from_.op(n), name_of(n, sizes), operands, std::move(attrs), results,
                          from_.is_tuple(n), from_.meta(n));
    }
    to_.set_origin(made, from_.origin(n));
    return {};
  }

  Status make_input(NodeId n, uint32_t input, const Sizes& sizes, NodeId& made) {
    InputInfo info = from_.inputs()[input];
    const bool shared = info.storage == InputStorage::kState || is_trained(info.role) ||
                        info.role == InputRole::kConstant;
    if (shared && masks_[n.v] != 0)
      return invalid_argument("'" + from_.full_name(info) +
                              "' is shared by all buckets, so its sizes are numbers: the largest "
                              "ones, of which each bucket takes a slice");
    SHW_ASSIGN_OR_RETURN(const TensorType type, recorded_at(n, 0, sizes));
    if (const Exprs* exprs = exprs_of(n, 0)) info.sizes = *exprs;
    if (info.role == InputRole::kTangent && info.position >= 0)
      info.position = tangent_of(info, sizes);
    made = to_.add_input(name_of(n, sizes), type, std::move(info), from_.meta(n));
    input_numbers_.emplace(made, static_cast<uint32_t>(to_.inputs().size() - 1));
    return {};
  }

  // The output at these sizes; if the tangent's sizes do not determine it, the first one.
  int32_t tangent_of(const InputInfo& info, const Sizes& sizes) const {
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const auto& [output, bucket] = outputs_[o];
      if (output != static_cast<uint32_t>(info.position)) continue;
      if (restricted(bucket, masks_[info.node.v]) == sizes) return static_cast<int32_t>(o);
    }
    return -1;
  }

  // The result types that the op infers from these operands. Their shapes must equal the recorded
  // ones.
  Result<std::vector<std::optional<TensorType>>> results_at(NodeId n, const Sizes& sizes,
                                                            std::span<const NodeId> operands,
                                                            const Attrs& attrs) const {
    const auto recorded = from_.results(n);
    std::vector<std::optional<TensorType>> results(recorded.begin(), recorded.end());
    if (masks_[n.v] == 0) return results;
    SHW_ASSIGN_OR_RETURN(const auto inferred, infer_results(to_, from_.op(n), operands, attrs));
    for (uint32_t r = 0; r < results.size(); ++r) {
      if (!results[r]) continue;
      SHW_ASSIGN_OR_RETURN(const TensorType said, recorded_at(n, r, sizes));
      if (r >= inferred.size() || !inferred[r] || inferred[r]->shape != said.shape)
        return invalid_argument(
            "result " + std::to_string(r) + " is recorded as " + to_string(said) + " but is " +
            (r < inferred.size() && inferred[r] ? to_string(*inferred[r]) : "none"));
      results[r]->shape = said.shape;
      results[r]->strides = inferred[r]->strides;
    }
    return results;
  }

  NodeId instance(NodeId n, const Sizes& sizes) const {
    return instances_[n.v].at(restricted(sizes, masks_[n.v]));
  }

  void add_output(uint32_t output, const Sizes& bucket) {
    OutputInfo out = from_.outputs()[output];
    if (out.node.valid()) {
      if (const Exprs* exprs = exprs_of(out.node, 0)) out.sizes = *exprs;
      out.node = instance(out.node, bucket);
    }
    if (out.of_input >= 0) out.of_input = static_cast<int32_t>(input_number(out.of_input, bucket));
    to_.add_output(std::move(out));
  }
  uint32_t input_number(int64_t input, const Sizes& bucket) const {
    return input_numbers_.at(instance(from_.inputs()[static_cast<size_t>(input)].node, bucket));
  }

  Result<Graph> finish_entries() {
    std::vector<EntryInfo> entries;
    std::vector<std::vector<uint32_t>> numbers(entries_.size());  // by old entry and bucket
    for (size_t e = 0; e < entries_.size(); ++e)
      for (const Sizes& bucket : buckets_[e]) {
        const EntryInfo& old = entries_[e];
        EntryInfo entry;
        entry.name = old.name;
        entry.weight = old.weight / static_cast<double>(buckets_[e].size());
        const std::string at = sizes_text(bucket, from_.symbols().table);
        if (!at.empty()) entry.bucket_of = old.name, entry.bucket = bucket;
        if (buckets_[e].size() > 1) entry.name += "@" + at;
        for (uint32_t i : old.inputs) entry.inputs.push_back(input_number(i, bucket));
        for (uint32_t o : old.outputs)
          entry.outputs.push_back(static_cast<uint32_t>(numbers_.at({o, key_of(o, bucket)})));
        std::ranges::sort(entry.inputs);
        for (uint32_t before : old.after) {
          SHW_ASSIGN_OR_RETURN(const size_t k, bucket_before(before, bucket, entry.name));
          entry.after.push_back(numbers[before][k]);
        }
        numbers[e].push_back(static_cast<uint32_t>(entries.size()));
        entries.push_back(std::move(entry));
      }
    to_.set_entries(std::move(entries));
    return std::move(to_);
  }

  // The bucket of an earlier entry of the session that has the same sizes.
  Result<size_t> bucket_before(uint32_t before, const Sizes& bucket,
                               const std::string& name) const {
    std::vector<size_t> fit;
    for (size_t k = 0; k < buckets_[before].size(); ++k) {
      bool same = true;
      for (size_t s = 0; s < bucket.size(); ++s) {
        const int64_t a = buckets_[before][k][s], b = bucket[s];
        same &= a == b || a < 0 || b < 0;
      }
      if (same) fit.push_back(k);
    }
    if (fit.size() == 1) return fit[0];
    return invalid_argument("entry '" + name + "' runs after '" + entries_[before].name +
                            "', of which " + std::to_string(fit.size()) +
                            " buckets have its sizes; there must be one");
  }

  const Graph& from_;
  const std::vector<Mask> masks_;                    // by node
  const std::vector<EntryInfo> entries_;             // of the graph with symbols
  const std::vector<std::vector<Sizes>> buckets_;    // by entry
  std::vector<std::map<Sizes, NodeId>> instances_;   // by node, by the sizes that it depends on
  std::vector<std::pair<uint32_t, Sizes>> outputs_;  // of the new graph: old output and bucket
  std::map<std::pair<uint32_t, Sizes>, size_t> numbers_;  // of outputs, by old output and key
  std::map<NodeId, uint32_t> input_numbers_;
  Graph to_;
};

}  // namespace

Result<BucketSizes> parse_bucket_sizes(std::string_view text) {
  const auto refuse = [&] {
    return invalid_argument("'" + std::string(text) +
                            "': expected ENTRY:SYMBOL=SIZE,SIZE or SYMBOL=SIZE,SIZE, such as "
                            "decode:cache=16,64");
  };
  BucketSizes b;
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return refuse();
  std::string_view left = text.substr(0, equals), right = text.substr(equals + 1);
  const size_t colon = left.rfind(':');
  if (colon == 0) return refuse();
  if (colon != std::string_view::npos)
    b.entry = left.substr(0, colon), left = left.substr(colon + 1);
  b.symbol = left;
  if (!is_symbol_name(left)) return refuse();
  for (;;) {
    const size_t comma = right.find(',');
    const std::string_view number = right.substr(0, comma);
    const auto end = number.data() + number.size();
    const auto r = std::from_chars(number.data(), end, b.sizes.emplace_back());
    if (r.ec != std::errc() || r.ptr != end) return refuse();
    if (comma == std::string_view::npos) return b;
    right = right.substr(comma + 1);
  }
}

Result<Graph> expand_symbols(const Graph& graph, std::span<const BucketSizes> buckets) {
  if (graph.symbols().table.empty() && buckets.empty()) return graph;
  std::vector<Mask> masks = dependencies(graph);
  const std::vector<EntryInfo> entries = graph.entries();
  SHW_ASSIGN_OR_RETURN(auto sizes, Choice(graph, entries, masks, buckets).run());
  SHW_ASSIGN_OR_RETURN(Graph expanded, Expansion(graph, std::move(masks), std::move(sizes)).run());
  SHW_RETURN_IF_ERROR(verify_graph(expanded));
  return expanded;
}

}  // namespace shw
