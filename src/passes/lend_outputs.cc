// Greedy: takes the storages that are live at the fullest step, the largest first, and puts each
// into the smallest output with room for it during its lifetime.
#include "passes/lend_outputs.h"

#include <algorithm>
#include <numeric>

#include "passes/lifetimes.h"

namespace shw {
namespace {

// A storage with less than 1/kLeastShare of the peak does not justify a pointer that changes from
// run to run.
constexpr int64_t kLeastShare = 4096;

// An output within one entry.
struct Lender {
  uint32_t port = 0;
  int64_t bytes = 0;
  uint32_t begin = 0;        // first step of the entry; the caller's memory is available from there
  uint32_t first_write = 0;  // steps from here on touch the output
  std::vector<Life> lent;
};

class Lending {
 public:
  explicit Lending(Program& program)
      : p_(program), lives_(lives_of(program)), live_(live_bytes(lives_, program.steps.size())) {
    find_lenders();
    find_borrowers();
  }

  uint32_t run() {
    uint32_t lent = 0;
    for (uint32_t more = 1; more > 0; lent += more) {
      const auto fullest = static_cast<uint32_t>(std::ranges::max_element(live_) - live_.begin());
      more = 0;
      for (const uint32_t i : borrowers_)
        if (lives_[i].begin <= fullest && fullest < lives_[i].end) more += lend(i);
      std::erase_if(borrowers_, [&](uint32_t i) {
        return lives_[i].begin <= fullest && fullest < lives_[i].end;  // moved, or it fits nowhere
      });
    }
    return lent;
  }

 private:
  void find_lenders() {
    const std::vector<StepSpan> spans = spans_of_steps(p_);
    for (const ProgramEntry& e : p_.entries) {
      std::vector<uint32_t> first(p_.ports.size(), UINT32_MAX);
      for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
        for (const auto* list : {&p_.steps[i].inputs, &p_.steps[i].outputs})
          for (const ValueId v : *list)
            if (p_.lies_in(v, StorageKind::kOutput)) {
              uint32_t& step = first[p_.storages[p_.values[v].storage].port];
              step = std::min(step, spans[i].first);
            }
      for (const PortId id : e.outputs)
        if (first[id.v] != UINT32_MAX && first[id.v] > e.first_step)
          lenders_.push_back({id.v,
                              p_.storages[p_.values[p_.ports[id].value].storage].bytes,
                              e.first_step,
                              first[id.v],
                              {}});
    }
    std::ranges::stable_sort(lenders_, {}, &Lender::bytes);
  }

  // Collectives work in registered memory, and copies to and from the host in the arena.
  void find_borrowers() {
    std::vector<uint8_t> stays(p_.storages.size(), 0);
    for (const ProgramStep& step : p_.steps) {
      if (!runs_on_link(p_, step)) continue;
      for (const auto* list : {&step.inputs, &step.outputs})
        for (const ValueId v : *list)
          if (v.valid()) stays[p_.values[v].storage.v] = 1;
    }
    const int64_t least = *std::ranges::max_element(live_) / kLeastShare;
    for (uint32_t i = 0; i < lives_.size(); ++i)
      if (lives_[i].bytes > least && !stays[lives_[i].storage]) borrowers_.push_back(i);
    std::ranges::stable_sort(borrowers_, std::ranges::greater{},
                             [&](uint32_t i) { return lives_[i].bytes; });
  }

  uint32_t lend(uint32_t borrower) {
    Life& life = lives_[borrower];
    for (Lender& lender : lenders_) {
      if (lender.bytes < life.bytes || life.begin < lender.begin || life.end > lender.first_write)
        continue;
      life.offset = lowest_place(lender, life);
      if (life.offset + life.bytes > lender.bytes) continue;
      lender.lent.push_back(life);
      ProgramStorage& s = p_.storages[StorageId{life.storage}];
      s = {s.bytes, StorageKind::kInOutput, lender.port, life.offset};
      for (uint32_t step = life.begin; step < life.end; ++step) live_[step] -= life.bytes;
      return 1;
    }
    return 0;
  }

  static int64_t lowest_place(Lender& lender, const Life& life) {
    std::ranges::sort(lender.lent, {}, &Life::offset);
    int64_t offset = 0;
    for (const Life& other : lender.lent)
      if (other.meets(life) && other.offset < offset + life.bytes)
        offset = std::max(offset, other.offset + other.bytes);
    return offset;
  }

  Program& p_;
  std::vector<Life> lives_;          // of the arena
  std::vector<int64_t> live_;        // by step, of storages still in the arena
  std::vector<Lender> lenders_;      // the smallest first
  std::vector<uint32_t> borrowers_;  // movable lives not tried yet, the largest first
};

}  // namespace

uint32_t lend_outputs(Program& program) { return Lending(program).run(); }

void take_back_outputs(Program& program) {
  for (ProgramStorage& s : program.storages)
    if (s.kind == StorageKind::kInOutput) s = {s.bytes, StorageKind::kArena};
}

int64_t lendable_bytes(const Program& program, const PassOptions& options) {
  if (!options.lends_outputs) return 0;
  int64_t bytes = 0;
  for (const ProgramStorage& s : program.storages)
    if (s.kind == StorageKind::kOutput) bytes += s.bytes;
  return bytes;
}

}  // namespace shw
