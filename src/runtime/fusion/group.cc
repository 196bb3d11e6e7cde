#include "runtime/fusion/group.h"

#include <algorithm>

#include "plan/window.h"

namespace shw::runtime {
namespace {

constexpr int64_t kScratchMemory = INT64_MIN;  // the group's scratch memory

// A storage that is used only within the group.
struct Temporary {
  StorageId storage;
  int64_t origin;  // begin of its writer's window, counted as SliceAccess::begin
  int64_t begin;   // offset in scratch memory
};

// Whether the step can write its result into the memory of its first operand. A scatter can,
// because it changes only one element of a line.
bool may_overwrite(const Program& program, const SliceAccesses& accesses, const SliceAccess& writer,
                   const SliceAccess& before) {
  const ProgramStep& step = program.steps[writer.step];
  if (step.kernel != "scatter") return false;
  const SliceAccess* read = nullptr;  // the first operand is the first access
  for (const SliceAccess& a : accesses)
    if (a.step == writer.step && read == nullptr) read = &a;
  return read->storage == before.storage && read->begin == before.begin &&
         read->slice->type == writer.slice->type && before.slice->type == writer.slice->type;
}

// Assigns scratch memory to each temporary. A temporary reuses the memory of one whose last reader
// has run, or which its writer may overwrite, so that the scratch occupies little cache.
std::vector<Temporary> place(const Program& program, const SliceAccesses& accesses,
                             const std::vector<const SliceAccess*>& writers,
                             int64_t& scratch_bytes) {
  struct Place {
    int64_t begin, bytes;
    uint32_t free_after;  // last step that uses it
    const SliceAccess* writer;
  };
  std::vector<Place> places;
  std::vector<Temporary> temporaries;
  for (const SliceAccess* writer : writers) {
    const int64_t bytes = (writer->slice->type.bytes() + 63) / 64 * 64;
    auto found = std::ranges::find_if(places, [&](const Place& p) {
      return p.free_after == writer->step && may_overwrite(program, accesses, *writer, *p.writer);
    });
    if (found == places.end())
      found = std::ranges::find_if(
          places, [&](const Place& p) { return p.bytes == bytes && p.free_after < writer->step; });
    if (found == places.end()) {
      found = places.insert(places.end(), {scratch_bytes, bytes, 0, nullptr});
      scratch_bytes += bytes;
    }
    found->writer = writer;
    for (const SliceAccess& a : accesses)
      if (a.storage == writer->storage) found->free_after = a.step;
    temporaries.push_back({writer->storage, writer->begin, found->begin});
  }
  return temporaries;
}

void add_operands(const Program& program, std::span<const ValueId> values,
                  const std::vector<Slice>& slices, SliceAccesses::const_iterator& access,
                  const std::vector<Temporary>& temporaries, FusedStep& member) {
  for (size_t i = 0; i < values.size(); ++i) {
    FusedOperand& operand = member.operands.emplace_back();
    operand.value = values[i];
    operand.slice = slices[i];
    if (!values[i].valid()) continue;
    const SliceAccess& at = *access++;
    const StorageId storage = program.values[values[i]].storage;
    const auto temporary = std::ranges::find(temporaries, storage, &Temporary::storage);
    if (temporary != temporaries.end()) {
      operand.temporary = temporary->begin + at.begin - temporary->origin;
      operand.memory = kScratchMemory;
      operand.begin = operand.temporary;
      operand.end = operand.begin + touched_bytes({operand.slice.type, {}, 0}).last;
    } else {
      operand.memory = at.memory;
      operand.begin = at.begin;
      operand.end = at.end;
    }
  }
}

}  // namespace

SlicedGroup slice_group(const Program& program, const UseCounts& uses, const FusedGroup& group) {
  std::vector<SlicedStep> sliced(group.num_steps);
  SliceAccesses accesses;
  for (uint32_t i = 0; i < group.num_steps; ++i) {
    const uint32_t s = group.first_step + i;
    sliced[i] = *slice_step(program, program.steps[s], group.slices);
    add_accesses(program, s, &sliced[i], accesses);
  }
  SlicedGroup result;
  result.loops = group.slices;
  const std::vector<Temporary> temporaries =
      place(program, accesses, find_temporaries(program, uses, accesses), result.scratch_bytes);
  auto access = accesses.cbegin();
  for (uint32_t i = 0; i < group.num_steps; ++i) {
    const uint32_t s = group.first_step + i;
    FusedStep& member = result.members.emplace_back();
    member.step = s;
    member.attrs = std::move(sliced[i].attrs);
    add_operands(program, program.steps[s].inputs, sliced[i].inputs, access, temporaries, member);
    add_operands(program, program.steps[s].outputs, sliced[i].outputs, access, temporaries, member);
  }
  return result;
}

}  // namespace shw::runtime
