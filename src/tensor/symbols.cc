#include "tensor/symbols.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "support/hash.h"
#include "tensor/dtype.h"

namespace shw {
namespace {

bool parse_int(std::string_view s, int64_t* out) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), *out);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

std::optional<uint32_t> symbol_of(std::string_view name, std::span<const Symbol> symbols) {
  for (uint32_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == name) return i;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// INT, NAME or INT*NAME, added to `expr`.
bool add_term(std::string_view text, std::span<const Symbol> symbols, Expr& expr) {
  int64_t number = 1;
  if (parse_int(text, &number))
    return !__builtin_add_overflow(expr.constant, number, &expr.constant);
  const size_t star = text.find('*');
  if (star != std::string_view::npos) {
    if (!parse_int(text.substr(0, star), &number)) return false;
    text = text.substr(star + 1);
  }
  const auto symbol = symbol_of(text, symbols);
  if (!symbol || number == 0) return false;
  const auto at =
      std::ranges::lower_bound(expr.terms, *symbol, {}, &std::pair<uint32_t, int64_t>::first);
  if (at != expr.terms.end() && at->first == *symbol) return false;
  expr.terms.insert(at, {*symbol, number});
  return true;
}

Status refused(const Symbol& s, const std::string& why, Code code = Code::kInvalidArgument) {
  return {code, "symbol '" + s.name.substr(0, kLongestSymbolName) + "': " + why};
}

}  // namespace

bool is_symbol_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || name.size() > kLongestSymbolName || !letter(name[0])) return false;
  for (std::string_view value : {"true", "false", "none", "inf", "nan", "infinity"})
    if (name == value) return false;
  return !dtype_from_name(name) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

Status check_symbols(std::span<const Symbol> symbols) {
  if (symbols.size() > kMaxSymbols)
    return invalid_argument("there are " + std::to_string(symbols.size()) +
                            " symbols, more than the limit of " + std::to_string(kMaxSymbols));
  std::set<std::string_view> names;
  for (const Symbol& s : symbols) {
    if (!is_symbol_name(s.name))
      return refused(s, "a name is a letter or _, then letters, digits or _, and no value's name");
    if (!names.insert(s.name).second) return refused(s, "the name stands twice");
    if (s.min < 0 || s.max < s.min || s.divisor < 1)
      return refused(s, "no size is from " + std::to_string(s.min) + " to " +
                            std::to_string(s.max) + " and a multiple of " +
                            std::to_string(s.divisor));
    if (Status status = check_size(s, s.hint); !status.ok())
      return invalid_argument("the hint of " + status.message());
  }
  return {};
}

Status check_size(const Symbol& s, int64_t size) {
  if (size < s.min || size > s.max)
    return refused(s,
                   std::to_string(size) + " is not from " + std::to_string(s.min) + " to " +
                       std::to_string(s.max),
                   Code::kOutOfRange);
  if (size % s.divisor != 0)
    return refused(s, std::to_string(size) + " is not a multiple of " + std::to_string(s.divisor));
  return {};
}

Status check_expr(const Expr& expr, size_t num_symbols) {
  for (size_t i = 0; i < expr.terms.size(); ++i) {
    const auto [symbol, factor] = expr.terms[i];
    if (symbol >= num_symbols)
      return invalid_argument("it depends on symbol " + std::to_string(symbol) + "; there are " +
                              std::to_string(num_symbols));
    if (factor == 0 || (i > 0 && symbol <= expr.terms[i - 1].first))
      return invalid_argument("its symbols are not ascending, or a factor is 0");
  }
  return {};
}

std::optional<int64_t> value_of(const Expr& expr, std::span<const int64_t> sizes) {
  int64_t value = expr.constant, product = 0;
  for (const auto& [symbol, factor] : expr.terms)
    if (__builtin_mul_overflow(factor, sizes[symbol], &product) ||
        __builtin_add_overflow(value, product, &value))
      return std::nullopt;
  return value;
}

bool has_symbols(std::span<const Expr> exprs) {
  return std::ranges::any_of(exprs, [](const Expr& e) { return !e.is_number(); });
}

std::vector<int64_t> hints_of(std::span<const Symbol> symbols) {
  std::vector<int64_t> hints;
  for (const Symbol& s : symbols) hints.push_back(s.hint);
  return hints;
}

std::string to_string(const Expr& expr, std::span<const Symbol> symbols) {
  std::string text;
  for (const auto& [symbol, factor] : expr.terms) {
    if (!text.empty()) text += '+';
    if (factor != 1) text += std::to_string(factor) + "*";
    text += symbols[symbol].name;
  }
  if (text.empty() || expr.constant != 0)
    text += (text.empty() ? "" : "+") + std::to_string(expr.constant);
  return text;
}

std::optional<Expr> parse_expr(std::string_view text, std::span<const Symbol> symbols) {
  Expr expr;
  for (size_t from = 0;;) {
    const size_t plus = text.find('+', from);
    if (!add_term(text.substr(from, plus - from), symbols, expr)) return std::nullopt;
    if (plus == std::string_view::npos) return expr;
    from = plus + 1;
  }
}

std::string exprs_text(std::span<const Expr> exprs, std::span<const Symbol> symbols) {
  std::string text = "[";
  for (const Expr& e : exprs) text += (text.size() == 1 ? "" : ",") + to_string(e, symbols);
  return text + "]";
}

std::optional<Exprs> parse_exprs(std::string_view text, std::span<const Symbol> symbols) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  Exprs exprs;
  if (text.find_first_not_of(' ') == std::string_view::npos) return exprs;
  for (;;) {
    const size_t comma = text.find(',');
    const auto expr = parse_expr(trimmed(text.substr(0, comma)), symbols);
    if (!expr) return std::nullopt;
    exprs.push_back(*expr);
    if (comma == std::string_view::npos) return exprs;
    text = text.substr(comma + 1);
  }
}

std::string sizes_text(std::span<const int64_t> sizes, std::span<const Symbol> symbols) {
  std::string text;
  for (size_t s = 0; s < sizes.size(); ++s)
    if (sizes[s] >= 0)
      text += (text.empty() ? "" : ",") + symbols[s].name + "=" + std::to_string(sizes[s]);
  return text;
}

uint64_t hash_of(const Symbol& s) {
  const int64_t numbers[] = {s.min, s.max, s.divisor, s.hint};
  return hash_bytes(s.name, hash_bytes(numbers, sizeof numbers));
}

uint64_t hash_of(std::span<const Expr> exprs) {
  uint64_t h = exprs.size();
  for (const Expr& e : exprs) {
    h = hash_combine(h, static_cast<uint64_t>(e.constant));
    for (const auto& [symbol, factor] : e.terms)
      h = hash_combine(hash_combine(h, symbol), static_cast<uint64_t>(factor));
  }
  return h;
}

}  // namespace shw
