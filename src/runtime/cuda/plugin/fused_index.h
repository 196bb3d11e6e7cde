// Integers in generated code, represented as sums of variables. So equal subexpressions are
// recognised, and trivial divisions are not generated.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shw::runtime::cuda {

// constant + Σ factor · variable. All values are nonnegative.
struct Index {
  std::map<int, int64_t> factors = {};  // by variable; never 0
  int64_t constant = 0;

  bool is_constant() const { return factors.empty(); }
};
Index operator+(Index a, const Index& b);
Index operator*(Index a, int64_t factor);
bool is_multiple(const Index& index, int64_t of);
// The factor of a variable, and the index without that variable.
std::pair<int64_t, Index> take_out(Index index, int variable);

class IndexSpace {
 public:
  // `wide`: values may not fit in 31 bits.
  explicit IndexSpace(bool wide) : wide_(wide) {}

  // Adds a variable with values below `limit`, declared in blocks nested `depth` deep.
  Index variable(std::string name, int64_t limit, size_t depth);
  size_t depth(const Index& index) const;  // depth at which all its variables are declared
  int64_t most(const Index& index) const;
  std::string text(const Index& index) const;
  std::string type() const { return wide_ ? "i64" : "unsigned"; }
  std::string number(int64_t value) const { return std::to_string(value) + (wide_ ? "ll" : "u"); }

  // index = by · quotient + rest, as far as that can be said without a division. What is left to
  // divide: `inner` by `inner_by`, with index = by · (quotient + inner / inner_by) +
  //          (inner % inner_by) · scale + rest.
  struct Division {
    Index quotient, inner;
    int64_t inner_by = 1, scale = 1;
    Index rest;  // less than `scale`
    // True: no division is left; the remainder is inner · scale + rest.
    bool done = false;
  };
  Division divide(const Index& index, int64_t by) const;

 private:
  struct Variable {
    std::string name;
    int64_t limit;
    size_t depth;
  };
  const bool wide_;
  std::vector<Variable> variables_;
};

}  // namespace shw::runtime::cuda
