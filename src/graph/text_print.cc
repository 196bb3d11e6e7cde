#include <unordered_map>

#include "graph/text.h"
#include "graph/text_names.h"

namespace shw {
namespace text {

std::string quote(std::string_view s) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string q = "\"";
  for (char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      q += '\\', q += c;
    } else if (c == '\n') {
      q += "\\n";
    } else if (c == '\t') {
      q += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      q += "\\x", q += kHex[byte >> 4], q += kHex[byte & 15];
    } else {
      q += c;
    }
  }
  return q + "\"";
}

std::string hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (uint8_t b : bytes) text += kHex[b >> 4], text += kHex[b & 15];
  return text;
}

namespace {
bool is_word(std::string_view s) {
  for (char c : s)
    if (!is_word_char(c)) return false;
  return !s.empty();
}

// For each text: whether another entry has the same text.
std::vector<bool> shared(const std::vector<std::string>& texts) {
  std::unordered_map<std::string_view, size_t> first;
  std::vector<bool> is_shared(texts.size(), false);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto [it, is_new] = first.try_emplace(texts[i], i);
    if (!is_new) is_shared[i] = is_shared[it->second] = true;
  }
  return is_shared;
}
}  // namespace

std::vector<std::string> input_references(const Graph& graph) {
  std::vector<std::string> names;
  for (const InputInfo& in : graph.inputs())
    names.push_back(in.role == InputRole::kParameter ? in.name : graph.full_name(in));
  const std::vector<bool> is_shared = shared(names);
  for (size_t i = 0; i < names.size(); ++i)
    if (!is_word(names[i]) || is_shared[i]) names[i] = "#" + std::to_string(i);
  return names;
}

}  // namespace text

namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) { name_nodes(); }

  std::string run() {
    for (const Symbol& s : graph_.symbols().table) print_symbol(s);
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      const NodeId n{i};
      if (graph_.op(n) == OpKind::kInput)
        print_input(n);
      else
        print_node(n);
    }
    print_outputs();
    for (const EntryInfo& e : graph_.given_entries()) print_entry(e);
    return std::move(out_);
  }

 private:
  // "%w" is the node named "w"; "%7" the one named "%7" (the name that add_node gives); other names
  // and those of several nodes become "%#index".
  void name_nodes() {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      std::string_view name = graph_.name(NodeId{i});
      const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
      const bool automatic = name == "%" + std::to_string(i);
      if (automatic) name.remove_prefix(1);
      const bool plain = automatic || (text::is_word(name) && !is_digit(name[0]));
      names.push_back(plain ? std::string(name) : std::string());
    }
    const std::vector<bool> is_shared = text::shared(names);
    for (size_t i = 0; i < names.size(); ++i)
      labels_.push_back(names[i].empty() || is_shared[i] ? "%#" + std::to_string(i)
                                                         : "%" + names[i]);
  }

  std::string definition(NodeId n) const {
    const std::string& label = labels_[n.v];
    return label[1] == '#' ? label + " " + text::quote(graph_.name(n)) : label;
  }
  std::string use(NodeId n) const { return n.valid() ? labels_[n.v] : "none"; }

  void print_symbol(const Symbol& s) {
    out_ += "symbol " + s.name + " min=" + std::to_string(s.min) + " max=" + std::to_string(s.max);
    if (s.divisor != 1) out_ += " divisor=" + std::to_string(s.divisor);
    out_ += " hint=" + std::to_string(s.hint) + "\n";
  }

  std::string list(std::span<const Expr> exprs) const {
    std::string text = "[";
    for (const Expr& e : exprs)
      text += (text.size() > 1 ? "," : "") + to_string(e, graph_.symbols().table);
    return text + "]";
  }

  std::string type(NodeId n, uint32_t result) const {
    const std::string numbers = to_string(*graph_.results(n)[result]);
    const auto it = graph_.symbols().shapes.find({n.v, result});
    if (it == graph_.symbols().shapes.end()) return numbers;
    return numbers.substr(0, numbers.find('[')) + list(it->second) +
           numbers.substr(numbers.find(']') + 1);
  }

  std::string attribute(NodeId n, AttrKey key, const AttrValue& value) const {
    const auto it = graph_.symbols().attributes.find({n.v, key});
    if (it != graph_.symbols().attributes.end())
      return it->second.is_list ? list(it->second.exprs)
                                : to_string(it->second.exprs[0], graph_.symbols().table);
    const auto* string = std::get_if<std::string>(&value);
    return string != nullptr ? text::quote(*string) : to_string(value);
  }

  void print_input(NodeId n) {
    const InputInfo& in = graph_.inputs()[static_cast<size_t>(graph_.input_index(n))];
    out_ += "input ";
    out_ += input_role_prefix(in.role);
    out_ += '.';
    out_ += text::is_word(in.name) ? in.name : text::quote(in.name);
    out_ += ": " + definition(n) + " : " + type(n, 0);
    print_meta(graph_.meta(n), in.position, in.storage == InputStorage::kState, in.data.get());
    out_ += '\n';
  }

  void print_node(NodeId n) {
    out_ += definition(n) + " = ";
    out_ += op_name(graph_.op(n));
    out_ += '(';
    const char* separator = "";
    for (NodeId o : graph_.operands(n)) out_ += separator + use(o), separator = ", ";
    for (const auto& [key, value] : graph_.attrs(n).items()) {
      out_ += separator;
      out_ += attr_key_name(key);
      out_ += '=';
      out_ += attribute(n, key, value);
      separator = ", ";
    }
    out_ += ") : ";
    print_types(n);
    print_meta(graph_.meta(n), -1, false, nullptr);
    out_ += '\n';
  }

  void print_types(NodeId n) {
    if (!graph_.is_tuple(n)) {
      out_ += type(n, 0);
      return;
    }
    out_ += '(';
    const char* separator = "";
    for (uint32_t r = 0; r < graph_.results(n).size(); ++r)
      out_ += separator + (graph_.results(n)[r] ? type(n, r) : "none"), separator = ", ";
    out_ += ')';
  }

  void print_meta(const NodeMeta& m, int32_t position, bool is_state,
                  const std::vector<uint8_t>* data) {
    const char* separator = " {";
    const auto item = [&](std::string_view key, std::string_view value) {
      out_ += separator;
      out_ += key;
      out_ += '=';
      out_ += value;
      separator = ", ";
    };
    if (position != -1) item("position", std::to_string(position));
    if (is_state) item("storage", "state");
    if (data != nullptr) item("data", text::quote(text::hex(*data)));
    if (m.phase != Phase::kForward) item("phase", text::kPhases[static_cast<size_t>(m.phase)]);
    if (m.sequence_nr != -1) item("seq", std::to_string(m.sequence_nr));
    if (m.recompute != Recompute::kUnset)
      item("recompute", text::kRecompute[static_cast<size_t>(m.recompute)]);
    if (m.ac_graph_id != -1) item("ac", std::to_string(m.ac_graph_id));
    if (!m.module_path.empty()) item("module", text::quote(m.module_path));
    if (!m.source.empty()) item("source", text::quote(m.source));
    if (separator[0] == ',') out_ += '}';
  }

  void print_outputs() {
    const std::vector<std::string> inputs = text::input_references(graph_);
    constexpr size_t kFewOutputs = 4;  // more are written one per line
    const bool many = graph_.outputs().size() > kFewOutputs;
    out_ += "return";
    const char* separator = "";
    for (const OutputInfo& output : graph_.outputs()) {
      out_ += separator;
      out_ += many ? "\n  " : " ";
      separator = ",";
      if (output.role == OutputRole::kResult) {
        out_ += "output";
        if (!output.name.empty())
          out_ += "." + (text::is_word(output.name) ? output.name : text::quote(output.name));
      } else {
        out_ += output.role == OutputRole::kGradient ? "grad." : "update.";
        const auto i = static_cast<size_t>(output.of_input);
        out_ += i < inputs.size() ? inputs[i] : std::string("?");
      }
      out_ += " = " + use(output.node);
      if (output.in_place) out_ += " in_place";
    }
    out_ += '\n';
  }

  void print_entry(const EntryInfo& e) {
    out_ += "entry " + (text::is_word(e.name) ? e.name : text::quote(e.name));
    if (e.weight != 1) out_ += " weight=" + to_string(AttrValue(e.weight));
    const auto list = [&](const char* key, const std::vector<uint32_t>& numbers) {
      out_ += key;
      for (size_t i = 0; i < numbers.size(); ++i)
        out_ += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
      out_ += ']';
    };
    list(" inputs=[", e.inputs);
    list(" outputs=[", e.outputs);
    if (!e.after.empty()) list(" after=[", e.after);
    out_ += '\n';
  }

  const Graph& graph_;
  std::vector<std::string> labels_;
  std::string out_;
};

}  // namespace

std::string print_graph(const Graph& graph) { return Printer(graph).run(); }

}  // namespace shw
