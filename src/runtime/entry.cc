#include "runtime/entry.h"

#include <algorithm>
#include <string>
#include <vector>

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

Result<PortId> find_state_port(const Program& program, std::string_view name) {
  for (uint32_t i = 0; i < program.ports.size(); ++i) {
    const Port& port = program.ports[PortId{i}];
    if (port.name == name && is_input(port.role) && program.lies_in(port, StorageKind::kState))
      return PortId{i};
  }
  return Status(Code::kNotFound, "the plan keeps no '" + std::string(name) + "'");
}

namespace {

Status no_dependence(std::string_view entry, std::string_view symbol) {
  return invalid_argument("entry '" + std::string(entry) + "' does not depend on '" +
                          std::string(symbol) + "'");
}

// The buckets of an entry of the graph.
class Buckets {
 public:
  Buckets(const Program& program, std::string_view name) : symbols_(program.symbols), name_(name) {
    for (const ProgramEntry& entry : program.entries)
      if (!entry.bucket_of.empty() && entry.bucket_of == name) buckets_.push_back(&entry);
  }
  bool empty() const { return buckets_.empty(); }

  Result<const ProgramEntry*> choose(std::span<const SymbolSize> sizes) const {
    SHW_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, sizes_for(sizes));
    const ProgramEntry* best = nullptr;
    for (const ProgramEntry* b : buckets_)
      if (fits(wanted, *b) && (best == nullptr || volume(*b) < volume(*best))) best = b;
    if (best == nullptr) return none_fits(wanted);
    return best;
  }

 private:
  // One size per symbol; -1 for symbols that the entry does not depend on.
  Result<std::vector<int64_t>> sizes_for(std::span<const SymbolSize> sizes) const {
    const std::vector<int64_t>& used = buckets_[0]->bucket;
    std::vector<int64_t> wanted(symbols_.size(), -1);
    for (const SymbolSize& size : sizes) {
      const auto symbol = std::ranges::find(symbols_, size.symbol, &Symbol::name);
      const auto s = static_cast<size_t>(symbol - symbols_.begin());
      if (s >= used.size() || used[s] < 0) return no_dependence(name_, size.symbol);
      if (wanted[s] >= 0)
        return invalid_argument("the size of symbol '" + symbol->name + "' is given twice");
      SHW_RETURN_IF_ERROR(check(*symbol, s, size.size));
      wanted[s] = size.size;
    }
    for (size_t s = 0; s < used.size(); ++s)
      if (used[s] >= 0 && wanted[s] < 0)
        return invalid_argument("entry '" + std::string(name_) + "' depends on '" +
                                symbols_[s].name + "', whose size is not given");
    return wanted;
  }

  Status check(const Symbol& symbol, size_t s, int64_t size) const {
    int64_t largest = 0;
    for (const ProgramEntry* b : buckets_) largest = std::max(largest, b->bucket[s]);
    if (size > largest)
      return {Code::kOutOfRange, "no bucket of entry '" + std::string(name_) +
                                     "' is large enough for " + symbol.name + "=" +
                                     std::to_string(size) + "; the largest has " + symbol.name +
                                     "=" + std::to_string(largest)};
    return check_size(symbol, size);
  }

  static bool fits(std::span<const int64_t> sizes, const ProgramEntry& bucket) {
    for (size_t s = 0; s < sizes.size(); ++s)
      if (sizes[s] > bucket.bucket[s]) return false;
    return true;
  }

  static double volume(const ProgramEntry& bucket) {
    double product = 1;
    for (int64_t size : bucket.bucket) product *= static_cast<double>(std::max<int64_t>(size, 1));
    return product;
  }

  // Each size fits some bucket, but no bucket fits all sizes: the plan does not have a bucket for
  // every combination.
  Status none_fits(std::span<const int64_t> wanted) const {
    std::string known;
    for (const ProgramEntry* b : buckets_)
      known += (known.empty() ? "" : "; ") + sizes_text(b->bucket, symbols_);
    return {Code::kOutOfRange, "no bucket of entry '" + std::string(name_) +
                                   "' is large enough for " + sizes_text(wanted, symbols_) +
                                   "; there are " + known};
  }

  std::span<const Symbol> symbols_;
  std::string_view name_;
  std::vector<const ProgramEntry*> buckets_;
};

}  // namespace

Result<const ProgramEntry*> choose_bucket(const Program& program, std::string_view name,
                                          std::span<const SymbolSize> sizes) {
  const Buckets buckets(program, name);
  if (!buckets.empty()) return buckets.choose(sizes);
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, find_entry(program, name));
  if (!sizes.empty()) return no_dependence(name, sizes[0].symbol);
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
