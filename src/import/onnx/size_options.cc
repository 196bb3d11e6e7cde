#include "import/onnx/size_options.h"

#include <charconv>

namespace shw::import::onnx {
namespace {

Status wrong(std::string_view item) {
  return invalid_argument("size '" + std::string(item) +
                          "': expected NAME=SIZE or NAME=MIN..MAX, then /DIVISOR and @TYPICAL");
}

// Removes a number from the front and returns it.
bool take(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// Removes `mark` and the number after it, if the text begins with the mark.
bool take_if(std::string_view& text, std::string_view mark, int64_t& number) {
  if (!text.starts_with(mark)) return true;
  text.remove_prefix(mark.size());
  return take(text, number);
}

Result<Symbol> parse_one(std::string_view item) {
  const size_t equals = item.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return wrong(item);
  Symbol s{.name = std::string(item.substr(0, equals))};
  std::string_view rest = item.substr(equals + 1);
  if (!take(rest, s.min)) return wrong(item);
  s.max = s.min;
  if (!take_if(rest, "..", s.max)) return wrong(item);
  s.hint = s.max;
  if (!take_if(rest, "/", s.divisor) || !take_if(rest, "@", s.hint) || !rest.empty())
    return wrong(item);
  return s;
}

}  // namespace

Result<std::map<std::string, Symbol>> parse_size_options(std::string_view text) {
  std::map<std::string, Symbol> all;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    SHW_ASSIGN_OR_RETURN(Symbol symbol, parse_one(text.substr(0, end)));
    std::string name = symbol.name;
    if (!all.emplace(name, std::move(symbol)).second)
      return invalid_argument("size '" + name + "' is given twice");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace shw::import::onnx
