// Copies as variables of the placement problem (see memory.h).
#include <algorithm>

#include "placement/memory.h"

namespace shw {
namespace {

constexpr uint32_t kSmall = UINT32_MAX;
constexpr uint32_t kLong = 20;  // "long-lived": at least a twentieth of the program

// Numbers the large layouts of a list; each entry has its number, or kSmall.
struct LargeLayouts {
  LargeLayouts(std::span<const LayoutId> list, std::span<const double> bytes, double from) {
    for (size_t s = 0; s < list.size(); ++s) {
      if (bytes[s] < from) {
        number.push_back(kSmall);
        continue;
      }
      const auto at = std::find(ids.begin(), ids.end(), list[s]);
      number.push_back(static_cast<uint32_t>(at - ids.begin()));
      if (at != ids.end()) continue;
      ids.push_back(list[s]);
      takes.push_back(bytes[s]);
    }
  }
  std::vector<LayoutId> ids;
  std::vector<double> takes;
  std::vector<uint32_t> number;  // by strategy of the node that is charged
};

}  // namespace

// The labels of one copy: for each large layout of the charged node, "the other end has the same
// layout" and "it has another"; and one label for all small layouts.
class MemoryModel::CopyVariables {
 public:
  CopyVariables(const MemoryModel& model, uint32_t budget, double from,
                solver::PlacementProblem& problem)
      : model_(model), budget_(budget), from_(from), problem_(problem) {}

  void add(const Copy& c) {
    const Strategies& strategies = *model_.strategies_;
    const LayoutPool& pool = strategies.pool();
    const auto wanted = pool.list(strategies.of(c.reader).operands[c.operand]);
    const auto held = pool.list(strategies.of(c.of).results[c.result]);
    const LargeLayouts large(c.charged_to_reader ? wanted : held, model_.tables_[c.table],
                             from_of(c));
    if (large.ids.empty()) return;
    if (is_same_edge(c)) return use(c, large);
    last_ = c;
    const auto others = c.charged_to_reader ? held : wanted;
    const size_t labels = 2 * large.ids.size() + 1;
    variable_ = problem_.add_variable(std::vector<double>(labels, 0.0));

    std::vector<double> payer(large.number.size() * labels, solver::kForbidden);
    for (size_t s = 0; s < large.number.size(); ++s) {
      double* const row = payer.data() + s * labels;
      if (large.number[s] == kSmall)
        row[labels - 1] = 0;
      else
        row[2 * large.number[s]] = row[2 * large.number[s] + 1] = 0;
    }
    std::vector<double> other(others.size() * labels, 0.0);
    for (size_t s = 0; s < others.size(); ++s)
      for (size_t t = 0; t < large.ids.size(); ++t)
        other[s * labels + 2 * t + (others[s] != large.ids[t])] = solver::kForbidden;
    join(c.charged_to_reader ? c.reader : c.of, large.number.size(), labels, payer);
    join(c.charged_to_reader ? c.of : c.reader, others.size(), labels, other);
    use(c, large);
  }

 private:
  // Long-lived copies have a lower threshold, because many may be live at once.
  double from_of(const Copy& c) const {
    return (c.end - c.first) * kLong > model_.num_points_ ? from_ / kLong : from_;
  }
  bool is_same_edge(const Copy& c) const {
    return last_ && last_->reader == c.reader && last_->operand == c.operand &&
           last_->charged_to_reader == c.charged_to_reader;
  }
  void join(NodeId node, size_t rows, size_t labels, std::span<const double> costs) {
    problem_.add_edge(
        node.v, variable_,
        problem_.add_matrix(static_cast<uint32_t>(rows), static_cast<uint32_t>(labels), costs));
  }
  void use(const Copy& c, const LargeLayouts& large) {
    std::vector<double> bytes(2 * large.ids.size() + 1, 0.0);
    for (size_t t = 0; t < large.ids.size(); ++t) bytes[2 * t] = large.takes[t];
    problem_.add_usage(budget_, variable_, c.first, c.end, bytes);
  }

  const MemoryModel& model_;
  const uint32_t budget_;
  const double from_;
  solver::PlacementProblem& problem_;
  std::optional<Copy> last_;
  uint32_t variable_ = 0;
};

void MemoryModel::add_copies(uint32_t budget, const CountedCopies& counted,
                             solver::PlacementProblem& problem) const {
  if (counted.from_bytes == HUGE_VAL) return;
  CopyVariables variables(*this, budget, counted.from_bytes, problem);
  for (const Copy& c : copies_) {
    const auto there = [](uint8_t point) { return point != 0; };
    const std::span<const uint8_t> at = counted.at;
    if (at.empty() || std::ranges::any_of(at.subspan(c.first, c.end - c.first), there))
      variables.add(c);
  }
}

}  // namespace shw
