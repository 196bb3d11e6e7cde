// From the problem with budgets to a proof: branch and bound over the priced relaxation.
//
// A part of the problem is relaxed (relaxation.h) and packed (pack.h). Labels that cost more than
// the incumbent even at the best prices go, so do those that fit no longer; what is left is
// presolved, and looked at again. A part in which no budget can be broken any more is a problem
// without budgets, which close.cc settles. What resists is split in two at one variable: at what it
// uses, where the labellings of the sweeps cannot agree on that, else at a label.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "solver/pack.h"
#include "solver/relaxation.h"
#include "solver/search.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

constexpr uint32_t kWarmSweeps = 8;   // at prices of zero, before the first step
constexpr uint32_t kRootSteps = 150;  // of prices
// Branching does not come to an end on so many pairs of labels; what can be done there is a good
// bound, and a good labelling by the way.
constexpr uint64_t kLargeCells = 2'000'000;
constexpr uint32_t kLargeRootSteps = 400;  // and again, as long as that helps
constexpr uint32_t kNodeSteps = 20;
constexpr double kMostRise = 0.2;  // of the bound, that a step aims for
constexpr double kStallShare = 0.01,
                 kLargeStallShare = 0.0005;  // of the way to the goal, that 30 steps must have made

uint64_t edge_cells(const PlacementProblem& problem) {
  uint64_t cells = 0;
  for (const auto& e : problem.edges())
    cells += uint64_t{problem.num_labels(e.a)} * problem.num_labels(e.b);
  return cells;
}

// What takes no more parts than these is solved by one thread, and the same way every time; other
// threads come when it turns out to be hard.
constexpr uint32_t kPartsAlone = 200;
constexpr double kLargeRiseShare = 0.01;  // of the gap, that such a round must have closed

// A part of the problem, and what is known of it.
struct Part {
  std::shared_ptr<const Stage> stage;
  std::shared_ptr<const BudgetRows> rows;
  std::vector<double> prices;  // of the root's rows
  double bound = -kForbidden;
  double reach = 0.3;  // of Relaxation
};

struct Crew;

struct Open {
  Part parent;
  std::shared_ptr<const RestrictedProblem> source;  // labels of the parent's stage
  std::vector<uint8_t> keep;                        // of the labels of `source`
};

class BudgetCloser {
 public:
  BudgetCloser(Search& search, const PlacementProblem& root) : search_(search), root_(root) {}

  Status run() {
    const BudgetRows all(root_);
    if (all.broken()) return nothing_fits();
    num_rows_ = all.points().size();
    points_.assign(all.points().begin(), all.points().end());
    std::vector<uint8_t> keep = all.fitting(root_);
    begin_warm(keep);
    Result<Part> part = root_part(all, keep);
    if (part.status().code() == Code::kFailedPrecondition && search_.found())
      return search_.raise_bound(open_bound());  // nothing but the answer that it began with
    SHW_RETURN_IF_ERROR(part.status());
    SHW_RETURN_IF_ERROR(visit(std::move(*part), true));
    while (!open_.empty() && !stopped()) {
      if (search_.options().threads != 1 && search_.stats().branch_nodes == kPartsAlone) {
        SHW_RETURN_IF_ERROR(branch_in_parallel());
        continue;
      }
      const Open next = take_next();
      if (give_up(next.parent.bound)) continue;
      ++search_.stats().branch_nodes;
      SHW_RETURN_IF_ERROR(enter(next.parent, next.source, next.keep));
      SHW_RETURN_IF_ERROR(search_.raise_bound(open_bound()));
    }
    SHW_RETURN_IF_ERROR(search_.raise_bound(open_bound()));
    if (search_.bound() == kForbidden) return nothing_fits();
    return {};
  }

 private:
  static Status nothing_fits() {
    return failed_precondition("no labelling of finite cost is within the budgets");
  }
  bool stopped() const { return stopped(search_.watch()); }
  bool stopped(const Watch& watch) const {
    return watch.expired() || search_.stage_bytes() > search_.options().branch_bytes ||
           search_.stats().branch_nodes >= search_.options().max_branch_nodes;
  }
  bool give_up(double bound) {
    if (bound < search_.cutoff()) return false;
    leave(bound);
    return true;
  }
  void leave(double bound) { left_ = std::min(left_, bound); }
  double open_bound() const {
    double bound = std::min(search_.cost(), left_);
    for (const Open& o : open_) bound = std::min(bound, o.parent.bound);
    return bound;
  }

  // Straight down after a split; after a part that was settled, where the bound is lowest.
  Open take_next() {
    auto at = open_.end() - 1;
    if (!descending_ && 2 * search_.stage_bytes() < search_.options().branch_bytes)
      at = std::ranges::min_element(open_, {}, [](const Open& o) { return o.parent.bound; });
    descending_ = false;
    Open next = std::move(*at);
    open_.erase(at);
    return next;
  }

  void begin_warm(std::span<uint8_t> keep);
  std::vector<double> first_prices() const;

  // What take_next() would come to last.
  Open take_last() {
    const auto at =
        std::ranges::max_element(open_, {}, [](const Open& o) { return o.parent.bound; });
    Open last = std::move(*at);
    open_.erase(at);
    return last;
  }

  Result<Part> root_part(const BudgetRows& all, std::span<const uint8_t> keep) {
    const std::vector<uint8_t> budgeted = all.budgeted();
    Part part;
    SHW_ASSIGN_OR_RETURN(part.stage, search_.root_stage(keep, budgeted));
    part.rows = std::make_shared<BudgetRows>(
        all.restricted(root_, {}, part.stage->problem, part.stage->undo));
    part.prices = first_prices();
    const PlacementProblem& small = part.stage->problem;
    search_.stats().variables_after_presolve = small.num_variables();
    search_.stats().labels_after_presolve = small.first_label(small.num_variables());
    return part;
  }

  Status enter(const Part& parent, std::shared_ptr<const RestrictedProblem> source,
               std::span<const uint8_t> keep) {
    SHW_ASSIGN_OR_RETURN(std::optional<Part> part, restrict(parent, std::move(source), keep));
    return part ? visit(std::move(*part), false) : Status();
  }
  Result<std::optional<Part>> restrict(const Part& parent,
                                       std::shared_ptr<const RestrictedProblem> source,
                                       std::span<const uint8_t> keep);
  Status visit(Part part, bool is_root);
  Status branch_in_parallel();
  Status branch(Crew& crew, uint32_t worker, Search& own);
  void keep_prices(const Part& part, const Relaxation& relaxation);
  Status settle_without_budgets(const Part& part);
  Result<Verdict> tighten(Part& part, Relaxation& relaxation, bool is_root);
  Status pack(const Part& part, Packer& packer, Relaxation& relaxation);
  Status combine(const Part& part, Packer& packer, Relaxation& relaxation);
  void split(const Part& part, const Relaxation& relaxation,
             std::shared_ptr<const RestrictedProblem> source);

  Search& search_;
  const PlacementProblem& root_;
  size_t num_rows_ = 0;
  std::vector<BudgetRows::Point> points_;  // of the root's rows
  std::vector<Open> open_;
  bool descending_ = false;   // the last of open_ is next
  double left_ = kForbidden;  // the smallest bound of what was left without solving it
};

// Drops what an earlier solve knows to be too dear.
void BudgetCloser::begin_warm(std::span<uint8_t> keep) {
  const WarmStart* warm = search_.options().warm;
  if (search_.options().keep_warm) search_.keep_floors();
  if (warm == nullptr || !fits(*warm, root_)) return;
  const std::vector<double> floors = search_.begin_warm(*warm);
  if (floors.empty() || !search_.found()) return;
  for (size_t i = 0; i < keep.size(); ++i) keep[i] = keep[i] != 0 && floors[i] < search_.cutoff();
  leave(search_.cutoff());
}

// By row of the root; those of an earlier solve, each at the row that has its point.
std::vector<double> BudgetCloser::first_prices() const {
  std::vector<double> prices(num_rows_, 0);
  const WarmStart* warm = search_.options().warm;
  if (warm == nullptr || !fits(*warm, root_)) return prices;
  for (const BudgetPrice& p : warm->prices) {
    const auto after = std::ranges::upper_bound(
        points_, std::pair(p.budget, p.point), {},
        [](const BudgetRows::Point& at) { return std::pair(at.budget, at.point); });
    if (after == points_.begin() || (after - 1)->budget != p.budget || !(p.price > 0)) continue;
    prices[static_cast<size_t>(after - 1 - points_.begin())] += p.price;
  }
  return prices;
}

void BudgetCloser::keep_prices(const Part& part, const Relaxation& relaxation) {
  search_.prices().clear();
  for (size_t r = 0; r < part.rows->size(); ++r) {
    const double price = relaxation.best_prices()[r];
    if (price == 0) continue;
    const auto [budget, point] = points_[part.rows->origin(r)];
    search_.prices().push_back({budget, point, price});
  }
}

// Nothing: no labelling is left.
Result<std::optional<Part>> BudgetCloser::restrict(const Part& parent,
                                                   std::shared_ptr<const RestrictedProblem> source,
                                                   std::span<const uint8_t> keep) {
  const std::vector<uint8_t> budgeted = parent.rows->budgeted();
  auto stage = search_.restrict(parent.stage, source, keep, budgeted);
  if (!stage.ok()) {
    if (stage.status().code() == Code::kFailedPrecondition) return {std::nullopt};
    return stage.status();
  }
  Part part{*stage, nullptr, parent.prices, parent.bound, parent.reach};
  part.rows = std::make_shared<BudgetRows>(parent.rows->restricted(
      source->problem, source->label, part.stage->problem, part.stage->undo));
  if (part.rows->broken()) return {std::nullopt};
  return {std::move(part)};
}

Status BudgetCloser::settle_without_budgets(const Part& part) {
  const PlacementProblem& p = part.stage->problem;
  Search inner(p, search_.options(), search_.watch());
  if (search_.cost() != kForbidden) inner.look_below(search_.cost() - part.stage->constant);
  auto stage = inner.root_stage({});
  if (!stage.ok())
    return stage.status().code() == Code::kFailedPrecondition ? Status() : stage.status();
  SHW_RETURN_IF_ERROR(close_gap(inner, *stage));
  leave(std::max(part.bound, part.stage->constant + inner.bound()));
  if (inner.found()) search_.offer(*part.stage, inner.take_choice());
  return {};
}

Status BudgetCloser::pack(const Part& part, Packer& packer, Relaxation& relaxation) {
  for (const bool forth : {true, false}) {
    if (search_.found() && search_.watch().expired()) return {};
    if (!packer.pack(relaxation.trws(), forth)) continue;
    SHW_RETURN_IF_ERROR(packer.improve(search_.watch()));
    if (packer.keep()) search_.offer(*part.stage, packer.choice());
  }
  return combine(part, packer, relaxation);
}

// The best packing of this part with what the relaxation would like.
Status BudgetCloser::combine(const Part& part, Packer& packer, Relaxation& relaxation) {
  const auto liked = relaxation.trws().choice();
  if (!packer.back()) return {};
  if (!liked.empty())
    SHW_RETURN_IF_ERROR(packer.combine(liked, relaxation.label_prices(), search_.watch()));
  if (packer.keep()) search_.offer(*part.stage, packer.choice());
  return {};
}

Result<Verdict> BudgetCloser::tighten(Part& part, Relaxation& relaxation, bool is_root) {
  Packer packer(part.stage->problem, *part.rows);
  const double constant = part.stage->constant;
  double stall_bound = -kForbidden;
  // A poor incumbent says little of how far the bound may rise.
  const auto goal = [&] {
    return std::min(search_.cost() - constant,
                    relaxation.bound() + kMostRise * (std::abs(relaxation.bound()) + 1));
  };
  const bool large = edge_cells(part.stage->problem) > kLargeCells;
  const uint32_t steps = !is_root ? kNodeSteps : large ? kLargeRootSteps : kRootSteps;
  for (uint32_t step = 0; step <= steps; ++step) {
    if (step == 0) {
      for (uint32_t s = 0; s < (is_root ? kWarmSweeps : 1); ++s) {
        SHW_RETURN_IF_ERROR(relaxation.sweep().status());
        if (search_.watch().expired()) break;
      }
    } else {
      SHW_RETURN_IF_ERROR(relaxation.step(goal()));
    }
    ++search_.stats().sweeps;
    SHW_RETURN_IF_ERROR(step % 10 == 0 ? pack(part, packer, relaxation)
                                       : combine(part, packer, relaxation));
    part.bound = std::max(part.bound, constant + relaxation.bound());
    if (part.bound >= search_.cutoff()) return Verdict::kClosed;
    if (search_.watch().expired()) return Verdict::kExpired;
    if (is_root) SHW_RETURN_IF_ERROR(search_.watch().report(search_.cost(), part.bound));
    if (step % 30 == 29) {
      if (part.bound - stall_bound <
          (large ? kLargeStallShare : kStallShare) * (goal() - relaxation.bound()))
        break;
      stall_bound = part.bound;
    }
  }
  SHW_RETURN_IF_ERROR(relaxation.settle());
  SHW_RETURN_IF_ERROR(pack(part, packer, relaxation));
  return Verdict::kStalled;
}

// Settles the part, or leaves its two halves in open_.
Status BudgetCloser::visit(Part part, bool is_root) {
  for (;;) {
    const PlacementProblem& p = part.stage->problem;
    if (part.rows->broken()) return {};
    if (part.rows->size() == 0) return settle_without_budgets(part);
    std::vector<double> prices;
    for (size_t r = 0; r < part.rows->size(); ++r)
      prices.push_back(part.prices[part.rows->origin(r)]);
    Relaxation relaxation(p, *part.rows, std::move(prices), search_.watch());
    relaxation.set_reach(part.reach);
    const double bound_before = part.bound;
    SHW_ASSIGN_OR_RETURN(const Verdict verdict, tighten(part, relaxation, is_root));
    search_.note_floors(*part.stage, relaxation.trws(), relaxation.offset());
    is_root = is_root && edge_cells(p) > kLargeCells;
    if (is_root) part.reach = relaxation.reach();
    if (part.stage->parent == nullptr || is_root) keep_prices(part, relaxation);
    if (give_up(part.bound)) return {};
    if (verdict == Verdict::kExpired) {
      leave(part.bound);
      return {};
    }
    for (size_t r = 0; r < part.rows->size(); ++r)
      part.prices[part.rows->origin(r)] = relaxation.best_prices()[r];

    const double limit = search_.cutoff() - part.stage->constant + relaxation.offset();
    SHW_ASSIGN_OR_RETURN(RestrictedProblem kept, relaxation.restricted(limit));
    const auto source = std::make_shared<const RestrictedProblem>(std::move(kept));
    leave(search_.cutoff());  // the labels that it lacks
    const std::vector<uint8_t> fitting = part.rows->fitting(p);
    std::vector<uint8_t> keep;
    for (uint32_t v = 0; v < p.num_variables(); ++v)
      for (uint32_t i = 0; i < source->problem.num_labels(v); ++i)
        keep.push_back(
            fitting[p.first_label(v) + source->label[source->problem.first_label(v) + i]]);
    SHW_ASSIGN_OR_RETURN(std::optional<Part> rest, restrict(part, source, keep));
    if (!rest) return {};
    const PlacementProblem& q = rest->stage->problem;
    const bool goes_on =
        is_root && part.bound - bound_before > kLargeRiseShare * (search_.cost() - part.bound);
    if (!goes_on && rest->rows->size() > 0 &&
        10 * q.first_label(q.num_variables()) > 9 * p.first_label(p.num_variables())) {
      split(part, relaxation, source);
      return {};
    }
    part = std::move(*rest);
  }
}

// What threads share that take the same closer's open parts, one each at a time.
struct Crew {
  std::mutex mutex;  // of the closer, its search, and what follows
  std::condition_variable changed;
  std::vector<double> at;  // by worker, the bound of the part it has taken; kForbidden: none
  Status status;
  std::exception_ptr thrown;
  std::atomic<bool> stop = false;  // something is wrong: nothing is to be finished
};

// Takes a part, settles it with a closer and an incumbent of its own, and hands back what is open
// of it, until nothing is left. Worker 0 is the thread of the caller: it alone reports, and goes
// about as it would alone; the others begin where it would come last, and so are not in its way.
Status BudgetCloser::branch(Crew& crew, uint32_t worker, Search& own) {
  constexpr auto kPatience = std::chrono::milliseconds(2);
  std::unique_lock lock(crew.mutex);
  std::optional<Open> likely;  // half of the last part, which this worker goes on with
  const auto bound = [&] { return std::min(open_bound(), *std::ranges::min_element(crew.at)); };
  for (;;) {
    if (crew.stop) return crew.status;
    if (worker == 0) SHW_RETURN_IF_ERROR(search_.raise_bound(bound()));
    if (stopped(own.watch())) {
      if (likely) open_.push_back(std::move(*likely));
      return {};
    }
    if (!likely && open_.empty()) {
      if (*std::ranges::min_element(crew.at) == kForbidden) return {};
      crew.changed.wait_for(lock, kPatience);
      continue;
    }
    const Open next = likely        ? *std::exchange(likely, std::nullopt)
                      : worker == 0 ? take_next()
                                    : take_last();
    crew.at[worker] = kForbidden;
    if (give_up(next.parent.bound)) continue;
    ++search_.stats().branch_nodes;
    crew.at[worker] = next.parent.bound;
    own.adopt(search_);
    BudgetCloser closer(own, root_);
    closer.num_rows_ = num_rows_;
    closer.points_ = points_;
    lock.unlock();
    const Status status = closer.enter(next.parent, next.source, next.keep);
    lock.lock();
    crew.at[worker] = kForbidden;
    SHW_RETURN_IF_ERROR(status);
    if (closer.descending_) {
      likely = std::move(closer.open_.back());
      closer.open_.pop_back();
      crew.at[worker] = likely->parent.bound;
    }
    search_.adopt(own);
    search_.stats().sweeps += std::exchange(own.stats().sweeps, 0);
    leave(closer.left_);
    for (Open& o : closer.open_) open_.push_back(std::move(o));
    crew.changed.notify_all();
  }
}

Status BudgetCloser::branch_in_parallel() {
  constexpr uint32_t kMostThreads = 16;
  const uint32_t asked = search_.options().threads;
  const uint32_t workers =
      std::clamp(asked == 0 ? std::thread::hardware_concurrency() : asked, 1u, kMostThreads);
  Crew crew;
  crew.at.assign(workers, kForbidden);
  const auto work = [&](uint32_t worker, Watch& watch) {
    Status status;
    std::exception_ptr thrown;
    try {
      std::unique_lock lock(crew.mutex);
      Search own = search_.fork(watch);
      lock.unlock();
      status = branch(crew, worker, own);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(crew.mutex);
    crew.at[worker] = kForbidden;
    if (!crew.stop) crew.status = status, crew.thrown = thrown;
    if (!status.ok() || thrown) crew.stop = true;
    crew.changed.notify_all();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (uint32_t worker = 1; worker < workers; ++worker)
        threads.emplace_back([&, worker] {
          Monitor monitor;
          monitor.cancel = &crew.stop;
          Watch watch(monitor, search_.watch());
          work(worker, watch);
        });
    } catch (const std::system_error&) {
      // Fewer threads will do.
    }
    work(0, search_.watch());
  }
  if (crew.thrown) std::rethrow_exception(crew.thrown);
  return crew.status;
}

// Leaves two halves of the source's labels in open_, the likely one last.
void BudgetCloser::split(const Part& part, const Relaxation& relaxation,
                         std::shared_ptr<const RestrictedProblem> source) {
  const PlacementProblem& p = part.stage->problem;
  const PlacementProblem& q = source->problem;
  double best_score = -1;
  uint32_t variable = 0;
  std::vector<uint8_t> first_half, half;
  double first_share = 0;
  for (uint32_t v = 0; v < q.num_variables(); ++v) {
    const uint32_t k = q.num_labels(v);
    if (k < 2) continue;
    const auto label = std::span(source->label).subspan(q.first_label(v), k);
    const auto price = [&](uint32_t i) {
      return relaxation.label_prices()[p.first_label(v) + label[i]];
    };
    const auto share = [&](uint32_t i) {
      return relaxation.frequency()[p.first_label(v) + label[i]];
    };
    double mean = 0, total = 1e-30;
    for (uint32_t i = 0; i < k; ++i) total += share(i), mean += share(i) * price(i);
    mean /= total;
    double spread = 0;
    uint32_t favourite = 0;
    for (uint32_t i = 0; i < k; ++i) {
      spread += share(i) * std::abs(price(i) - mean);
      if (share(i) > share(favourite)) favourite = i;
    }
    double least = kForbidden, most = -kForbidden;
    for (uint32_t i = 0; i < k; ++i)
      least = std::min(least, price(i)), most = std::max(most, price(i));
    const bool by_price = spread > 1e-9 * (1 + std::abs(mean)) && most > least;
    const double score = by_price ? 1 + spread : (1 - share(favourite)) * 0.5;
    if (score <= best_score) continue;
    best_score = score;
    variable = v;
    half.assign(k, 0);
    const double at = std::clamp(mean, least, std::nextafter(most, -kForbidden));
    first_share = 0;
    for (uint32_t i = 0; i < k; ++i) {
      half[i] = by_price ? price(i) <= at : i == favourite;
      if (half[i]) first_share += share(i) / total;
    }
    first_half = half;
  }
  const bool first_likely = first_share >= 0.5;
  for (const bool first : {!first_likely, first_likely}) {
    std::vector<uint8_t> keep(q.first_label(q.num_variables()), 1);
    for (uint32_t i = 0; i < first_half.size(); ++i)
      keep[q.first_label(variable) + i] = (first_half[i] != 0) == first;
    open_.push_back({part, source, std::move(keep)});
    descending_ = true;
  }
}

}  // namespace

Status close_gap_within_budgets(Search& search, const PlacementProblem& root) {
  return BudgetCloser(search, root).run();
}

}  // namespace shw::solver
