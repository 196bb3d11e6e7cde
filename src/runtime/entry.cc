#include "runtime/entry.h"

#include <algorithm>
#include <string>

#include "runtime/host_tensor.h"

namespace shw::runtime {

Result<const ProgramEntry*> find_entry(const Program& program, std::string_view name) {
  for (const ProgramEntry& entry : program.entries)
    if (entry.name == name) return &entry;
  std::string buckets;
  for (const ProgramEntry& entry : program.entries)
    if (entry.bucket_of == name) buckets += (buckets.empty() ? "" : ", ") + entry.name;
  return Status(Code::kNotFound,
                "the plan has no entry '" + std::string(name) + "'" +
                    (buckets.empty() ? "" : " of one size; it has the buckets " + buckets));
}

namespace {

// One size a symbol, -1 for those that the entry does not depend on.
Result<std::vector<int64_t>> sizes_for(const Program& program, const ProgramEntry& entry,
                                       std::span<const SymbolSize> sizes) {
  std::vector<int64_t> wanted(program.symbols.size(), -1);
  for (const SymbolSize& size : sizes) {
    const auto symbol = std::ranges::find(program.symbols, size.symbol, &Symbol::name);
    const auto s = static_cast<size_t>(symbol - program.symbols.begin());
    if (s >= entry.bucket.size() || entry.bucket[s] < 0)
      return invalid_argument("entry '" + entry.bucket_of + "' does not depend on '" +
                              std::string(size.symbol) + "'");
    SHW_RETURN_IF_ERROR(check_size(*symbol, size.size));
    wanted[s] = size.size;
  }
  for (size_t s = 0; s < entry.bucket.size(); ++s)
    if (entry.bucket[s] >= 0 && wanted[s] < 0)
      return invalid_argument("entry '" + entry.bucket_of + "' depends on '" +
                              program.symbols[s].name + "', whose size is not given");
  return wanted;
}

bool fits(std::span<const int64_t> sizes, std::span<const int64_t> bucket) {
  for (size_t s = 0; s < sizes.size(); ++s)
    if (sizes[s] > bucket[s]) return false;
  return true;
}

double volume(const ProgramEntry& entry) {
  double product = 1;
  for (int64_t size : entry.bucket) product *= static_cast<double>(std::max<int64_t>(size, 1));
  return product;
}

}  // namespace

Result<const ProgramEntry*> choose_bucket(const Program& program, std::string_view name,
                                          std::span<const SymbolSize> sizes) {
  const ProgramEntry* best = nullptr;
  std::vector<int64_t> wanted;
  std::string known;
  for (const ProgramEntry& entry : program.entries) {
    if (entry.bucket_of.empty() || entry.bucket_of != name) continue;
    if (known.empty()) {
      SHW_ASSIGN_OR_RETURN(wanted, sizes_for(program, entry, sizes));
    }
    known += (known.empty() ? "" : "; ") + sizes_text(entry.bucket, program.symbols);
    if (fits(wanted, entry.bucket) && (best == nullptr || volume(entry) < volume(*best)))
      best = &entry;
  }
  if (best != nullptr) return best;
  if (!known.empty())
    return failed_precondition("no bucket of entry '" + std::string(name) +
                               "' is large enough for " + sizes_text(wanted, program.symbols) +
                               "; there are " + known);
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, find_entry(program, name));
  if (!sizes.empty())
    return invalid_argument("entry '" + entry->name + "' does not depend on '" +
                            std::string(sizes[0].symbol) + "'");
  return entry;
}

Result<const ProgramEntry*> entry_to_run(const Program& program, const Mesh& mesh,
                                         std::string_view name, size_t num_inputs) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, find_entry(program, name));
  if (num_inputs != entry->inputs.size())
    return invalid_argument("entry '" + entry->name + "' has " +
                            std::to_string(entry->inputs.size()) + " inputs, not " +
                            std::to_string(num_inputs));
  for (PortId id : entry->outputs)
    if (const Port& port = program.ports[id]; port.value.valid())
      SHW_RETURN_IF_ERROR(check_can_shard(port, mesh));
  return entry;
}

}  // namespace shw::runtime
