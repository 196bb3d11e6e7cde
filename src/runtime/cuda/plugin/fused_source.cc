#include "runtime/cuda/plugin/fused_source.h"

#include <set>

#include "runtime/cuda/plugin/fused_loops.h"

namespace shw::runtime::cuda {
namespace {

constexpr int64_t kMostInts = INT32_MAX;
constexpr int64_t kMostKeptUnits = 32;  // units of a row that each thread keeps in registers
constexpr int64_t kMostKeptWords = 96;  // 32-bit words for such elements in each thread
constexpr int64_t kMostWidth = 8;       // units that a thread processes at a time
constexpr int64_t kWarpThreads = 32;
constexpr int64_t kLeastRows = 32;       // fewer blocks would leave most of the device idle
constexpr size_t kMostParameters = 256;  // the parameter limit is 4 KiB

class Writer final : private FusedLoops {
 public:
  // `most_width`: the maximum number of units that a thread processes at a time.
  Writer(std::span<const FusedStep> steps, size_t count, int threads, int64_t most_width)
      : FusedLoops(steps, count, needs_wide(steps.first(count)), most_width), threads_(threads) {}

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
    source.reporting = reporting();
    source.threads = static_cast<int>(threads_);
    source.blocks = rows_ > 0 ? rows_ : (most_turns_ + threads_ - 1) / threads_;
    return source;
  }

 private:
  static bool needs_wide(std::span<const FusedStep> steps) {
    const auto large = [](const FusedWindow& w) {
      return w.type != nullptr &&
             (w.end - w.begin > kMostInts || w.type->numel() > kMostInts / int64_t{8});
    };
    return std::ranges::any_of(steps, [&](const FusedStep& s) {
      return large(s.output) || std::ranges::any_of(s.inputs, large);
    });
  }

  // Requires that all reductions by blocks have the same rows: the last dims of their operands.
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
    // Except for dims of size 1, the shape must be the kept dims followed by the reduced ones.
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

  // ---- A thread an element ----

  // If other steps read pairs of adjacent real numbers as complex numbers, a thread computes both
  // numbers of a pair.
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
    std::vector<std::pair<int64_t, std::vector<int>>> results;  // by number of units
    for (int s = 0; s < static_cast<int>(count_); ++s) {
      if (!leaves(step(s))) continue;
      const TensorType& type = *step(s).output.type;
      const int64_t of_unit = type.dtype == Dtype::kC64 ? 1 : pair;
      if (type.numel() % of_unit != 0) return (void)fail();
      const int64_t units = type.numel() / of_unit;
      auto found = std::ranges::find(results, units, &std::pair<int64_t, std::vector<int>>::first);
      if (found == results.end()) found = results.insert(results.end(), {units, {}});
      found->second.push_back(s);
    }
    for (int s = 0; s < static_cast<int>(count_); ++s) {
      // Every index must be checked, even if its element is not read.
      if (!has_places(step(s))) continue;
      const int64_t indices = step(s).inputs[1].type->numel();
      if (std::ranges::find(results, indices, &std::pair<int64_t, std::vector<int>>::first) ==
          results.end())
        results.push_back({indices, {}});
    }
    for (const auto& [units, of] : results) {
      Loop loop;
      loop.width = width_of(units, pair);
      const Index i = open_turn("i", units, loop);
      for (int s = 0; s < static_cast<int>(count_); ++s)
        if (has_places(step(s)) && step(s).inputs[1].type->numel() == units) place_at(s, i);
      for (const int s : of) {
        const int64_t of_unit = step(s).output.type->numel() / units;
        for (int64_t u = 0; u < of_unit; ++u) {
          Index at = i * of_unit;
          at.constant += u;
          store(s, at, of_unit, loop);
        }
      }
      const int64_t turns = units / loop.width;
      most_turns_ = std::max(most_turns_, turns);
      loop.before.push_back("for (" + space_.type() + " i = thread_number(); i < " +
                            space_.number(turns) + "; i += num_threads()) {");
      loop.after.push_back("}");
      close_turn(loop);
    }
  }

  // ---- A block a row ----

  // For each step, the number of dependent reductions by blocks after which its result is known.
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
    width_ = width_of(columns_, 1);
    while (width_ > 1 && columns_ / width_ < kWarpThreads) width_ /= 2;
    choose_threads();
    scopes_.emplace_back();
    row_ = space_.variable("row", rows_, 1);
    find_online_sums();
    const int last = *std::ranges::max_element(level);
    for (int l = 0; l <= last && !failed_; ++l) write_loop(level, l);
    row_scope_ = std::move(scopes_.back());
    scopes_.pop_back();
  }

  // As many threads as a row has packs, up to the usual block size. Long rows get more threads:
  // fewer rows are then processed at a time, and data of a row that are read repeatedly stay in the
  // cache for longer.
  void choose_threads() {
    const int64_t most = threads_, packs = columns_ / width_;
    threads_ = std::min(kWarpThreads, most);
    while (threads_ < packs && threads_ < most) threads_ *= 2;
    if (!keeps_units()) threads_ *= 2;
  }
  bool keeps_units() const { return turns() * width_ <= kMostKeptUnits; }
  int64_t turns() const { return (columns_ / width_ + threads_ - 1) / threads_; }

  void write_loop(const std::vector<int>& level, int l) {
    Loop loop;
    loop.width = width_;
    const Index k = open_turn("k", columns_, loop);
    std::vector<std::string> row_stores;
    for (int s = 0; s < static_cast<int>(count_); ++s) {
      const FusedStep& of = step(s);
      if (level[static_cast<size_t>(s)] != l) continue;
      if (has_places(of)) {
        if (of.inputs[1].type->numel() != rows_) return (void)fail();
        place_at(s, row_);
      }
      if (of.by_blocks()) {
        // The loop for the maximum computes it.
        if (with_maximum_[static_cast<size_t>(s)]) continue;
        add_reduction(s, k, loop);
        if (is_alone(level, s)) skip_zeros(s, loop);
      } else if (leaves(of)) {
        const int64_t elements = of.output.type->numel();
        if (elements == rows_ * columns_)
          store(s, row_ * columns_ + k, 1, loop);
        else if (elements == rows_)
          row_stores.push_back(row_store(s));
        else
          return (void)fail();
      }
    }
    close_turn(loop);
    line("\n" + std::to_string(loops_.size() - 1));  // placeholder for the loop
    for (std::string& s : row_stores) line(std::move(s));
    for (int s = 0; s < static_cast<int>(count_); ++s)
      if (level[static_cast<size_t>(s)] == l && step(s).by_blocks()) finish_reduction(s);
  }

  std::string sum_name(int s) const { return "sum" + std::to_string(s); }
  void add_reduction(int s, const Index& k, Loop& loop) {
    const FusedStep& of = step(s);
    const std::string type = sum_type(of), f = formula_name(s);
    const ReducedDims& dims = *of.reduced;
    const Index at =
        offset(dims.kept, dims.kept_in, row_) + offset(dims.reduced, dims.reduced_in, k);
    if (has_sum_[static_cast<size_t>(s)]) {
      loop.before.push_back("OnlineSum " + sum_name(s) + " = no_sum();");
      line("add(" + sum_name(s) + ", " +
           widened("float", *of.inputs[0].type, element_at(of.inputs[0], at)) + ");");
      return;
    }
    loop.before.push_back(type + " " + sum_name(s) + " = start(" + f + ", " + type + "{});");
    join(sum_name(s), f, type, of, element_at(of.inputs[0], at));
  }
  // Whether the loop of a reduction does nothing else, and keeps no elements for other loops.
  bool is_alone(const std::vector<int>& level, int s) const {
    bool alone = !keeps_units();
    for (int o = 0; o < static_cast<int>(count_); ++o)
      if (o != s && level[static_cast<size_t>(o)] == level[static_cast<size_t>(s)])
        alone = alone && !step(o).by_blocks() &&
                (!leaves(step(o)) || step(o).output.type->numel() == rows_);
    return alone;
  }
  // If all elements of the row but one are 0, the sum is this element, and the loop is skipped.
  void skip_zeros(int s, Loop& loop) {
    const FusedStep& of = step(s);
    const FusedWindow& in = of.inputs[0];
    const ReduceKind kind = of.formula.reduction.kind;
    if (kind != ReduceKind::kSum && kind != ReduceKind::kMean) return;
    const int scatter = told_apart_by(in, in.type->shape, columns_);
    if (scatter < 0) return;
    const TwoElements two = two_elements(in, scatter, columns_);
    const std::string type = sum_type(of), sum = sum_name(s);
    const std::string zeros = "is_zero(" + widened(type, *in.type, two.elsewhere) + ")";
    loop.before.push_back("if (" + zeros + " && " + two.place + " >= 0 && threadIdx.x == 0) " +
                          sum + " = joined(" + formula_name(s) + ", " + sum + ", " +
                          widened(type, *in.type, two.at_place) + ");");
    loop.before.push_back("if (!" + zeros + ") {");
    loop.after.push_back("}");
  }
  // If registers cannot hold the row, sums that can be computed in another pass save a pass over
  // the row.
  void find_online_sums() {
    with_maximum_.resize(count_);
    has_sum_.resize(count_);
    for (int s = 0; s < static_cast<int>(count_) && !keeps_units(); ++s) {
      const int maximum = maximum_of_sum(s, columns_);
      if (maximum == kNotOnline || has_sum_[static_cast<size_t>(maximum)]) continue;
      with_maximum_[static_cast<size_t>(s)] = maximum;
      has_sum_[static_cast<size_t>(maximum)] = 1;
    }
  }
  // Combines the values of the threads of a block.
  std::string finished(int s) {
    const FusedStep& of = step(s);
    if (const auto maximum = with_maximum_[static_cast<size_t>(s)])
      return "finished(row_" + sum_name(*maximum) + ")";
    if (has_sum_[static_cast<size_t>(s)]) {
      const std::string row = "row_" + sum_name(s);
      shared_.insert("OnlineSum");
      line("const OnlineSum " + row + " = block_joined<" + std::to_string(threads_) + ">(" +
           sum_name(s) + ", shared_OnlineSum);");
      return row + ".most";
    }
    const std::string f = formula_name(s);
    const std::string type = sum_type(of);
    shared_.insert(type);
    return "finished(" + f + ", block_joined<" + std::to_string(threads_) + ">(" + f + ", " +
           sum_name(s) + ", shared_" + type + "))";
  }
  void finish_reduction(int s) {
    const FusedStep& of = step(s);
    declare(block_result(s), 1, narrowed(of, finished(s)));
    if (!leaves(of)) return;
    const FusedWindow& out = of.output;
    if (out.type->numel() != rows_) return (void)fail();
    line(row_store(s));
  }

  // The element, if an earlier loop over the row computed it in the same turn and registers can
  // hold it.
  std::optional<std::string> find_kept(const std::string& what, Dtype dtype) override {
    const size_t inner = width_ > 1 ? 3 : 2;  // the depth of a turn's innermost lines
    if (rows_ == 0 || !keeps_units() || scopes_.size() < 3 || scopes_.size() > inner + 1) return {};
    if (scopes_.size() == 4 && unit_loops_.back().depth != 3) return {};  // a part
    for (Loop& loop : loops_) {
      if (const auto known = loop.turn.elements.find(what); known != loop.turn.elements.end())
        return keep(known->second, what, dtype, 2, loop.kept);
      if (const auto known = loop.units.elements.find(what); known != loop.units.elements.end())
        return keep(known->second, what, dtype, 3, loop.kept_units);
    }
    return {};
  }
  std::optional<std::string> keep(const std::string& name, const std::string& what, Dtype dtype,
                                  size_t depth, std::vector<std::string>& copies) {
    const int64_t width = depth == 3 ? width_ : 1;
    if (!kept_.contains(name)) {
      const int64_t words = turns() * width * ((dtype_size(dtype) + 3) / 4);
      if (kept_words_ + words > kMostKeptWords) return {};
      kept_words_ += words;
      const std::string array = "kept" + std::to_string(kept_.size());
      const std::string element = array + (depth == 3 ? "[turn][v]" : "[turn]");
      copies.push_back(element + " = " + name + ";");
      declarations_.push_back("Element<" + dtype_text(dtype) + "> " + array + "[" +
                              std::to_string(turns()) + "]" +
                              (depth == 3 ? "[" + std::to_string(width) + "]" : "") + ";");
      kept_[name] = element;
    }
    return declare(what, depth, kept_[name]);
  }

  // Whether a thread may read an element after another thread has written it.
  bool reads_what_it_writes() const {
    for (const Access& w : writes_) {
      const auto lies_over = [&](const Access& a) {
        return lie_over_each_other(*a.window, *w.window);
      };
      if (std::ranges::any_of(reads_, lies_over) || std::ranges::any_of(writes_, lies_over))
        return true;
      for (const Access& r : reads_) {
        if (r.window->memory != w.window->memory || r.window->begin >= w.window->end ||
            w.window->begin >= r.window->end)
          continue;
        const bool in_turn = rows_ > 0 ? r.loop <= w.loop : r.loop == w.loop;
        if (!in_turn || r.place != w.place || r.window->type->dtype != w.window->type->dtype)
          return true;
      }
    }
    return false;
  }

  // ---- The text ----

  void append_row_loop(std::string& text, const Loop& loop) const {
    append(text, "    ", loop.before);
    if (loop.turn.lines.empty() && loop.units.lines.empty() && loop.stores.empty()) return;
    const std::string width = space_.number(threads_);
    // Unrolling makes the positions constant, so that the elements stay in registers.
    if (keeps_units()) text += "#pragma unroll\n";
    text += "    for (int turn = 0; turn < " + std::to_string(turns()) + "; ++turn) {\n";
    text += "      const " + space_.type() + " k = threadIdx.x + turn * " + width + ";\n";
    const int64_t packs = columns_ / width_;
    const bool fits = packs % threads_ == 0;
    if (!fits) text += "      if (k < " + space_.number(packs) + ") {\n";
    append_turn(text, "      ", loop);
    text += fits ? "    }\n" : "      }\n    }\n";
    append(text, "    ", loop.after);
  }

  std::string text() const {
    // With more threads than usual, the compiler must limit the registers per thread.
    const std::string bounds =
        threads_ > kMostBlockThreads ? "__launch_bounds__(" + std::to_string(threads_) + ") " : "";
    std::string text = "#include \"fused.cuh\"\nusing namespace shw::runtime::cuda;\nSHW_KERNEL " +
                       bounds + kFusedKernelName + "(";
    for (size_t p = 0; p < parameters_.size(); ++p)
      text += std::string(p == 0 ? "" : ", ") + (parameters_[p].is_written ? "" : "const ") +
              "void* p" + std::to_string(p);
    if (!reporting().empty()) text += ", DeviceError* errors";
    for (const int s : reporting()) text += ", i64 node" + std::to_string(s);
    text += ") {\n";
    append(text, "  ", formulas_);
    const std::string width = std::to_string(threads_);
    for (const std::string& type : shared_)
      text += "  __shared__ " + type + " shared_" + type + "[" + width + "];\n";
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
        append_turn(text, "    ", loop);
        append(text, "  ", loop.after);
      }
    }
    return text + "}\n";
  }

  int64_t threads_;    // threads per block
  int64_t width_ = 1;  // units of a row that a thread processes at a time
  int64_t columns_ = 0, most_turns_ = 0;
  Scope row_scope_;
  std::vector<std::string> declarations_;
  std::map<std::string, std::string> kept_;  // by name of the element in its loop
  int64_t kept_words_ = 0;
  std::set<std::string> shared_;  // types of the values that blocks combine
  // By step: the maximum that this sum is computed with.
  std::vector<std::optional<int>> with_maximum_;
  std::vector<uint8_t> has_sum_;  // by step: a sum is computed with this maximum
};

}  // namespace

std::optional<FusedSource> write_fused_source(std::span<const FusedStep> steps, size_t count,
                                              int block_threads) {
  for (int64_t width = kMostWidth; width > 1; width /= 2)
    if (auto source = Writer(steps, count, block_threads, width).run()) return source;
  return Writer(steps, count, block_threads, 1).run();
}

}  // namespace shw::runtime::cuda
