// Sizes that are known only at run time: symbols, and affine expressions of them.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/status.h"

namespace shw {

struct Symbol {
  std::string name;     // an identifier: is_symbol_name()
  int64_t min = 1;      // smallest and
  int64_t max = 1;      // largest value at run time
  int64_t divisor = 1;  // every value is a multiple of it
  int64_t hint = 1;     // a typical value: the numbers in a graph are those at the hints
  bool operator==(const Symbol&) const = default;
};

// constant + Σ factor · symbol
struct Expr {
  int64_t constant = 0;
  std::vector<std::pair<uint32_t, int64_t>> terms;  // symbol, ascending, and its factor, not 0
  bool is_number() const { return terms.empty(); }
  bool operator==(const Expr&) const = default;
};
using Exprs = std::vector<Expr>;

// An attribute that depends on symbols: an integer, or a list of them.
struct AttrExprs {
  Exprs exprs;
  bool is_list = false;
  bool operator==(const AttrExprs&) const = default;
};

// Limits that keep a table readable, and expressions cheap.
inline constexpr size_t kMaxSymbols = 64;
inline constexpr size_t kLongestSymbolName = 64;

// Whether the name is a letter or _, then letters, digits and _, and is not a word with another
// meaning, such as true, none or f32.
bool is_symbol_name(std::string_view name);
// INVALID_ARGUMENT: a name is invalid or not unique, limits contradict each other, or a hint is
// outside its limits.
Status check_symbols(std::span<const Symbol> symbols);
// OUT_OF_RANGE: the size is not between the symbol's minimum and maximum. INVALID_ARGUMENT: it is
// not a multiple of the symbol's divisor.
Status check_size(const Symbol& symbol, int64_t size);
// INVALID_ARGUMENT: the expression has unknown symbols, symbols out of order, or a factor of 0.
Status check_expr(const Expr& expr, size_t num_symbols);

// The value for these sizes, one per symbol. nullopt: it overflows.
std::optional<int64_t> value_of(const Expr& expr, std::span<const int64_t> sizes);
bool has_symbols(std::span<const Expr> exprs);
std::vector<int64_t> hints_of(std::span<const Symbol> symbols);

// "cache", "2*cache+-1"; symbols by their names.
std::string to_string(const Expr& expr, std::span<const Symbol> symbols);
// nullopt: the text is not such an expression of these symbols.
std::optional<Expr> parse_expr(std::string_view text, std::span<const Symbol> symbols);
// "[1,2*cache]", and back; spaces may stand around an expression.
std::string exprs_text(std::span<const Expr> exprs, std::span<const Symbol> symbols);
std::optional<Exprs> parse_exprs(std::string_view text, std::span<const Symbol> symbols);

// "batch=2,cache=16": the sizes of the symbols, without those that are -1.
std::string sizes_text(std::span<const int64_t> sizes, std::span<const Symbol> symbols);

uint64_t hash_of(const Symbol& symbol);
uint64_t hash_of(std::span<const Expr> exprs);

}  // namespace shw
