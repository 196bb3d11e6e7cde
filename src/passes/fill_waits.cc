#include "passes/fill_waits.h"

#include <algorithm>
#include <tuple>

namespace shw {
namespace {

// The scratch during the walk: all live bytes, and those that only deferred steps still need.
class WalkMemory {
 public:
  WalkMemory(const Program& program, std::span<const ProgramStep* const> steps)
      : p_(program), steps_(steps), storages_(program.storages.size()) {
    for (uint32_t i = 0; i < steps.size(); ++i)
      for_scratch(i, [](Scratch& s, int64_t) { ++s.left; });
  }

  int64_t live_bytes() const { return live_bytes_; }
  int64_t held_bytes() const { return held_bytes_; }

  void put_off(uint32_t i) { count(i, 0, 1); }
  void run(uint32_t i, bool was_put_off) { count(i, 1, was_put_off ? -1 : 0); }
  // Whether the step, if it ran now, would free at least as many bytes as it makes.
  bool would_free(uint32_t i) {
    int64_t more = 0;
    for_scratch(i, [&](const Scratch& s, int64_t bytes) {
      if (!s.begun) more += bytes;
      if (s.begun && s.left == 1) more -= bytes;
    });
    return more <= 0;
  }

 private:
  struct Scratch {
    int32_t left = 0, off = 0;  // uses by steps that have not run; of these, by deferred steps
    bool begun = false;
    bool is_live() const { return begun && left > 0; }
    bool is_held() const { return is_live() && left == off; }
  };

  template <class Visit>
  void for_scratch(uint32_t i, Visit visit) {  // once for each use
    for (const auto* list : {&steps_[i]->inputs, &steps_[i]->outputs})
      for (ValueId v : *list)
        if (p_.lies_in(v, StorageKind::kArena)) {
          const StorageId s = p_.values[v].storage;
          visit(storages_[s.v], p_.storages[s].bytes);
        }
  }
  void count(uint32_t i, int32_t ran, int32_t put_off) {
    for_scratch(i, [&](Scratch& s, int64_t bytes) {
      const bool was_live = s.is_live(), was_held = s.is_held();
      s.begun |= ran > 0;
      s.left -= ran;
      s.off += put_off;
      live_bytes_ += bytes * (s.is_live() - was_live);
      held_bytes_ += bytes * (s.is_held() - was_held);
    });
  }

  const Program& p_;
  const std::span<const ProgramStep* const> steps_;
  std::vector<Scratch> storages_;
  int64_t live_bytes_ = 0, held_bytes_ = 0;
};

class Walk {
 public:
  Walk(const Program& program, std::span<const ProgramStep* const> steps,
       const EntrySchedule& schedule, const FillBounds& bounds)
      : schedule_(schedule),
        spare_(program, steps, schedule),
        bounds_(bounds),
        memory_(program, steps),
        steps_(steps.size()),
        queues_(schedule.num_queues() + 1) {
    for (uint32_t i = 0; i < steps.size(); ++i) {
      queue_of(i).left_us += schedule.us(i);
      steps_[i].held_up_by = static_cast<uint32_t>(schedule.needs().before(i).size());
      note_early(i);
    }
    find_gradients(steps);
    order_.reserve(steps.size());
  }

  EntrySchedule::Order run(const EntrySchedule::Order& order) {
    find_coming(order);
    uint32_t place = 0;  // among compute steps that do not move
    for (const uint32_t i : order) {
      come_to(i);
      if (!schedule_.moves(i)) start_gathers(place++);
      if (steps_[i].state != State::kToCome) continue;
      if (can_wait(i)) {
        put_off(i);
        continue;
      }
      for (uint32_t w : schedule_.needs().before(i)) run_with_needs(w);
      if (!schedule_.is_collective(i)) {
        feed_communicators();
        fill_until(ready_us(i));
        if (steps_[i].is_product) reduce_gradients();
      }
      run_step(i);
      while (memory_.live_bytes() > bounds_.live_bytes && run_oldest()) continue;
    }
    while (!put_off_.empty()) run_with_needs(next_at_end());
    return std::move(order_);
  }

 private:
  static constexpr size_t kPreparedAhead = 16;  // they hold little memory, but it adds up
  enum class State : uint8_t { kToCome, kPutOff, kDone };
  struct Step {
    State state = State::kToCome;
    bool is_ahead = false;  // a gather that has started before its place
    bool is_product = false;
    bool reduces_gradient = false;  // a reduction that no product waits for
    uint32_t held_up_by = 0;        // number of dependencies on steps that have not run
    uint32_t first_reader = 0;      // the first reader that does not move
    double end_us = 0;
  };
  struct Queue {
    double free_us = 0, left_us = 0;  // when it is idle; time of its remaining steps
    std::vector<uint32_t> gathers;    // of parameters, still to come; the next one last
  };

  // A step in front of a gather of parameters, such as a cast.
  bool prepares(uint32_t i) const {
    return schedule_.is_of_parameters(i) && !schedule_.is_collective(i);
  }
  Queue& compute() { return queues_.back(); }
  double now_us() const { return queues_.back().free_us; }  // when compute is done
  Queue& queue_of(uint32_t i) {
    return schedule_.is_collective(i) ? queues_[schedule_.queue(i)] : compute();
  }
  double ready_us(uint32_t i) const {
    double us = 0;
    for (uint32_t w : schedule_.needs().before(i)) us = std::max(us, steps_[w].end_us);
    return us;
  }
  bool is_held_up(uint32_t i) const { return steps_[i].held_up_by > 0; }
  bool could_run(uint32_t i) const { return !is_held_up(i) && ready_us(i) <= now_us(); }

  void find_coming(const EntrySchedule::Order& order) {
    uint32_t place = 0;
    for (uint32_t i : order) place += !schedule_.moves(i);
    for (Step& step : steps_) step.first_reader = place;
    for (size_t at = order.size(); at-- > 0;) {
      const uint32_t i = order[at];
      if (schedule_.moves(i))
        for (uint32_t r : schedule_.needs().after(i))
          steps_[i].first_reader = std::min(steps_[i].first_reader, steps_[r].first_reader);
      else
        steps_[i].first_reader = --place;
      if (!schedule_.is_of_parameters(i)) continue;
      (schedule_.is_collective(i) ? queue_of(i).gathers : preparing_).push_back(i);
    }
    std::ranges::reverse(preparing_);
  }
  void find_gradients(std::span<const ProgramStep* const> steps) {
    std::vector<uint8_t> feeds_product(steps.size(), 0);
    for (auto i = static_cast<uint32_t>(steps.size()); i-- > 0;) {
      for (uint32_t r : schedule_.needs().after(i))
        feeds_product[i] |= feeds_product[r] | static_cast<uint8_t>(steps_[r].is_product);
      steps_[i].is_product = is_product(*steps[i]);
      steps_[i].reduces_gradient = reduces(steps[i]->collective.kind) && !feeds_product[i];
    }
  }
  void come_to(uint32_t i) {
    num_prepared_ += prepares(i);
    if (steps_[i].is_ahead) ahead_bytes_ -= schedule_.makes_bytes(i);
  }
  // Starts gathers in front of this compute step, on idle communicators.
  void start_gathers(uint32_t place) {
    for (Queue& queue : queues_) {
      std::vector<uint32_t>& gathers = queue.gathers;
      while (!gathers.empty() && steps_[gathers.back()].state == State::kDone) gathers.pop_back();
      if (gathers.empty() || queue.free_us > now_us()) continue;
      const uint32_t i = gathers.back();
      const int64_t bytes = schedule_.makes_bytes(i);
      if (!could_run(i) || steps_[i].first_reader - place > bounds_.steps ||
          ahead_bytes_ + bytes > bounds_.held_bytes ||
          memory_.live_bytes() + bytes > bounds_.live_bytes)
        continue;
      steps_[i].is_ahead = true;
      ahead_bytes_ += bytes;
      run_step(i);
    }
  }

  // Whether the step may be deferred: a compute step with spare time, or a collective that waits
  // for deferred steps.
  bool can_wait(uint32_t i) const {
    if (!schedule_.is_collective(i)) return spare_.has_time(i);
    return std::ranges::any_of(schedule_.needs().before(i),
                               [&](uint32_t w) { return steps_[w].state == State::kPutOff; });
  }
  void put_off(uint32_t i) {
    steps_[i].state = State::kPutOff;
    memory_.put_off(i);
    if (schedule_.is_collective(i)) return;
    std::erase(early_, i);
    put_off_.push_back(i);
    while ((memory_.held_bytes() > bounds_.held_bytes || put_off_.size() > bounds_.steps) &&
           run_oldest())
      continue;
  }
  void note_early(uint32_t i) {
    if (steps_[i].state == State::kToCome && !is_held_up(i) && spare_.has_time(i) &&
        early_.size() < bounds_.steps)
      early_.push_back(i);
  }

  void run_step(uint32_t i) {
    Queue& queue = queue_of(i);
    queue.free_us = std::max({queue.free_us, now_us(), ready_us(i)}) + schedule_.us(i);
    queue.left_us -= schedule_.us(i);
    const bool was_put_off = steps_[i].state == State::kPutOff;
    memory_.run(i, was_put_off);
    products_ = steps_[i].reduces_gradient ? 0 : products_ + steps_[i].is_product;
    steps_[i].state = State::kDone;
    steps_[i].end_us = queue.free_us;
    order_.push_back(i);
    std::erase(put_off_, i);
    std::erase(early_, i);
    for (uint32_t r : schedule_.needs().after(i)) {
      --steps_[r].held_up_by;
      note_early(r);
    }
    for (uint32_t r : schedule_.needs().after(i))
      if (is_released(r, was_put_off || spare_.has_time(i))) run_step(r);
  }
  // Whether a collective now follows a step that has moved, or whose last pending dependency just
  // ran.
  bool is_released(uint32_t i, bool has_moved) const {
    return schedule_.is_collective(i) && !is_held_up(i) &&
           (steps_[i].state == State::kPutOff || (steps_[i].state == State::kToCome && has_moved));
  }
  void run_with_needs(uint32_t i) {
    while (steps_[i].state != State::kDone) run_step(first_needed(i));
  }
  uint32_t first_needed(uint32_t i) const {
    const auto is_open = [&](uint32_t w) { return steps_[w].state != State::kDone; };
    for (;;) {
      const std::span<const uint32_t> before = schedule_.needs().before(i);
      const auto open = std::ranges::find_if(before, is_open);
      if (open == before.end()) return i;
      i = *open;
    }
  }

  // Runs the oldest deferred step that can run. False: there is none.
  bool run_oldest() {
    const auto oldest = std::ranges::find_if(put_off_, [&](uint32_t i) { return could_run(i); });
    if (oldest == put_off_.end()) return false;
    run_step(*oldest);
    return true;
  }
  // Of the steps that can run, the one with the longest chain behind it.
  uint32_t next_at_end() const {
    const auto rank = [&](uint32_t i) {
      return std::tuple(is_held_up(i), std::max(now_us(), ready_us(i)), -spare_.behind_us(i));
    };
    return *std::ranges::min_element(put_off_, {}, rank);
  }

  // Runs deferred products before the next product, so that a reduction of gradients can start.
  // These count as products too, so they run one product before the bound is reached.
  void reduce_gradients() {
    while (products_ + 1 >= bounds_.products) {
      const auto oldest = std::ranges::find_if(put_off_, [&](uint32_t i) {
        const uint32_t collective = spare_.feeds(i);
        return collective != kNoStep && steps_[collective].reduces_gradient && could_run(i);
      });
      if (oldest == put_off_.end()) return;
      run_step(*oldest);
    }
  }
  void feed_communicators() {
    for (size_t k = 0; k < put_off_.size();) {
      const uint32_t i = put_off_[k++];
      if (spare_.feeds(i) == kNoStep) continue;
      const Queue& queue = queue_of(spare_.feeds(i));
      const double queued_us = std::max(0.0, queue.free_us - now_us()), us = schedule_.us(i);
      const bool is_short = queued_us + queue.left_us + us <= compute().left_us;
      if (is_short || queued_us >= us || !could_run(i)) continue;
      run_step(i);
      k = 0;
    }
  }

  void fill_until(double us) {
    while (us > now_us()) {
      uint32_t best = kNoStep;
      const auto consider = [&](uint32_t i) {
        if (best == kNoStep || fits_better(schedule_.us(i), schedule_.us(best), us - now_us()))
          best = i;
      };
      for (const auto* list : {&put_off_, &early_})
        for (uint32_t i : *list)
          if (could_run(i) && (list == &put_off_ || memory_.would_free(i))) consider(i);
      if (best == kNoStep) consider_preparing(consider);
      // Otherwise it would delay the next step by more than it saves.
      if (best == kNoStep || schedule_.us(best) > 2 * (us - now_us())) return;
      run_step(best);
    }
  }
  // Considers the next steps that prepare a gather and are due soon anyway. Their gathers stay
  // where they are.
  template <class Consider>
  void consider_preparing(Consider consider) const {
    const size_t end = std::min(preparing_.size(), num_prepared_ + kPreparedAhead);
    for (size_t k = num_prepared_; k < end; ++k)
      if (steps_[preparing_[k]].state == State::kToCome && could_run(preparing_[k]))
        return consider(preparing_[k]);
  }
  // Prefers the longest step that ends within the wait; if none does, the shortest.
  static bool fits_better(double a, double b, double wait_us) {
    if ((a <= wait_us) != (b <= wait_us)) return a <= wait_us;
    return a <= wait_us ? a > b : a < b;
  }

  const EntrySchedule& schedule_;
  const SpareTime spare_;
  const FillBounds bounds_;
  WalkMemory memory_;
  std::vector<Step> steps_;
  std::vector<Queue> queues_;        // by communicator; compute last
  std::vector<uint32_t> put_off_;    // compute steps, the oldest first
  std::vector<uint32_t> early_;      // have spare time, can run now, and have not been reached
  std::vector<uint32_t> preparing_;  // steps that prepare, as they come
  size_t num_prepared_ = 0;          // number of these that the walk has reached
  int64_t ahead_bytes_ = 0;          // of gathers that are ahead
  uint32_t products_ = 0;            // since the last reduction of a gradient
  EntrySchedule::Order order_;
};

}  // namespace

EntrySchedule::Order fill_waits(const Program& program, std::span<const ProgramStep* const> steps,
                                const EntrySchedule& schedule, const EntrySchedule::Order& order,
                                const FillBounds& bounds) {
  return Walk(program, steps, schedule, bounds).run(order);
}

}  // namespace shw
