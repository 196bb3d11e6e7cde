// Elements of the steps' results in a kernel that is written: each is computed where it is needed,
// from elements in memory, and once in a block.
#pragma once
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include "runtime/cuda/plugin/fused_packs.h"
#include "runtime/strided.h"

namespace shw::runtime::cuda {

inline constexpr size_t kMostLines = 1500;
inline constexpr size_t kNoLoop = SIZE_MAX;
inline constexpr int64_t kMostOfUnit = 2;  // real numbers of a pair

inline const char* type_text(ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return "float";
    case ComputeType::kF64:
      return "double";
    case ComputeType::kI64:
      return "Int";
    case ComputeType::kC64:
      break;
  }
  return "Complex";
}

inline std::string dtype_text(Dtype dtype) { return std::to_string(static_cast<int>(dtype)); }

// A double of the same bits; NaN is any NaN.
inline std::string real_text(double x) {
  if (std::isnan(x)) return "static_cast<double>(__int_as_float(0x7fc00000))";
  if (std::isinf(x))
    return std::string(x < 0 ? "-" : "") + "static_cast<double>(__int_as_float(0x7f800000))";
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}
inline std::string whole_text(i64 x) {
  return x == INT64_MIN ? "-9223372036854775807ll - 1" : std::to_string(x) + "ll";
}

class FusedElements : public FusedPacks {
 protected:
  struct Parameter {
    int64_t memory;
    int64_t begin;
    size_t buffer;
    bool is_written;
  };
  struct Access {
    const FusedWindow* window;
    size_t loop;
    std::string place;  // of the element in the memory
  };

  FusedElements(std::span<const FusedStep> steps, size_t count, bool wide)
      : FusedPacks(wide), steps_(steps), count_(count) {}
  virtual ~FusedElements() = default;

  // What an earlier loop over a row keeps in registers.
  virtual std::optional<std::string> find_kept(const std::string& what, Dtype dtype) = 0;
  virtual size_t this_loop() const = 0;
  // An element that an index tensor chooses.
  virtual std::string at_place(const std::string& what, int s, const Index& at) = 0;

  std::span<const FusedStep> steps() const { return steps_.first(count_); }
  const FusedStep& step(int s) const { return steps_[static_cast<size_t>(s)]; }
  bool leaves(const FusedStep& s) const {
    return !s.is_temporary || s.last_reader >= static_cast<int>(count_);
  }

  std::string parameter(const FusedWindow& window, bool is_written) {
    const auto known = std::ranges::find_if(parameters_, [&](const Parameter& p) {
      return p.memory == window.memory && p.begin == window.begin;
    });
    const auto number = static_cast<size_t>(known - parameters_.begin());
    if (known == parameters_.end())
      parameters_.push_back({window.memory, window.begin, window.buffer, is_written});
    else
      known->is_written |= is_written;
    return "p" + std::to_string(number);
  }
  std::string place(const FusedWindow& window, Index bytes) {
    bytes.constant += window.begin;
    return space_.text(bytes);
  }

  std::string memory_element(const FusedWindow& window, const Index& bytes) {
    const std::string at = place(window, bytes), dtype = dtype_text(window.type->dtype);
    const std::string what = "m" + std::to_string(window.memory) + "." + dtype + "@" + at;
    if (const std::string* known = find_element(what)) return *known;
    if (const auto kept = find_kept(what, window.type->dtype)) return *kept;
    const size_t depth = space_.depth(bytes);
    // All threads of a block read what belongs to its row.
    reads_.push_back({&window, rows_ > 0 && depth < 2 ? kNoLoop : this_loop(), at});
    if (const auto pack = find_pack(window, bytes, kMostOfUnit)) {
      const std::string name = read_pack(window, *pack);
      return declare(what, depth, name + ".at[" + space_.text(pack->element) + "]");
    }
    return declare(what, depth,
                   "read_element<" + dtype + ">(" + parameter(window, false) + ", " +
                       space_.text(bytes) + ")");
  }

  std::string read_pack(const FusedWindow& window, const Pack& pack) {
    const std::string type = pack_type(window, pack);
    return declare_once(
        "pack " + std::to_string(window.memory) + "." + type + "@" + place(window, pack.begin),
        space_.depth(pack.begin),
        "read_" + pack_kind(window) + "<" + type + ">(" + parameter(window, false) + ", " +
            space_.text(pack.begin) + ")");
  }

  // The element so many bytes from the window's begin.
  std::string element_at(const FusedWindow& window, Index bytes) {
    if (window.writer == kFromMemory) return memory_element(window, bytes);
    const FusedStep& writer = step(window.writer);
    bytes.constant += window.begin - writer.output.begin;
    const Dtype from = writer.output.type->dtype, to = window.type->dtype;
    const auto [number, rest] = divide(bytes, dtype_size(from));
    if (from == to) return rest.is_constant() ? value(window.writer, number) : fail();
    if (to == Dtype::kC64) {
      Index second = number;
      ++second.constant;
      const std::string re = value(window.writer, number), im = value(window.writer, second);
      return declare_once("pair " + re + " " + im, space_.depth(number),
                          "Complex{" + re + ", " + im + "}");
    }
    const std::string pair = value(window.writer, number);
    if (rest.is_constant()) return pair + (rest.constant == 0 ? ".re" : ".im");
    const std::string which = "(" + space_.text(rest) + ") == 0";
    return declare_once("half " + pair + which, space_.depth(bytes),
                        which + " ? " + pair + ".re : " + pair + ".im");
  }
  std::string declare_once(const std::string& what, size_t depth, const std::string& value) {
    if (const std::string* known = find_element(what)) return *known;
    return declare(what, depth, value);
  }

  // Input `i` of a step, for element `at` of its result.
  std::string input(const FusedStep& s, int i, const Index& at) {
    return element(s.inputs[static_cast<size_t>(i)], s.output.type->shape, at);
  }
  // What the window holds, or broadcasts to, at element `at` of the shape.
  std::string element(const FusedWindow& window, const Dims& shape, const Index& at) {
    // The whole of what a step wrote, whatever gaps lie in it.
    if (window.writer != kFromMemory && *window.type == *step(window.writer).output.type &&
        window.begin == step(window.writer).output.begin && window.type->shape == shape)
      return value(window.writer, at);
    return element_at(window, offset(shape, broadcast_strides_bytes(*window.type, shape), at));
  }

  // Element `at` of a step's result.
  std::string value(int s, const Index& at) {
    const FusedStep& of = step(s);
    if (of.by_blocks()) {  // the loop that makes it has run, or it is another row's
      const std::string* known = find_element(block_result(s));
      return known != nullptr && space_.text(at) == space_.text(row_) ? *known : fail();
    }
    if (num_lines_ > kMostLines) return fail();
    const std::string what = "s" + std::to_string(s) + "@" + space_.text(at);
    if (const std::string* known = find_element(what)) return *known;
    if (const auto kept = find_kept(what, of.output.type->dtype)) return *kept;
    return in_outermost(at, [&] { return computed(what, s, at); });
  }
  // Writes what it does to the outermost block where the place is known.
  template <class F>
  std::string in_outermost(const Index& at, F&& write) {
    const size_t depth = space_.depth(at);
    std::vector<Scope> within;
    while (scopes_.size() > depth + 1) {
      within.push_back(std::move(scopes_.back()));
      scopes_.pop_back();
    }
    const std::string name = write();
    for (; !within.empty(); within.pop_back()) scopes_.push_back(std::move(within.back()));
    return name;
  }
  std::string computed(const std::string& what, int s, const Index& at) {
    switch (step(s).formula.kind) {
      case StepFormula::Kind::kPointwise:
        return declare(what, scopes_.size() - 1, pointwise(s, at));
      case StepFormula::Kind::kParts:
        return parts(what, step(s), at);
      case StepFormula::Kind::kGather:
      case StepFormula::Kind::kScatter:
        return at_place(what, s, at);
      case StepFormula::Kind::kReduction:
        break;
    }
    return each(what, s, at);
  }
  std::string block_result(int s) const { return "row of s" + std::to_string(s); }

  std::string pointwise(int s, const Index& at) {
    const FusedStep& of = step(s);
    const StepFormula& f = of.formula;
    const int first = f.inputs[0];
    if (f.pointwise.op == PointwiseOp::kCopy && first >= 0 &&
        keeps_bits(of, of.inputs[static_cast<size_t>(first)]))
      return input(of, first, at);
    const std::string type = type_text(f.compute), name = formula_name(s);
    std::string operands;
    for (int o = 0; o < 3; ++o) {
      operands += ", ";
      const int i = f.inputs[static_cast<size_t>(o)];
      if (i >= 0)
        operands += widened(type, *of.inputs[static_cast<size_t>(i)].type, input(of, i, at));
      else if (f.pointwise.fixed == o)
        operands += "fixed_value(" + name + ", " + type + "{})";
      else
        operands += type + "{}";
    }
    return narrowed(of, "pointwise_result<" + type + ">(" + name + operands + ")");
  }
  // Of a copy: as the single kernels.
  static bool keeps_bits(const FusedStep& of, const FusedWindow& from) {
    return of.output.type->dtype == from.type->dtype;
  }
  static std::string widened(const std::string& type, const TensorType& of, const std::string& x) {
    return "widened<" + type + ", " + dtype_text(of.dtype) + ">(" + x + ")";
  }
  static std::string narrowed(const FusedStep& of, const std::string& x) {
    return "narrowed<" + dtype_text(of.output.type->dtype) + ">(" + x + ")";
  }

  std::string formula_name(int s) {
    const std::string name = "f" + std::to_string(s);
    if (has_formula_.size() <= static_cast<size_t>(s)) has_formula_.resize(count_);
    if (has_formula_[static_cast<size_t>(s)]) return name;
    has_formula_[static_cast<size_t>(s)] = true;
    const StepFormula& f = step(s).formula;
    if (f.kind == StepFormula::Kind::kReduction) {
      formulas_.push_back("const ReduceFormula " + name + " = {static_cast<ReduceKind>(" +
                          std::to_string(static_cast<int>(f.reduction.kind)) + "), " +
                          whole_text(f.reduction.count) + "};");
      return name;
    }
    const PointwiseFormula& p = f.pointwise;
    formulas_.push_back("const PointwiseFormula " + name + " = {static_cast<PointwiseOp>(" +
                        std::to_string(static_cast<int>(p.op)) + "), " + std::to_string(p.fixed) +
                        ", " + real_text(p.number) + ", " + whole_text(p.integer) + ", " +
                        real_text(p.fixed_number) + ", " + whole_text(p.fixed_integer) + "};");
    return name;
  }

  // ---- Blocks within blocks ----

  // The part that the element lies in decides which input is read.
  std::string parts(const std::string& what, const FusedStep& of, const Index& at) {
    const TensorType& out = *of.output.type;
    const int64_t size = out.shape[of.formula.dim];
    int64_t inner = 1;
    for (size_t d = of.formula.dim + 1; d < out.shape.size(); ++d) inner *= out.shape[d];
    const auto [lines, column] = divide(at, inner);
    const auto [outer, middle] = divide(lines, size);
    // Where all units of a pack lie in one part, it is chosen outside of the loop over them.
    const auto pack = units_in_parts(of, {outer, middle, column});
    std::optional<Scope> units;
    if (pack) {
      units = std::move(scopes_.back());
      scopes_.pop_back();
    }
    const std::string name = new_name("x"), dtype = dtype_text(out.dtype);
    line((pack ? "Pack<" + dtype + ", " + std::to_string(pack->width) : "Element<" + dtype) + "> " +
         name + ";");
    // They stand behind all that is declared outside of them.
    std::vector<std::string> branches;
    std::string otherwise;
    for (const StepFormula::Part& part : of.formula.parts) {
      const bool is_last = part.begin + part.count == size;
      const std::string begin =
          otherwise + (is_last ? "{"
                               : "if (" + space_.text(pack ? pack->first : middle) + " < " +
                                     space_.number(part.begin + part.count) + ") {");
      scopes_.emplace_back();
      if (pack)
        set_units(name, of, part, *pack, outer, column);
      else
        line(name + " = " + part_element(of, part, outer, in_part(part, middle, 1), column) + ";");
      for (std::string& l : block(begin)) branches.push_back(std::move(l));
      otherwise = "else ";
    }
    for (std::string& l : branches) line(std::move(l));
    if (pack) scopes_.push_back(std::move(*units));
    scopes_.back().elements[what] = pack ? name + ".at[v]" : name;
    return scopes_.back().elements[what];
  }
  // Index `first` of the dim that is cut, as one of the part's input: packs that are so far apart
  // lie in one part.
  Index in_part(const StepFormula::Part& part, const Index& first, int64_t apart) {
    Index within = first;
    if (part.begin != 0 || !first.is_constant()) {
      const std::string m = new_name("m");
      const std::string from = space_.text(first) + " - " + space_.number(part.begin);
      line("const " + space_.type() + " " + m + " = " +
           (apart == 1 ? from : "(" + from + ") / " + space_.number(apart)) + ";");
      within = space_.variable(m, part.count / apart, scopes_.size() - 1) * apart;
      within.constant += first.constant % apart;
    }
    within.constant += part.from;
    return within;
  }
  std::string part_element(const FusedStep& of, const StepFormula::Part& part, const Index& outer,
                           const Index& within, const Index& column) {
    const FusedWindow& window = of.inputs[static_cast<size_t>(part.input)];
    const Dims& shape = window.type->shape;
    int64_t inner = 1;
    for (size_t d = of.formula.dim + 1; d < shape.size(); ++d) inner *= shape[d];
    const Index at = outer * (shape[of.formula.dim] * inner) + within * inner + column;
    Dims strides;
    for (size_t d = 0; d < shape.size(); ++d)
      strides.push_back(window.type->strides[d] * dtype_size(window.type->dtype));
    std::string x = element_at(window, offset(shape, strides, at));
    if (keeps_bits(of, window)) return x;
    return narrowed(of, widened(type_text(compute_type(window.type->dtype)), *window.type, x));
  }

  // The units of a pack in the dim that is cut: first + step · unit, in packs that are so far
  // apart.
  struct UnitsInParts {
    Index first;
    int64_t step, apart, width;
  };
  // `at`: the indices of the dims before it, of it, and of those behind it.
  std::optional<UnitsInParts> units_in_parts(const FusedStep& of,
                                             const std::array<Index, 3>& at) const {
    if (unit_loops_.empty() || unit_loops_.back().depth + 1 != scopes_.size()) return {};
    const UnitLoop& loop = unit_loops_.back();
    for (const Index& index : at)
      if (space_.depth(take_out(index, loop.variable).second) >= loop.depth) return {};
    const auto [step, first] = take_out(at[1], loop.variable);
    const int64_t apart = step == 0 ? 1 : step * loop.width;
    Index packs = first;
    packs.constant -= first.constant % std::max<int64_t>(step, 1);
    const auto cuts_packs = [&](const StepFormula::Part& p) {
      return p.begin % apart != 0 || p.count % apart != 0;
    };
    if (!is_multiple(packs, apart) || std::ranges::any_of(of.formula.parts, cuts_packs)) return {};
    return UnitsInParts{first, step, apart, loop.width};
  }
  // Sets the elements of pack `name` to those of a part.
  void set_units(const std::string& name, const FusedStep& of, const StepFormula::Part& part,
                 const UnitsInParts& units, const Index& outer, const Index& column) {
    const int old = unit_loops_.back().variable;
    const Index within = in_part(part, units.first, units.apart);
    const Index v = open_units(units.width);
    const auto moved = [&](const Index& index) {
      const auto [step, rest] = take_out(index, old);
      return rest + v * step;
    };
    line(name + ".at[v] = " +
         part_element(of, part, moved(outer), within + v * units.step, moved(column)) + ";");
    const Scope lines = close_units();
    for (std::string& l : units_text(lines.lines, units.width)) line(std::move(l));
  }
  // The innermost block's text, which leaves the blocks.
  std::vector<std::string> block(const std::string& begin) {
    std::vector<std::string> text = {begin};
    for (const std::string& l : scopes_.back().lines) text.push_back("  " + l);
    text.push_back("}");
    scopes_.pop_back();
    return text;
  }

  // A reduction whose results each take one thread.
  std::string each(const std::string& what, int s, const Index& at) {
    const FusedStep& of = step(s);
    const ReducedDims& dims = *of.reduced;
    const std::string f = formula_name(s), sum = new_name("s"), i = new_name("i");
    const std::string type = sum_type(of);
    const size_t depth = scopes_.size() - 1;
    const Index from = offset(dims.kept, dims.kept_in, at);
    line(type + " " + sum + " = start(" + f + ", " + type + "{});");
    scopes_.emplace_back();
    const Index along =
        offset(dims.reduced, dims.reduced_in, space_.variable(i, dims.count, scopes_.size() - 1));
    join(sum, f, type, of, element_at(of.inputs[0], from + along));
    const std::string begin = "for (" + space_.type() + " " + i + " = 0; " + i + " < " +
                              space_.number(dims.count) + "; ++" + i + ") {";
    for (std::string& l : block(begin)) line(std::move(l));
    const std::string name = new_name("x");
    line("const auto " + name + " = " + narrowed(of, "finished(" + f + ", " + sum + ")") + ";");
    scopes_[depth].elements[what] = name;
    return name;
  }
  // The least and the largest of elements are among them, so f32 holds them.
  static const char* sum_type(const FusedStep& of) {
    if (of.formula.is_integer) return "Int";
    const ReduceKind kind = of.formula.reduction.kind;
    const bool is_extreme = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
    return is_extreme && of.inputs[0].type->dtype != Dtype::kF64 ? "float" : "double";
  }
  void join(const std::string& sum, const std::string& f, const std::string& type,
            const FusedStep& of, const std::string& x) {
    line(sum + " = joined(" + f + ", " + sum + ", " + widened(type, *of.inputs[0].type, x) + ");");
  }

  const std::span<const FusedStep> steps_;
  const size_t count_;
  int64_t rows_ = 0;  // 0: a thread an element
  Index row_;
  std::vector<Parameter> parameters_;
  std::vector<Access> reads_;
  std::vector<std::string> formulas_;

 private:
  std::vector<bool> has_formula_;
};

}  // namespace shw::runtime::cuda
