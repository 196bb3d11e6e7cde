#include <algorithm>
#include <unordered_map>

#include "graph/text.h"
#include "graph/text_lexer.h"
#include "graph/text_names.h"

namespace shw {
namespace {

using text::Lexer;
using text::parse_number;

class Parser {
 public:
  explicit Parser(std::string_view text) : lex_(text) {}

  Result<Graph> run() {
    for (;;) {
      if (lex_.at_end()) return lex_.fail("the graph does not end with 'return'");
      if (lex_.peek() == '%') {
        SHW_RETURN_IF_ERROR(node());
        continue;
      }
      const std::string_view keyword = lex_.word();
      if (keyword == "symbol") {
        SHW_RETURN_IF_ERROR(symbol());
      } else if (keyword == "input") {
        SHW_RETURN_IF_ERROR(input());
      } else if (keyword == "return") {
        SHW_RETURN_IF_ERROR(outputs());
        SHW_RETURN_IF_ERROR(entries());
        return std::move(graph_);
      } else {
        return lex_.fail("expected 'symbol', 'input', a node or 'return'");
      }
    }
  }

 private:
  // symbol NAME min=1 max=64 divisor=8 hint=16
  Status symbol() {
    std::vector<Symbol>& table = graph_.symbols().table;
    if (graph_.num_nodes() > 0) return lex_.fail("symbols stand before nodes");
    Symbol s;
    s.name = lex_.word();
    bool has_max = false, has_hint = false;
    const auto is_item = [](std::string_view w) {
      return w == "min" || w == "max" || w == "divisor" || w == "hint";
    };
    while (!lex_.at_end() && is_item(lex_.peek_word())) {
      const std::string_view key = lex_.word();
      SHW_RETURN_IF_ERROR(lex_.expect('='));
      int64_t& value = key == "min"    ? s.min
                       : key == "max"  ? s.max
                       : key == "hint" ? s.hint
                                       : s.divisor;
      if (!parse_number(lex_.word(), &value)) return lex_.fail("expected an integer");
      has_max |= key == "max";
      has_hint |= key == "hint";
    }
    if (!has_max) return lex_.fail("a symbol has a largest value, 'max'");
    if (!has_hint) s.hint = s.max;
    table.push_back(std::move(s));
    if (const Status status = check_symbols(table); !status.ok())
      return lex_.fail(status.message());
    hints_ = hints_of(table);
    return {};
  }

  // %name, %7, or %#7 "name": the name of the next node.
  Status definition(std::string* name) {
    SHW_RETURN_IF_ERROR(lex_.expect('%'));
    const NodeId next{graph_.num_nodes()};
    if (lex_.accept_here('#')) {
      uint32_t index = 0;
      if (!parse_number(lex_.word_here(), &index) || index != next.v)
        return lex_.fail("this is node #" + std::to_string(next.v));
      if (!lex_.accept('"')) return lex_.fail("expected the name in quotes");
      return lex_.quoted_rest(name);
    }
    const std::string_view label = lex_.word_here();
    if (label.empty()) return lex_.fail("expected a name after '%'");
    if (!labels_.emplace(label, next).second)
      return lex_.fail("%" + std::string(label) + " is defined twice");
    const bool number =
        std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
    *name = (number ? "%" : "") + std::string(label);
    return {};
  }

  // %name, %#7 or none.
  Status use(NodeId* out) {
    *out = kNoNode;
    if (!lex_.accept('%'))
      return lex_.word() == "none" ? Status() : lex_.fail("expected a value or 'none'");
    if (lex_.accept_here('#')) {
      if (!parse_number(lex_.word_here(), &out->v) || out->v >= graph_.num_nodes())
        return lex_.fail("no node of this number comes before");
      return {};
    }
    const std::string_view label = lex_.word_here();
    const auto it = labels_.find(label);
    if (it == labels_.end())
      return lex_.fail("%" + std::string(label) + " is not defined before its use");
    *out = it->second;
    return {};
  }

  // After a prefix such as "param.": a word or a quoted text.
  Status name_here(std::string* out) {
    if (lex_.accept_here('"')) return lex_.quoted_rest(out);
    *out = lex_.word_here();
    return {};
  }

  Status input() {
    InputInfo info;
    const std::string_view word = lex_.word();
    const size_t dot = word.find('.');
    if (dot == std::string_view::npos) return lex_.fail("expected ROLE.NAME");
    if (!role(word.substr(0, dot), &info.role))
      return lex_.fail("unknown role '" + std::string(word.substr(0, dot)) + "'");
    info.name = word.substr(dot + 1);
    if (info.name.empty()) SHW_RETURN_IF_ERROR(name_here(&info.name));
    SHW_RETURN_IF_ERROR(lex_.expect(':'));
    std::string name;
    SHW_RETURN_IF_ERROR(definition(&name));
    SHW_RETURN_IF_ERROR(lex_.expect(':'));
    std::optional<TensorType> type;
    SHW_RETURN_IF_ERROR(tensor_type(0, &type));
    if (!type) return lex_.fail("an input has a type");
    NodeMeta meta;
    SHW_RETURN_IF_ERROR(metadata(&meta, &info));
    graph_.add_input(std::move(name), *type, std::move(info), std::move(meta));
    return {};
  }

  static bool role(std::string_view word, InputRole* out) {
    for (InputRole r :
         {InputRole::kParameter, InputRole::kBuffer, InputRole::kInput, InputRole::kTangent,
          InputRole::kSeed, InputRole::kOptimizerState, InputRole::kConstant})
      if (input_role_prefix(r) == word) return *out = r, true;
    return false;
  }

  Status node() {
    std::string name;
    SHW_RETURN_IF_ERROR(definition(&name));
    SHW_RETURN_IF_ERROR(lex_.expect('='));
    const std::string_view op_word = lex_.word();
    const auto op = op_from_name(op_word);
    if (!op || *op == OpKind::kInput) return lex_.fail("unknown op '" + std::string(op_word) + "'");
    SHW_RETURN_IF_ERROR(lex_.expect('('));
    std::vector<NodeId> operands;
    Attrs attrs;
    while (!lex_.accept(')')) {
      if (!operands.empty() || !attrs.empty()) SHW_RETURN_IF_ERROR(lex_.expect(','));
      SHW_RETURN_IF_ERROR(argument(&operands, &attrs));
    }
    SHW_RETURN_IF_ERROR(lex_.expect(':'));
    std::vector<std::optional<TensorType>> results;
    bool is_tuple = false;
    SHW_RETURN_IF_ERROR(result_types(&results, &is_tuple));
    NodeMeta meta;
    SHW_RETURN_IF_ERROR(metadata(&meta, nullptr));
    graph_.add_node(*op, std::move(name), operands, std::move(attrs), results, is_tuple,
                    std::move(meta));
    return {};
  }

  Status argument(std::vector<NodeId>* operands, Attrs* attrs) {
    std::string_view word;
    if (lex_.peek() != '%') {
      word = lex_.word();
      if (word.empty()) return lex_.fail("expected an operand or an attribute");
    }
    if (word.empty() || word == "none") {
      if (!attrs->empty()) return lex_.fail("operands stand before attributes");
      NodeId id = kNoNode;
      if (word.empty()) SHW_RETURN_IF_ERROR(use(&id));
      operands->push_back(id);
      return {};
    }
    const auto key = attr_key_from_name(word);
    if (!key) return lex_.fail("unknown attribute '" + std::string(word) + "'");
    if (attrs->has(*key)) return lex_.fail("'" + std::string(word) + "' stands twice");
    SHW_RETURN_IF_ERROR(lex_.expect('='));
    AttrValue value;
    SHW_RETURN_IF_ERROR(attribute_value(*key, &value));
    attrs->set(*key, std::move(value));
    return {};
  }

  Status attribute_value(AttrKey key, AttrValue* out) {
    if (lex_.accept('"')) {
      std::string s;
      SHW_RETURN_IF_ERROR(lex_.quoted_rest(&s));
      *out = std::move(s);
      return {};
    }
    if (lex_.accept('[')) {
      std::vector<int64_t> ints;
      AttrExprs exprs{{}, true};
      SHW_RETURN_IF_ERROR(integers(']', &ints, &exprs.exprs));
      keep(key, std::move(exprs));
      *out = std::move(ints);
      return {};
    }
    const std::string word = expression();
    int64_t integer = 0;
    double real = 0;
    if (word == "true" || word == "false") {
      *out = word == "true";
    } else if (const auto dtype = dtype_from_name(word)) {
      *out = *dtype;
    } else if (parse_number(word, &integer)) {
      *out = integer;
    } else if (parse_number(word, &real)) {
      *out = real;
    } else if (const auto expr = parse_expr(word, graph_.symbols().table)) {
      const auto value = value_of(*expr, hints_);
      if (!value) return lex_.fail("at the hints the value is too large");
      *out = *value;
      keep(key, {{*expr}, false});
    } else {
      return lex_.fail("expected a number, true, false, a dtype, [integers] or \"text\"");
    }
    return {};
  }

  // A word, or an expression such as 2*cache+1, whose words are joined by *.
  std::string expression() {
    std::string text(lex_.word());
    while (lex_.accept_here('*')) text += "*" + std::string(lex_.word_here());
    return text;
  }

  // Keeps the expressions of an attribute of the next node.
  void keep(AttrKey key, AttrExprs exprs) {
    if (has_symbols(exprs.exprs))
      graph_.symbols().attributes.emplace(std::pair(graph_.num_nodes(), key), std::move(exprs));
  }

  // Reads a list after its opening bracket. Expressions of symbols are allowed only if `exprs` is
  // given.
  Status integers(char close, std::vector<int64_t>* out, Exprs* exprs) {
    const std::span<const Symbol> symbols = graph_.symbols().table;
    while (!lex_.accept(close)) {
      if (!out->empty()) SHW_RETURN_IF_ERROR(lex_.expect(','));
      const auto expr =
          parse_expr(expression(), exprs == nullptr ? std::span<const Symbol>() : symbols);
      if (!expr) return lex_.fail("expected an integer");
      const auto value = value_of(*expr, hints_);
      if (!value) return lex_.fail("at the hints the value is too large");
      out->push_back(*value);
      if (exprs != nullptr) exprs->push_back(*expr);
    }
    return {};
  }

  Status result_types(std::vector<std::optional<TensorType>>* out, bool* is_tuple) {
    *is_tuple = lex_.accept('(');
    if (!*is_tuple) {
      out->emplace_back();
      SHW_RETURN_IF_ERROR(tensor_type(0, &out->back()));
      return out->back() ? Status() : lex_.fail("only a place of a tuple may hold nothing");
    }
    while (!lex_.accept(')')) {
      if (!out->empty()) SHW_RETURN_IF_ERROR(lex_.expect(','));
      out->emplace_back();
      SHW_RETURN_IF_ERROR(tensor_type(static_cast<uint32_t>(out->size() - 1), &out->back()));
    }
    return {};
  }

  Status dims(char close, Dims* out, Exprs* exprs) {
    std::vector<int64_t> ints;
    SHW_RETURN_IF_ERROR(integers(close, &ints, exprs));
    if (ints.size() > static_cast<size_t>(kMaxRank))
      return lex_.fail("a tensor has at most " + std::to_string(kMaxRank) + " dims");
    *out = Dims(std::span<const int64_t>(ints));
    return {};
  }

  // f32[4,8]{1,4}, f32[2*cache,8] or none; of this result of the next node.
  Status tensor_type(uint32_t result, std::optional<TensorType>* out) {
    const std::string_view word = lex_.word();
    if (word == "none") return {};
    const auto dtype = dtype_from_name(word);
    if (!dtype) return lex_.fail("unknown dtype '" + std::string(word) + "'");
    TensorType type;
    type.dtype = *dtype;
    SHW_RETURN_IF_ERROR(lex_.expect('['));
    Exprs sizes;
    SHW_RETURN_IF_ERROR(dims(']', &type.shape, &sizes));
    type.strides = row_major_strides(type.shape);
    if (lex_.accept_here('{')) SHW_RETURN_IF_ERROR(dims('}', &type.strides, nullptr));
    const Status status = check_tensor_type(type);
    if (!status.ok()) return lex_.fail(status.message());
    if (has_symbols(sizes))
      graph_.symbols().shapes.emplace(std::pair(graph_.num_nodes(), result), std::move(sizes));
    *out = type;
    return {};
  }

  // {key=value, …} or nothing. Keys of inputs are allowed only if `input` is not null.
  Status metadata(NodeMeta* meta, InputInfo* input) {
    if (!lex_.accept('{')) return {};
    bool first = true;
    while (!lex_.accept('}')) {
      if (!first) SHW_RETURN_IF_ERROR(lex_.expect(','));
      first = false;
      const std::string_view key = lex_.word();
      if (!is_meta_key(key, input != nullptr))
        return lex_.fail("unknown metadata '" + std::string(key) + "'");
      SHW_RETURN_IF_ERROR(lex_.expect('='));
      if (key == "module" || key == "source") {
        SHW_RETURN_IF_ERROR(lex_.expect('"'));
        SHW_RETURN_IF_ERROR(lex_.quoted_rest(key == "module" ? &meta->module_path : &meta->source));
        continue;
      }
      if (key == "data") {
        SHW_RETURN_IF_ERROR(data(input));
        continue;
      }
      const std::string_view value = lex_.word();
      bool good = true;
      if (key == "storage")
        good = value == "state", input->storage = InputStorage::kState;
      else if (key == "phase")
        good = enumerator(text::kPhases, value, &meta->phase);
      else if (key == "recompute")
        good = enumerator(text::kRecompute, value, &meta->recompute);
      else if (key == "seq")
        good = parse_number(value, &meta->sequence_nr);
      else if (key == "ac")
        good = parse_number(value, &meta->ac_graph_id);
      else
        good = parse_number(value, &input->position);
      if (!good) return lex_.fail("bad value '" + std::string(value) + "'");
    }
    return {};
  }

  // Pairs of hexadecimal digits in quotes.
  Status data(InputInfo* input) {
    std::string digits;
    SHW_RETURN_IF_ERROR(lex_.expect('"'));
    SHW_RETURN_IF_ERROR(lex_.quoted_rest(&digits));
    std::vector<uint8_t> bytes(digits.size() / 2);
    bool good = digits.size() % 2 == 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const char* pair = digits.data() + 2 * i;
      good &= std::from_chars(pair, pair + 2, bytes[i], 16).ptr == pair + 2;
    }
    if (!good) return lex_.fail("expected pairs of hexadecimal digits");
    input->data = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
    return {};
  }

  static bool is_meta_key(std::string_view key, bool is_input) {
    for (std::string_view known : {"phase", "seq", "recompute", "ac", "module", "source"})
      if (key == known) return true;
    return is_input && (key == "position" || key == "storage" || key == "data");
  }

  template <class Names, class E>
  static bool enumerator(const Names& names, std::string_view word, E* out) {
    const auto it = std::find(names.begin(), names.end(), word);
    if (it == names.end()) return false;
    *out = static_cast<E>(it - names.begin());
    return true;
  }

  Status outputs() {
    std::unordered_map<std::string, int32_t> inputs;
    const std::vector<std::string> references = text::input_references(graph_);
    for (size_t i = 0; i < references.size(); ++i)
      inputs.emplace(references[i], static_cast<int32_t>(i));
    if (lex_.at_end() || lex_.peek_word() == "entry") return {};
    do {
      OutputInfo info;
      SHW_RETURN_IF_ERROR(output_name(inputs, &info));
      SHW_RETURN_IF_ERROR(lex_.expect('='));
      SHW_RETURN_IF_ERROR(use(&info.node));
      if (info.node.valid() && graph_.is_tuple(info.node))
        return lex_.fail("an output is one tensor, not a tuple");
      if (lex_.peek_word() == "in_place") {
        lex_.word();
        if (info.role != OutputRole::kUpdate) return lex_.fail("only an update is made in place");
        info.in_place = true;
      }
      graph_.add_output(std::move(info));
    } while (lex_.accept(','));
    return {};
  }

  // entry NAME weight=2 inputs=[0,1] outputs=[0] after=[0]
  Status entries() {
    std::vector<EntryInfo> entries;
    while (!lex_.at_end()) {
      if (lex_.word() != "entry") return lex_.fail("only entries may follow 'return'");
      EntryInfo& e = entries.emplace_back();
      if (lex_.accept('"'))
        SHW_RETURN_IF_ERROR(lex_.quoted_rest(&e.name));
      else
        e.name = lex_.word();
      while (!lex_.at_end() && lex_.peek_word() != "entry") SHW_RETURN_IF_ERROR(entry_item(e));
    }
    if (!entries.empty()) graph_.set_entries(std::move(entries));
    return {};
  }
  Status entry_item(EntryInfo& e) {
    const std::string_view key = lex_.word();
    SHW_RETURN_IF_ERROR(lex_.expect('='));
    if (key == "weight")
      return parse_number(lex_.word(), &e.weight) ? Status() : lex_.fail("expected a number");
    std::vector<uint32_t>* list = key == "inputs"    ? &e.inputs
                                  : key == "outputs" ? &e.outputs
                                  : key == "after"   ? &e.after
                                                     : nullptr;
    if (list == nullptr) return lex_.fail("expected weight, inputs, outputs or after");
    SHW_RETURN_IF_ERROR(lex_.expect('['));
    list->clear();
    while (!lex_.accept(']')) {
      if (!list->empty()) SHW_RETURN_IF_ERROR(lex_.expect(','));
      if (!parse_number(lex_.word(), &list->emplace_back())) return lex_.fail("expected a number");
    }
    return {};
  }

  // output, output.NAME, grad.INPUT, update.INPUT; INPUT may be #index, or ? for none.
  Status output_name(const std::unordered_map<std::string, int32_t>& inputs, OutputInfo* info) {
    const std::string_view word = lex_.word();
    const size_t dot = std::min(word.find('.'), word.size());
    const std::string_view kind = word.substr(0, dot);
    const bool has_dot = dot < word.size();
    std::string rest(has_dot ? word.substr(dot + 1) : std::string_view());
    if (kind == "output") {
      if (has_dot && rest.empty()) SHW_RETURN_IF_ERROR(name_here(&rest));
      info->name = std::move(rest);
      return {};
    }
    if ((kind != "grad" && kind != "update") || !has_dot)
      return lex_.fail("expected output, output.NAME, grad.INPUT or update.INPUT");
    info->role = kind == "grad" ? OutputRole::kGradient : OutputRole::kUpdate;
    if (rest.empty() && lex_.accept_here('?')) return {};
    if (rest.empty() && lex_.accept_here('#')) {
      if (!parse_number(lex_.word_here(), &info->of_input) || info->of_input < 0 ||
          static_cast<size_t>(info->of_input) >= graph_.inputs().size())
        return lex_.fail("no input of this number");
      return {};
    }
    const auto it = inputs.find(rest);
    if (it == inputs.end()) return lex_.fail("no input is called '" + rest + "'");
    info->of_input = it->second;
    return {};
  }

  Lexer lex_;
  Graph graph_;
  std::vector<int64_t> hints_;  // of the symbols
  std::unordered_map<std::string_view, NodeId> labels_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) { return Parser(text).run(); }

bool is_graph_text(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with("//")) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  constexpr std::string_view kFirst[] = {"%", "input ", "symbol ", "return "};
  return std::ranges::any_of(kFirst, [&](std::string_view s) { return text.starts_with(s); });
}

}  // namespace shw
