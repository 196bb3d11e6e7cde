#include "simulate/moments.h"

#include <algorithm>

namespace shw {

StorageMoments::StorageMoments(const Program& program, const ProgramEntry& entry)
    : p_(program), whole_(program.storages.size()), parts_of_(program.storages.size(), kNone) {
  std::vector<ValueId> written(program.storages.size());
  for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i)
    for (ValueId v : program.steps[i].outputs)
      if (v.valid()) note(v, written[program.values[v].storage.v]);
}

// A storage has parts if steps write more than one window of it.
void StorageMoments::note(ValueId v, ValueId& written) {
  uint32_t& parts = parts_of_[p_.values[v].storage.v];
  if (!written.valid()) {
    written = v;
  } else if (parts == kNone && touched_bytes(p_.values[v]) != touched_bytes(p_.values[written])) {
    parts = static_cast<uint32_t>(parts_.size());
    parts_.emplace_back();
  }
}

UseMoments& StorageMoments::of_part(ValueId v) {
  const ByteRange range = touched_bytes(p_.values[v]);
  std::vector<Part>& parts = parts_[parts_of_[p_.values[v].storage.v]];
  const auto at = std::ranges::find(parts, range, &Part::range);
  return at != parts.end() ? at->moments : parts.emplace_back(Part{range, {}}).moments;
}

}  // namespace shw
