#include "runtime/cuda/plugin/fused_source.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "runtime/cuda/plugin/fused_index.h"
#include "runtime/strided.h"

namespace shw::runtime::cuda {
namespace {

constexpr int64_t kMostInts = INT32_MAX;
constexpr int64_t kMostTurns = 32;       // of a thread at a row whose elements stay in registers
constexpr int64_t kMostKeptWords = 96;   // of 32 bits, of such elements in each thread
constexpr int64_t kLeastRows = 32;       // fewer blocks would leave most of a device idle
constexpr size_t kMostParameters = 256;  // of 4 KiB
constexpr size_t kMostLines = 1500;
constexpr size_t kNoLoop = SIZE_MAX;

const char* type_text(ComputeType type) {
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

std::string dtype_text(Dtype dtype) { return std::to_string(static_cast<int>(dtype)); }

// A double of the same bits; NaN is any NaN.
std::string real_text(double x) {
  if (std::isnan(x)) return "static_cast<double>(__int_as_float(0x7fc00000))";
  if (std::isinf(x))
    return std::string(x < 0 ? "-" : "") + "static_cast<double>(__int_as_float(0x7f800000))";
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}
std::string whole_text(i64 x) {
  return x == INT64_MIN ? "-9223372036854775807ll - 1" : std::to_string(x) + "ll";
}

// Lines between two braces, and what is known there.
struct Scope {
  std::vector<std::string> lines;
  std::map<std::string, std::string> elements;               // by what they are: their names
  std::map<std::string, std::pair<Index, Index>> divisions;  // quotient, rest
};

// One pass over the elements of a row, or over those of some results.
struct Loop {
  Scope body;
  std::vector<std::string> before, stores, after;
  std::vector<std::string> kept;  // copies of elements to registers that later loops read
};

class Writer {
 public:
  Writer(std::span<const FusedStep> steps, size_t count, int threads)
      : steps_(steps), count_(count), threads_(threads), space_(needs_wide(steps.first(count))) {}

  std::optional<FusedSource> run() {
    for (const FusedStep& s : steps())
      if (s.by_blocks() && !add_rows(s)) return {};
    scopes_.resize(1);
    if (rows_ > 0)
      write_rows();
    else
      write_elements();
    if (failed_ || reads_what_it_writes() || parameters_.size() > kMostParameters ||
        num_lines_ > kMostLines)
      return {};
    FusedSource source;
    source.text = text();
    for (const Parameter& p : parameters_) source.buffers.push_back(p.buffer);
    source.blocks = rows_ > 0 ? rows_ : (most_units_ + threads_ - 1) / threads_;
    return source;
  }

 private:
  struct Parameter {
    uint32_t memory;
    int64_t begin;
    size_t buffer;
    bool is_written;
  };
  struct Access {
    const FusedWindow* window;
    size_t loop;
    std::string place;  // of the element in the memory
  };

  std::span<const FusedStep> steps() const { return steps_.first(count_); }
  const FusedStep& step(int s) const { return steps_[static_cast<size_t>(s)]; }
  bool leaves(const FusedStep& s) const {
    return !s.is_temporary || s.last_reader >= static_cast<int>(count_);
  }

  static bool needs_wide(std::span<const FusedStep> steps) {
    const auto large = [](const FusedWindow& w) {
      return w.type != nullptr &&
             (w.end - w.begin > kMostInts || w.type->numel() > kMostInts / int64_t{8});
    };
    return std::ranges::any_of(steps, [&](const FusedStep& s) {
      return large(s.output) || std::ranges::any_of(s.inputs, large);
    });
  }

  // All reductions by blocks go along the same rows: the last dims of what they read.
  bool add_rows(const FusedStep& s) {
    const ReducedDims& dims = *s.reduced;
    int64_t rows = 1;
    for (const int64_t n : dims.kept) rows *= n;
    if (!are_trailing(s)) return false;
    if (rows_ != 0 && (rows != rows_ || dims.count != columns_)) return false;
    rows_ = rows;
    columns_ = dims.count;
    return rows_ >= kLeastRows;
  }
  static bool are_trailing(const FusedStep& s) {
    const ReducedDims& dims = *s.reduced;
    const Dims& shape = s.inputs[0].type->shape;
    // The shape is the kept dims, then the reduced ones, but for dims of one element.
    const auto without_ones = [](const Dims& a, const Dims& b) {
      Dims all;
      for (const Dims* part : {&a, &b})
        for (const int64_t n : *part)
          if (n != 1) all.push_back(n);
      return all;
    };
    if (without_ones(shape, {}) != without_ones(dims.kept, dims.reduced)) return false;
    Dims strides, whole;
    for (size_t d = 0; d < dims.kept.size(); ++d)
      if (dims.kept[d] != 1) strides.push_back(dims.kept_in[d]);
    for (size_t d = 0; d < dims.reduced.size(); ++d)
      if (dims.reduced[d] != 1) strides.push_back(dims.reduced_in[d]);
    const TensorType& in = *s.inputs[0].type;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) whole.push_back(in.strides[d] * dtype_size(in.dtype));
    return strides == whole;
  }

  // ---- Lines and names ----

  std::string new_name(const char* kind) { return kind + std::to_string(next_name_++); }
  void line(size_t depth, std::string text) {
    ++num_lines_;
    scopes_[depth].lines.push_back(std::move(text));
  }
  void line(std::string text) { line(scopes_.size() - 1, std::move(text)); }
  std::string fail() {
    failed_ = true;
    return "failed";
  }

  const std::string* find_element(const std::string& what) {
    for (size_t d = scopes_.size(); d-- > 0;)
      if (const auto it = scopes_[d].elements.find(what); it != scopes_[d].elements.end())
        return &it->second;
    return nullptr;
  }
  // Declares the element in the outermost block where its place is known.
  std::string declare(const std::string& what, size_t depth, const std::string& value) {
    const std::string name = new_name("x");
    line(depth, "const auto " + name + " = " + value + ";");
    scopes_[depth].elements[what] = name;
    return name;
  }

  // index = by · quotient + rest.
  std::pair<Index, Index> divide(const Index& index, int64_t by) {
    const IndexSpace::Division d = space_.divide(index, by);
    Index quotient = d.quotient, rest = d.inner;
    if (!d.done) {
      const auto& [more, left] = divided(d.inner, d.inner_by);
      quotient = quotient + more;
      rest = left;
    }
    rest = rest * d.scale;
    rest.constant += d.rest;
    return {quotient, rest};
  }
  std::pair<Index, Index> divided(const Index& index, int64_t by) {
    const std::string what = "(" + space_.text(index) + ")", number = space_.number(by);
    for (size_t d = scopes_.size(); d-- > 0;)
      if (const auto it = scopes_[d].divisions.find(what + number);
          it != scopes_[d].divisions.end())
        return it->second;
    const size_t depth = space_.depth(index);
    const std::string q = new_name("q"), r = new_name("r"), type = "const " + space_.type() + " ";
    line(depth,
         type + q + " = " + what + " / " + number + ", " + r + " = " + what + " % " + number + ";");
    const auto result = std::pair{space_.variable(q, space_.most(index) / by + 1, depth),
                                  space_.variable(r, by, depth)};
    scopes_[depth].divisions[what + number] = result;
    return result;
  }

  // Bytes from a window's begin to its element number `at` in the order of `shape`.
  Index offset(const Dims& shape, const Dims& strides, const Index& at) {
    Dims sizes, steps;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const size_t last = sizes.size() - 1;
      if (!sizes.empty() && steps[last] == strides[d] * shape[d]) {
        sizes[last] *= shape[d];
        steps[last] = strides[d];
      } else {
        sizes.push_back(shape[d]);
        steps.push_back(strides[d]);
      }
    }
    Index bytes, rest = at;
    for (size_t d = sizes.size(); d-- > 1;) {
      auto [quotient, digit] = divide(rest, sizes[d]);
      bytes = bytes + digit * steps[d];
      rest = quotient;
    }
    return sizes.empty() ? bytes : bytes + rest * steps[0];
  }

  // ---- Elements ----

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
    reads_.push_back({&window, rows_ > 0 && depth < 2 ? kNoLoop : loops_.size(), at});
    return declare(what, depth,
                   "read_element<" + dtype + ">(" + parameter(window, false) + ", " +
                       space_.text(bytes) + ")");
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
    const FusedWindow& window = s.inputs[static_cast<size_t>(i)];
    const Dims& shape = s.output.type->shape;
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
    // In the outermost block where its place is known.
    const size_t depth = space_.depth(at);
    std::vector<Scope> within;
    while (scopes_.size() > depth + 1) {
      within.push_back(std::move(scopes_.back()));
      scopes_.pop_back();
    }
    const std::string name = computed(what, s, at);
    for (; !within.empty(); within.pop_back()) scopes_.push_back(std::move(within.back()));
    return name;
  }
  std::string computed(const std::string& what, int s, const Index& at) {
    switch (step(s).formula.kind) {
      case StepFormula::Kind::kPointwise:
        return declare(what, scopes_.size() - 1, pointwise(s, at));
      case StepFormula::Kind::kParts:
        return parts(what, step(s), at);
      case StepFormula::Kind::kReduction:
        break;
    }
    return each(what, s, at);
  }
  std::string block_result(int s) const { return "row of s" + std::to_string(s); }

  std::string pointwise(int s, const Index& at) {
    const FusedStep& of = step(s);
    const StepFormula& f = of.formula;
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
    const std::string name = new_name("x");
    const size_t depth = scopes_.size() - 1;
    line("Element<" + dtype_text(out.dtype) + "> " + name + ";");
    std::string otherwise;
    for (const StepFormula::Part& part : of.formula.parts) {
      const bool is_last = part.begin + part.count == size;
      const std::string begin =
          otherwise + (is_last ? "{"
                               : "if (" + space_.text(middle) + " < " +
                                     space_.number(part.begin + part.count) + ") {");
      scopes_.emplace_back();
      line(name + " = " + part_element(of, part, outer, middle, column) + ";");
      close_scope(begin);
      otherwise = "else ";
    }
    scopes_[depth].elements[what] = name;
    return name;
  }
  std::string part_element(const FusedStep& of, const StepFormula::Part& part, const Index& outer,
                           const Index& middle, const Index& column) {
    const FusedWindow& window = of.inputs[static_cast<size_t>(part.input)];
    const Dims& shape = window.type->shape;
    Index within = middle;
    if (part.begin != 0 || !middle.is_constant()) {
      const std::string m = new_name("m");
      line("const " + space_.type() + " " + m + " = " + space_.text(middle) + " - " +
           space_.number(part.begin) + ";");
      within = space_.variable(m, part.count, scopes_.size() - 1);
    }
    within.constant += part.from;
    int64_t inner = 1;
    for (size_t d = of.formula.dim + 1; d < shape.size(); ++d) inner *= shape[d];
    const Index at = outer * (shape[of.formula.dim] * inner) + within * inner + column;
    Dims strides;
    for (size_t d = 0; d < shape.size(); ++d)
      strides.push_back(window.type->strides[d] * dtype_size(window.type->dtype));
    const std::string x = element_at(window, offset(shape, strides, at));
    return narrowed(of, widened(type_text(compute_type(window.type->dtype)), *window.type, x));
  }
  // Only now the block stands behind what has been declared outside of it.
  void close_scope(const std::string& begin) {
    std::vector<std::string> inner = std::move(scopes_.back().lines);
    scopes_.pop_back();
    line(begin);
    for (std::string& l : inner) scopes_.back().lines.push_back("  " + std::move(l));
    line("}");
  }

  // A reduction whose results each take one thread.
  std::string each(const std::string& what, int s, const Index& at) {
    const FusedStep& of = step(s);
    const ReducedDims& dims = *of.reduced;
    const std::string f = formula_name(s), sum = new_name("s"), i = new_name("i");
    const std::string type = of.formula.is_integer ? "Int" : "double";
    const size_t depth = scopes_.size() - 1;
    const Index from = offset(dims.kept, dims.kept_in, at);
    line(type + " " + sum + " = start(" + f + ", " + type + "{});");
    scopes_.emplace_back();
    const Index along =
        offset(dims.reduced, dims.reduced_in, space_.variable(i, dims.count, scopes_.size() - 1));
    join(sum, f, type, of, element_at(of.inputs[0], from + along));
    close_scope("for (" + space_.type() + " " + i + " = 0; " + i + " < " +
                space_.number(dims.count) + "; ++" + i + ") {");
    const std::string name = new_name("x");
    line("const auto " + name + " = " + narrowed(of, "finished(" + f + ", " + sum + ")") + ";");
    scopes_[depth].elements[what] = name;
    return name;
  }
  void join(const std::string& sum, const std::string& f, const std::string& type,
            const FusedStep& of, const std::string& x) {
    line(sum + " = joined(" + f + ", " + sum + ", " + widened(type, *of.inputs[0].type, x) + ");");
  }

  // ---- A thread an element ----

  // Where real numbers lie side by side with the pairs that other steps see, a thread has both.
  bool has_pairs() const {
    return std::ranges::any_of(steps(), [&](const FusedStep& s) {
      return std::ranges::any_of(s.inputs, [&](const FusedWindow& w) {
        return w.type != nullptr && w.writer != kFromMemory &&
               w.type->dtype != step(w.writer).output.type->dtype;
      });
    });
  }

  void write_elements() {
    const int64_t pair = has_pairs() ? 2 : 1;
    std::vector<std::pair<int64_t, std::vector<int>>> results;  // by how many units they have
    for (int s = 0; s < static_cast<int>(count_); ++s) {
      if (!leaves(step(s))) continue;
      const TensorType& type = *step(s).output.type;
      const int64_t width = type.dtype == Dtype::kC64 ? 1 : pair;
      if (type.numel() % width != 0) return (void)fail();
      const int64_t units = type.numel() / width;
      auto found = std::ranges::find(results, units, &std::pair<int64_t, std::vector<int>>::first);
      if (found == results.end()) found = results.insert(results.end(), {units, {}});
      found->second.push_back(s);
      most_units_ = std::max(most_units_, units);
    }
    for (const auto& [units, of] : results) {
      scopes_.emplace_back();
      Loop loop;
      const Index i = space_.variable("i", units, 1);
      for (const int s : of) {
        const int64_t width = step(s).output.type->numel() / units;
        for (int64_t w = 0; w < width; ++w) {
          Index at = i * width;
          at.constant += w;
          store(s, at, loop.stores);
        }
      }
      loop.before.push_back("for (" + space_.type() + " i = thread_number(); i < " +
                            space_.number(units) + "; i += num_threads()) {");
      loop.after.push_back("}");
      loop.body = std::move(scopes_.back());
      scopes_.pop_back();
      loops_.push_back(std::move(loop));
    }
  }

  void store(int s, const Index& at, std::vector<std::string>& stores) {
    const FusedWindow& out = step(s).output;
    Dims strides;
    for (const int64_t stride : out.type->strides)
      strides.push_back(stride * dtype_size(out.type->dtype));
    const std::string x = value(s, at);
    const Index bytes = offset(out.type->shape, strides, at);
    stores.push_back("write_element<" + dtype_text(out.type->dtype) + ">(" + parameter(out, true) +
                     ", " + space_.text(bytes) + ", " + x + ");");
    writes_.push_back({&out, loops_.size(), place(out, bytes)});
  }

  // ---- A block a row ----

  // After how many reductions by blocks, one waiting for the other, a step's result is known.
  std::vector<int> levels() const {
    std::vector<int> levels;
    for (const FusedStep& s : steps()) {
      int level = 0;
      for (const FusedWindow& in : s.inputs)
        if (in.type != nullptr && in.writer != kFromMemory)
          level = std::max(level, levels[static_cast<size_t>(in.writer)] +
                                      (step(in.writer).by_blocks() ? 1 : 0));
      levels.push_back(level);
    }
    return levels;
  }

  void write_rows() {
    const std::vector<int> level = levels();
    scopes_.emplace_back();
    row_ = space_.variable("row", rows_, 1);
    const int last = *std::ranges::max_element(level);
    for (int l = 0; l <= last && !failed_; ++l) write_loop(level, l);
    row_scope_ = std::move(scopes_.back());
    scopes_.pop_back();
  }

  int64_t turns() const { return (columns_ + threads_ - 1) / threads_; }

  void write_loop(const std::vector<int>& level, int l) {
    const Index k = space_.variable("k", columns_, 2);
    scopes_.emplace_back();
    Loop loop;
    std::vector<std::string> row_stores;
    for (int s = 0; s < static_cast<int>(count_); ++s) {
      const FusedStep& of = step(s);
      if (level[static_cast<size_t>(s)] != l) continue;
      if (of.by_blocks()) {
        add_reduction(s, k, loop);
      } else if (leaves(of)) {
        const int64_t elements = of.output.type->numel();
        if (elements == rows_ * columns_)
          store(s, row_ * columns_ + k, loop.stores);
        else if (elements == rows_)
          store(s, row_, row_stores);
        else
          return (void)fail();
      }
    }
    loop.body = std::move(scopes_.back());
    scopes_.pop_back();
    line("\n" + std::to_string(loops_.size()));  // where the loop will stand
    loops_.push_back(std::move(loop));
    for (const std::string& s : row_stores) line("if (threadIdx.x == 0) " + s);
    for (int s = 0; s < static_cast<int>(count_); ++s)
      if (level[static_cast<size_t>(s)] == l && step(s).by_blocks()) finish_reduction(s);
  }

  std::string sum_name(int s) const { return "sum" + std::to_string(s); }
  void add_reduction(int s, const Index& k, Loop& loop) {
    const FusedStep& of = step(s);
    const std::string type = of.formula.is_integer ? "Int" : "double", f = formula_name(s);
    const ReducedDims& dims = *of.reduced;
    const Index at =
        offset(dims.kept, dims.kept_in, row_) + offset(dims.reduced, dims.reduced_in, k);
    loop.before.push_back(type + " " + sum_name(s) + " = start(" + f + ", " + type + "{});");
    join(sum_name(s), f, type, of, element_at(of.inputs[0], at));
  }
  void finish_reduction(int s) {
    const FusedStep& of = step(s);
    const std::string f = formula_name(s);
    const char* shared = of.formula.is_integer ? "shared_i64" : "shared_f64";
    (of.formula.is_integer ? uses_i64_ : uses_f64_) = true;
    declare(block_result(s), 1,
            narrowed(of, "finished(" + f + ", block_joined(" + f + ", " + sum_name(s) + ", " +
                             shared + "))"));
    if (!leaves(of)) return;
    const FusedWindow& out = of.output;
    if (out.type->numel() != rows_) return (void)fail();
    std::vector<std::string> stores;
    store(s, row_, stores);
    for (const std::string& text : stores) line("if (threadIdx.x == 0) " + text);
  }

  // What an earlier loop over the row had in the same turn, if registers can keep it.
  std::optional<std::string> find_kept(const std::string& what, Dtype dtype) {
    if (rows_ == 0 || scopes_.size() != 3 || turns() > kMostTurns) return {};
    for (Loop& loop : loops_) {
      const auto known = loop.body.elements.find(what);
      if (known == loop.body.elements.end()) continue;
      const std::string& name = known->second;
      if (!kept_.contains(name)) {
        const int64_t words = turns() * (dtype_size(dtype) + 3) / 4;
        if (kept_words_ + words > kMostKeptWords) return {};
        kept_words_ += words;
        const std::string kept = "kept" + std::to_string(kept_.size());
        loop.kept.push_back(kept + "[turn] = " + name + ";");
        declarations_.push_back("Element<" + dtype_text(dtype) + "> " + kept + "[" +
                                std::to_string(turns()) + "];");
        kept_[name] = kept;
      }
      return declare(what, 2, kept_[name] + "[turn]");
    }
    return {};
  }

  // An element that a thread reads after another one may have written it.
  bool reads_what_it_writes() const {
    for (const Access& w : writes_)
      for (const Access& r : reads_) {
        if (r.window->memory != w.window->memory || r.window->begin >= w.window->end ||
            w.window->begin >= r.window->end)
          continue;
        const bool in_turn = rows_ > 0 ? r.loop <= w.loop : r.loop == w.loop;
        if (!in_turn || r.place != w.place || r.window->type->dtype != w.window->type->dtype)
          return true;
      }
    return false;
  }

  // ---- The text ----

  static void append(std::string& text, const std::string& indent,
                     const std::vector<std::string>& lines) {
    for (const std::string& l : lines) text += indent + l + "\n";
  }
  void append_row_loop(std::string& text, const Loop& loop) const {
    append(text, "    ", loop.before);
    if (loop.body.lines.empty() && loop.stores.empty()) return;
    const std::string width = space_.number(threads_);
    if (turns() <= kMostTurns) text += "#pragma unroll\n";
    text += "    for (int turn = 0; turn < " + std::to_string(turns()) + "; ++turn) {\n";
    text += "      const " + space_.type() + " k = threadIdx.x + turn * " + width + ";\n";
    const bool fits = columns_ % threads_ == 0;
    if (!fits) text += "      if (k < " + space_.number(columns_) + ") {\n";
    for (const auto* lines : {&loop.body.lines, &loop.kept, &loop.stores})
      append(text, "      ", *lines);
    text += fits ? "    }\n" : "      }\n    }\n";
  }

  std::string text() const {
    std::string text = "#include \"fused.cuh\"\nusing namespace shw::runtime::cuda;\nSHW_KERNEL " +
                       std::string(kFusedKernelName) + "(";
    for (size_t p = 0; p < parameters_.size(); ++p)
      text += std::string(p == 0 ? "" : ", ") + (parameters_[p].is_written ? "" : "const ") +
              "void* p" + std::to_string(p);
    text += ") {\n";
    append(text, "  ", formulas_);
    const std::string width = std::to_string(threads_);
    if (uses_f64_) text += "  __shared__ double shared_f64[" + width + "];\n";
    if (uses_i64_) text += "  __shared__ Int shared_i64[" + width + "];\n";
    append(text, "  ", scopes_[0].lines);
    if (rows_ > 0) {
      text += "  for (" + space_.type() + " row = blockIdx.x; row < " + space_.number(rows_) +
              "; row += gridDim.x) {\n";
      append(text, "    ", declarations_);
      for (const std::string& l : row_scope_.lines) {
        if (l[0] == '\n')
          append_row_loop(text, loops_[std::stoul(l.substr(1))]);
        else
          text += "    " + l + "\n";
      }
      text += "  }\n";
    } else {
      for (const Loop& loop : loops_) {
        append(text, "  ", loop.before);
        append(text, "    ", loop.body.lines);
        append(text, "    ", loop.stores);
        append(text, "  ", loop.after);
      }
    }
    return text + "}\n";
  }

  const std::span<const FusedStep> steps_;
  const size_t count_;
  const int64_t threads_;
  IndexSpace space_;
  int64_t rows_ = 0, columns_ = 0, most_units_ = 0;  // rows_ 0: a thread an element
  Index row_;
  std::vector<Scope> scopes_;  // of the kernel, then of blocks within each other
  Scope row_scope_;
  std::vector<Loop> loops_;
  std::vector<std::string> formulas_, declarations_;
  std::vector<bool> has_formula_;
  std::map<std::string, std::string> kept_;  // by the element's name in its loop
  int64_t kept_words_ = 0;
  std::vector<Parameter> parameters_;
  std::vector<Access> reads_, writes_;
  int next_name_ = 0;
  size_t num_lines_ = 0;
  bool failed_ = false, uses_f64_ = false, uses_i64_ = false;
};

}  // namespace

std::optional<FusedSource> write_fused_source(std::span<const FusedStep> steps, size_t count,
                                              int block_threads) {
  return Writer(steps, count, block_threads).run();
}

}  // namespace shw::runtime::cuda
