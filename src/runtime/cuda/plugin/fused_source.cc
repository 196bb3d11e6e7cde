#include "runtime/cuda/plugin/fused_source.h"

#include "runtime/cuda/plugin/fused_online.h"

namespace shw::runtime::cuda {
namespace {

constexpr int64_t kMostInts = INT32_MAX;
constexpr int64_t kMostTurns = 32;       // of a thread at a row whose elements stay in registers
constexpr int64_t kMostKeptWords = 96;   // of 32 bits, of such elements in each thread
constexpr int64_t kLeastRows = 32;       // fewer blocks would leave most of a device idle
constexpr size_t kMostParameters = 256;  // of 4 KiB

// One pass over the elements of a row, or over those of some results.
struct Loop {
  Scope body;
  std::vector<std::string> before, stores, after;
  std::vector<std::string> kept;  // copies of elements to registers that later loops read
};

class Writer final : private FusedOnline {
 public:
  Writer(std::span<const FusedStep> steps, size_t count, int threads)
      : FusedOnline(steps, count, needs_wide(steps.first(count))), threads_(threads) {}

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
    source.blocks = rows_ > 0 ? rows_ : (most_units_ + threads_ - 1) / threads_;
    return source;
  }

 private:
  size_t this_loop() const override { return loops_.size(); }

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
    for (int s = 0; s < static_cast<int>(count_); ++s) {
      if (!has_places(step(s))) continue;  // each of its indices is looked at, whoever reads them
      const int64_t indices = step(s).inputs[1].type->numel();
      if (std::ranges::find(results, indices, &std::pair<int64_t, std::vector<int>>::first) ==
          results.end())
        results.push_back({indices, {}});
      most_units_ = std::max(most_units_, indices);
    }
    for (const auto& [units, of] : results) {
      scopes_.emplace_back();
      Loop loop;
      const Index i = space_.variable("i", units, 1);
      for (int s = 0; s < static_cast<int>(count_); ++s)
        if (has_places(step(s)) && step(s).inputs[1].type->numel() == units) place_at(s, i);
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
    find_online_sums();
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
      if (has_places(of)) {
        if (of.inputs[1].type->numel() != rows_) return (void)fail();
        place_at(s, row_);
      }
      if (of.by_blocks()) {
        if (with_maximum_[static_cast<size_t>(s)]) continue;  // the loop for the maximum has it
        add_reduction(s, k, loop);
        if (is_alone(level, s)) skip_zeros(s, loop);
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
    if (has_sum_[static_cast<size_t>(s)]) {
      loop.before.push_back("OnlineSum " + sum_name(s) + " = no_sum();");
      line("add(" + sum_name(s) + ", " +
           widened("float", *of.inputs[0].type, element_at(of.inputs[0], at)) + ");");
      return;
    }
    loop.before.push_back(type + " " + sum_name(s) + " = start(" + f + ", " + type + "{});");
    join(sum_name(s), f, type, of, element_at(of.inputs[0], at));
  }
  // Whether the loop of a reduction does nothing else, and keeps nothing for other loops.
  bool is_alone(const std::vector<int>& level, int s) const {
    bool alone = turns() > kMostTurns;
    for (int o = 0; o < static_cast<int>(count_); ++o)
      if (o != s && level[static_cast<size_t>(o)] == level[static_cast<size_t>(s)])
        alone = alone && !step(o).by_blocks() &&
                (!leaves(step(o)) || step(o).output.type->numel() == rows_);
    return alone;
  }
  // All elements of the row but one may be 0: then this one is the sum, and nothing is walked.
  void skip_zeros(int s, Loop& loop) {
    const FusedStep& of = step(s);
    const FusedWindow& in = of.inputs[0];
    const ReduceKind kind = of.formula.reduction.kind;
    if (kind != ReduceKind::kSum && kind != ReduceKind::kMean) return;
    const int scatter = told_apart_by(in, in.type->shape, columns_);
    if (scatter < 0) return;
    const TwoElements two = two_elements(in, scatter, columns_);
    const std::string type = of.formula.is_integer ? "Int" : "double", sum = sum_name(s);
    const std::string zeros = "is_zero(" + widened(type, *in.type, two.elsewhere) + ")";
    loop.before.push_back("if (" + zeros + " && " + two.place + " >= 0 && threadIdx.x == 0) " +
                          sum + " = joined(" + formula_name(s) + ", " + sum + ", " +
                          widened(type, *in.type, two.at_place) + ");");
    loop.before.push_back("if (!" + zeros + ") {");
    loop.after.push_back("}");
  }
  // In a row that registers do not keep, what saves a walk is had in a walk for something else.
  void find_online_sums() {
    with_maximum_.resize(count_);
    has_sum_.resize(count_);
    for (int s = 0; s < static_cast<int>(count_) && turns() > kMostTurns; ++s) {
      const int maximum = maximum_of_sum(s, columns_);
      if (maximum == kNotOnline || has_sum_[static_cast<size_t>(maximum)]) continue;
      with_maximum_[static_cast<size_t>(s)] = maximum;
      has_sum_[static_cast<size_t>(maximum)] = uses_online_ = true;
    }
  }
  // What the threads of a block have, taken together.
  std::string finished(int s) {
    const FusedStep& of = step(s);
    if (const auto maximum = with_maximum_[static_cast<size_t>(s)])
      return "finished(row_" + sum_name(*maximum) + ")";
    if (has_sum_[static_cast<size_t>(s)]) {
      const std::string row = "row_" + sum_name(s);
      line("const OnlineSum " + row + " = across_block<JoinOnline>(" + sum_name(s) +
           ", shared_online);");
      return row + ".most";
    }
    const std::string f = formula_name(s);
    const char* shared = of.formula.is_integer ? "shared_i64" : "shared_f64";
    (of.formula.is_integer ? uses_i64_ : uses_f64_) = true;
    return "finished(" + f + ", block_joined(" + f + ", " + sum_name(s) + ", " + shared + "))";
  }
  void finish_reduction(int s) {
    const FusedStep& of = step(s);
    declare(block_result(s), 1, narrowed(of, finished(s)));
    if (!leaves(of)) return;
    const FusedWindow& out = of.output;
    if (out.type->numel() != rows_) return (void)fail();
    std::vector<std::string> stores;
    store(s, row_, stores);
    for (const std::string& text : stores) line("if (threadIdx.x == 0) " + text);
  }

  // What an earlier loop over the row had in the same turn, if registers can keep it.
  std::optional<std::string> find_kept(const std::string& what, Dtype dtype) override {
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
    append(text, "    ", loop.after);
  }

  std::string text() const {
    std::string text = "#include \"fused.cuh\"\nusing namespace shw::runtime::cuda;\nSHW_KERNEL " +
                       std::string(kFusedKernelName) + "(";
    for (size_t p = 0; p < parameters_.size(); ++p)
      text += std::string(p == 0 ? "" : ", ") + (parameters_[p].is_written ? "" : "const ") +
              "void* p" + std::to_string(p);
    if (!reporting().empty()) text += ", DeviceError* errors";
    for (const int s : reporting()) text += ", i64 node" + std::to_string(s);
    text += ") {\n";
    append(text, "  ", formulas_);
    const std::string width = std::to_string(threads_);
    if (uses_f64_) text += "  __shared__ double shared_f64[" + width + "];\n";
    if (uses_i64_) text += "  __shared__ Int shared_i64[" + width + "];\n";
    if (uses_online_) text += "  __shared__ OnlineSum shared_online[" + width + "];\n";
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

  const int64_t threads_;
  int64_t columns_ = 0, most_units_ = 0;
  Scope row_scope_;
  std::vector<Loop> loops_;
  std::vector<std::string> declarations_;
  std::map<std::string, std::string> kept_;  // by the element's name in its loop
  int64_t kept_words_ = 0;
  std::vector<Access> writes_;
  bool uses_f64_ = false, uses_i64_ = false, uses_online_ = false;
  std::vector<std::optional<int>> with_maximum_;  // by step: a sum that is had with this maximum
  std::vector<uint8_t> has_sum_;                  // by step: a maximum that a sum is had with
};

}  // namespace

std::optional<FusedSource> write_fused_source(std::span<const FusedStep> steps, size_t count,
                                              int block_threads) {
  return Writer(steps, count, block_threads).run();
}

}  // namespace shw::runtime::cuda
