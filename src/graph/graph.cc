#include "graph/graph.h"

#include "support/hash.h"

namespace shw {

std::string_view input_role_prefix(InputRole role) {
  switch (role) {
    case InputRole::kParameter:
      return "param";
    case InputRole::kBuffer:
      return "buffer";
    case InputRole::kInput:
      return "input";
    case InputRole::kTangent:
      return "tangent";
    case InputRole::kSeed:
      return "seed";
    case InputRole::kOptimizerState:
      return "optimizer";
    case InputRole::kConstant:
      return "constant";
  }
  return "?";
}

NodeId Graph::add_node(OpKind op, std::string name, std::span<const NodeId> operands, Attrs attrs,
                       std::span<const std::optional<TensorType>> results, bool is_tuple,
                       NodeMeta meta) {
  if (name.empty()) name = "%" + std::to_string(nodes_.size());
  return add_node(op, operands, is_tuple,
                  std::make_shared<const NodeDetails>(
                      NodeDetails{std::move(name), std::move(attrs), std::move(meta), results}));
}

NodeId Graph::add_node(OpKind op, std::span<const NodeId> operands, bool is_tuple,
                       std::shared_ptr<const NodeDetails> details) {
  const Node node{op,
                  is_tuple,
                  static_cast<uint32_t>(operands_.size()),
                  static_cast<uint32_t>(operands.size()),
                  num_results_,
                  static_cast<uint32_t>(details->results.size())};
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  num_results_ += node.num_results;
  details_.push_back(std::move(details));
  return nodes_.push_back(node);
}

NodeId Graph::add_copy(const Graph& from, NodeId of, std::span<const NodeId> operands) {
  return add_node(from.op(of), operands, from.is_tuple(of), from.details_[of]);
}

void Graph::set_recompute(NodeId n, Recompute recompute) {
  NodeDetails details = *details_[n];
  details.meta.recompute = recompute;
  details_[n] = std::make_shared<const NodeDetails>(std::move(details));
}

NodeId Graph::add_node(OpKind op, std::string name, std::initializer_list<NodeId> operands,
                       Attrs attrs, const TensorType& result, NodeMeta meta) {
  const std::optional<TensorType> results[] = {result};
  return add_node(op, std::move(name), std::span(operands.begin(), operands.size()),
                  std::move(attrs), results, false, std::move(meta));
}

NodeId Graph::add_input(std::string node_name, const TensorType& type, InputInfo info,
                        NodeMeta meta) {
  const NodeId id = add_node(OpKind::kInput, std::move(node_name), {}, {}, type, std::move(meta));
  info.node = id;
  inputs_.push_back(std::move(info));
  return id;
}

void Graph::remove_unlisted_outputs() {
  constexpr int32_t kRemoved = -1;
  std::vector<int32_t> moved(outputs_.size(), kRemoved);
  for (const EntryInfo& e : entries_)
    for (uint32_t o : e.outputs) moved[o] = 0;
  std::vector<OutputInfo> listed;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    if (moved[o] == kRemoved) continue;
    moved[o] = static_cast<int32_t>(listed.size());
    listed.push_back(std::move(outputs_[o]));
  }
  outputs_ = std::move(listed);
  for (EntryInfo& e : entries_)
    for (uint32_t& o : e.outputs) o = static_cast<uint32_t>(moved[o]);
  for (InputInfo& in : inputs_)
    if (in.role == InputRole::kTangent && in.position >= 0)
      in.position = moved[static_cast<size_t>(in.position)];
}

int32_t Graph::input_index(NodeId n) const {
  if (op(n) != OpKind::kInput) return -1;
  // Inputs are appended in node order.
  size_t lo = 0, hi = inputs_.size();
  while (lo < hi) {
    const size_t mid = (lo + hi) / 2;
    (inputs_[mid].node < n ? lo : hi) = inputs_[mid].node < n ? mid + 1 : mid;
  }
  return lo < inputs_.size() && inputs_[lo].node == n ? static_cast<int32_t>(lo) : -1;
}

bool InputInfo::operator==(const InputInfo& o) const {
  const bool same_data =
      data == o.data || (data != nullptr && o.data != nullptr && *data == *o.data);
  return node == o.node && role == o.role && name == o.name && position == o.position &&
         storage == o.storage && same_data && sizes == o.sizes;
}

std::vector<EntryInfo> Graph::entries() const {
  if (!entries_.empty()) return entries_;
  EntryInfo step;
  for (uint32_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].role != InputRole::kConstant && inputs_[i].storage == InputStorage::kPort)
      step.inputs.push_back(i);
  for (uint32_t i = 0; i < outputs_.size(); ++i) step.outputs.push_back(i);
  return {std::move(step)};
}

NodeId Graph::origin(NodeId n) const {
  if (of_origins_ == nullptr) return n;
  return n.v < origins_.size() ? origins_[n.v] : kNoNode;
}

const std::string& Graph::origin_name(NodeId n) const {
  return of_origins_ == nullptr ? name(n) : (*of_origins_)[origin(n)]->name;
}

void Graph::derive_from(const Graph& source) {
  of_origins_ = source.of_origins_ != nullptr ? source.of_origins_
                                              : std::make_shared<const Details>(source.details_);
  symbols_.table = source.symbols_.table;
}

void Graph::set_origin(NodeId n, NodeId origin) {
  if (n.v >= origins_.size()) origins_.resize(n.v + 1, kNoNode);
  origins_[n.v] = origin;
}

std::string Graph::full_name(const InputInfo& input) const {
  return std::string(input_role_prefix(input.role)) + "." + input.name;
}

std::string Graph::full_name(const OutputInfo& output) const {
  if (output.role == OutputRole::kResult)
    return output.name.empty() || output.name == "0" ? "output" : "output." + output.name;
  const char* prefix = output.role == OutputRole::kGradient ? "grad." : "update.";
  const auto i = static_cast<size_t>(output.of_input);
  return prefix +
         (i < inputs_.size()
              ? (inputs_[i].role == InputRole::kParameter ? inputs_[i].name : full_name(inputs_[i]))
              : std::string("?"));
}

void Graph::reserve(size_t n) {
  nodes_.reserve(n);
  details_.reserve(n);
  operands_.reserve(2 * n);
}

UserTable::UserTable(const Graph& graph) : first_(graph.num_nodes() + 1, 0) {
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    for (NodeId o : graph.operands(NodeId{i}))
      if (o.valid()) ++first_[o.v + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  users_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    for (NodeId o : graph.operands(NodeId{i}))
      if (o.valid()) users_[next[o.v]++] = NodeId{i};
}

namespace {

// Checks that the expressions give the numbers at the hints.
Status check_exprs(std::span<const Expr> exprs, std::span<const int64_t> numbers,
                   const GraphSymbols& symbols, std::span<const int64_t> hints) {
  if (exprs.size() != numbers.size())
    return invalid_argument(std::to_string(exprs.size()) + " expressions stand for " +
                            std::to_string(numbers.size()) + " numbers");
  for (size_t i = 0; i < exprs.size(); ++i) {
    SHW_RETURN_IF_ERROR(check_expr(exprs[i], symbols.table.size()));
    const auto value = value_of(exprs[i], hints);
    if (value != numbers[i])
      return invalid_argument("at the hints " + to_string(exprs[i], symbols.table) + " is " +
                              (value ? std::to_string(*value) : "too large") + ", not " +
                              std::to_string(numbers[i]));
  }
  return {};
}

Status check_attr_exprs(const Attrs& attrs, AttrKey key, const AttrExprs& exprs,
                        const GraphSymbols& symbols, std::span<const int64_t> hints) {
  const AttrValue* value = attrs.find(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<int64_t>(value);
  const auto* list = value == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(value);
  if (exprs.is_list ? list == nullptr : number == nullptr)
    return invalid_argument("it has no such integers");
  return check_exprs(
      exprs.exprs,
      exprs.is_list ? std::span<const int64_t>(*list) : std::span<const int64_t>(number, 1),
      symbols, hints);
}

}  // namespace

Status check_symbols(const Graph& graph) {
  const GraphSymbols& symbols = graph.symbols();
  SHW_RETURN_IF_ERROR(check_symbols(symbols.table));
  const std::vector<int64_t> hints = hints_of(symbols.table);
  for (const auto& [at, exprs] : symbols.shapes) {
    const NodeId n{at.first};
    SHW_CHECK(n.v < graph.num_nodes());
    const auto results = graph.results(n);
    Status s = at.second < results.size() && results[at.second]
                   ? check_exprs(exprs, results[at.second]->shape.span(), symbols, hints)
                   : invalid_argument("there is no such result");
    if (!s.ok())
      return at_origin(
          {s.code(), "sizes of result " + std::to_string(at.second) + ": " + s.message()}, graph,
          n);
  }
  for (const auto& [at, value] : symbols.attributes) {
    const NodeId n{at.first};
    SHW_CHECK(n.v < graph.num_nodes());
    if (Status s = check_attr_exprs(graph.attrs(n), at.second, value, symbols, hints); !s.ok())
      return at_origin(
          {s.code(), "attribute '" + std::string(attr_key_name(at.second)) + "': " + s.message()},
          graph, n);
  }
  return {};
}

uint64_t fingerprint(const Graph& graph) {
  uint64_t h = graph.num_nodes();
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    h = hash_bytes(op_name(graph.op(n)), h);
    h = hash_span(graph.operands(n), h);
    h = hash_combine(h, hash_of(graph.attrs(n)));
    for (const auto& r : graph.results(n)) h = hash_combine(h, r ? hash_of(*r) : 0);
    const NodeMeta& m = graph.meta(n);
    const int64_t meta[] = {static_cast<int64_t>(m.phase), static_cast<int64_t>(m.recompute),
                            m.ac_graph_id, m.sequence_nr};
    h = hash_bytes(m.module_path, hash_bytes(meta, sizeof meta, h));
    h = hash_bytes(graph.name(n), h);
  }
  for (const InputInfo& in : graph.inputs()) {
    const int64_t v[] = {in.node.v, static_cast<int64_t>(in.role), in.position,
                         static_cast<int64_t>(in.storage)};
    h = hash_bytes(in.name, hash_bytes(v, sizeof v, h));
    if (in.data != nullptr) h = hash_bytes(in.data->data(), in.data->size(), h);
  }
  for (const OutputInfo& out : graph.outputs()) {
    const int64_t v[] = {out.node.v, static_cast<int64_t>(out.role), out.of_input, out.in_place};
    h = hash_bytes(out.name, hash_bytes(v, sizeof v, h));
  }
  for (const EntryInfo& e : graph.given_entries()) {
    h = hash_bytes(e.name, hash_bytes(&e.weight, sizeof e.weight, h));
    for (const auto* list : {&e.inputs, &e.outputs, &e.after})
      h = hash_span(std::span<const uint32_t>(*list), hash_combine(h, list->size()));
  }
  const GraphSymbols& symbols = graph.symbols();
  for (const Symbol& s : symbols.table) h = hash_combine(h, hash_of(s));
  for (const auto& [at, exprs] : symbols.shapes)
    h = hash_combine(hash_combine(hash_combine(h, at.first), at.second), hash_of(exprs));
  for (const auto& [at, value] : symbols.attributes)
    h = hash_bytes(attr_key_name(at.second),
                   hash_combine(hash_combine(h, at.first), hash_of(value.exprs)));
  return h;
}

}  // namespace shw
