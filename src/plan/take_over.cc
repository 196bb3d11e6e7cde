#include "plan/take_over.h"

#include <algorithm>

#include "plan/slice_accesses.h"

namespace shw {
namespace {

// By storage: the first and the last step that touches it, and whether all of them are of one
// stream.
struct Touches {
  uint32_t first = kNoStep, last = 0;
  StreamNumber stream = 0;
  bool one_stream = true;
};
IndexVec<StorageId, Touches> touches_of(const Program& p) {
  IndexVec<StorageId, Touches> touches(p.storages.size(), {});
  for (uint32_t s = 0; s < p.steps.size(); ++s)
    for (const auto* values : {&p.steps[s].inputs, &p.steps[s].outputs})
      for (const ValueId v : *values) {
        if (!v.valid()) continue;
        Touches& t = touches[p.values[v].storage];
        if (t.first == kNoStep) {
          t.first = s;
          t.stream = p.steps[s].stream;
        }
        t.last = s;
        t.one_stream &= t.stream == p.steps[s].stream;
      }
  return touches;
}

class Finder {
 public:
  Finder(const Program& program, const IndexVec<StorageId, Touches>& touches,
         const FusedGroup& group)
      : p_(program), touches_(touches), group_(group), sliced_(group.num_steps) {}

  std::optional<TakeOver> find() {
    for (uint32_t i = 0; i < group_.num_steps; ++i) {
      const uint32_t s = group_.first_step + i;
      if (loop_shape(p_, p_.steps[s]).empty()) return {};
      auto sliced = slice_step(p_, p_.steps[s], group_.slices);
      if (!sliced) return {};
      sliced_[i] = std::move(*sliced);
      add_accesses(p_, s, &sliced_[i], accesses_);
    }
    if (accesses_.empty()) return {};
    const SliceAccess& result = accesses_.back();
    if (!result.writes || !is_placed_whole(result) || touches_[result.storage].first != result.step)
      return {};
    for (const SliceAccess& a : accesses_)
      if (is_free(a, result)) return TakeOver{a.storage, result.storage};
    return {};
  }

 private:
  bool is_placed_whole(const SliceAccess& a) const {
    const ProgramStorage& s = p_.storages[a.storage];
    return s.kind == StorageKind::kArena && a.type->contiguous() && a.type->bytes() == s.bytes &&
           touches_[a.storage].one_stream;
  }

  // Nobody touches the storage that `read` reads once its slice has been read.
  bool is_free(const SliceAccess& read, const SliceAccess& result) const {
    const Touches& touches = touches_[read.storage];
    if (read.storage == result.storage || !is_placed_whole(read) ||
        touches.first >= group_.first_step || touches.last >= result.step ||
        p_.storages[read.storage].bytes != p_.storages[result.storage].bytes)
      return false;
    return std::ranges::all_of(accesses_, [&](const SliceAccess& a) {
      return a.storage != read.storage || (!a.writes && same_slices(a, result));
    });
  }
  static bool same_slices(const SliceAccess& a, const SliceAccess& b) {
    return *a.type == *b.type && a.slice->type == b.slice->type &&
           a.slice->stride_bytes == b.slice->stride_bytes &&
           std::ranges::find(a.slice->stride_bytes, 0) == a.slice->stride_bytes.end();
  }

  const Program& p_;
  const IndexVec<StorageId, Touches>& touches_;
  const FusedGroup& group_;
  std::vector<SlicedStep> sliced_;
  SliceAccesses accesses_;
};

}  // namespace

std::vector<TakeOver> take_overs(const Program& program) {
  std::vector<TakeOver> found;
  if (program.fused_groups.empty()) return found;
  const IndexVec<StorageId, Touches> touches = touches_of(program);
  for (const FusedGroup& group : program.fused_groups)
    if (const auto one = Finder(program, touches, group).find()) found.push_back(*one);
  return found;
}

}  // namespace shw
