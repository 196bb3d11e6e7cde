// Mutates plans on the level of their fields: another kernel, shape, attribute, operand or event.
// Changed bytes seldom make a plan that read_plan accepts. Changed fields, with contradictions
// repaired, often do, so the fuzzer reaches the code that runs plans.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/cpu/kernel_args.h"
#include "support/hash.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace shw::fuzz {
namespace {

class Mutator {
 public:
  Mutator(Program& program, uint32_t seed) : p_(program), random_(seed) {}

  uint32_t below(size_t n) { return n == 0 ? 0 : static_cast<uint32_t>(random_() % n); }
  bool one_in(size_t n) { return below(n) == 0; }

  void change() {
    for (uint32_t n = 1 + below(3); n > 0; --n) {
      switch (below(12)) {
        case 0:
        case 1:
          change_value();
          break;
        case 2:
        case 3:
          change_attribute();
          break;
        case 4:
          change_kernel();
          break;
        case 5:
          change_operand();
          break;
        case 6:
        case 7:
          insert_step();
          break;
        case 8:
          change_order();
          break;
        case 9:
          change_collective();
          break;
        case 10:
          change_storage();
          break;
        case 11:
          change_frame();
          break;
      }
    }
    if (one_in(2)) run_in_order();
    if (!one_in(5)) put_right();
  }

 private:
  static constexpr int64_t kNumbers[] = {
      0,   1,       2,         3,         4,  5, 7, 8,       16,           -1,        -2,       -9,
      100, 1 << 20, INT64_MAX, INT64_MIN, 64, 9, 6, 1 << 31, -(1ll << 31), 1ll << 40, 1ll << 62};
  int64_t number() { return kNumbers[below(one_in(4) ? std::size(kNumbers) : 8)]; }
  template <class Id, class T>
  Id any(const IndexVec<Id, T>& of) {
    return Id{below(of.size())};
  }
  ProgramStep* any_step() { return p_.steps.empty() ? nullptr : &p_.steps[below(p_.steps.size())]; }
  ValueId any_value() { return one_in(9) ? ValueId{} : any(p_.values); }

  void change_type(TensorType& t) {
    const size_t rank = t.shape.size();
    switch (below(7)) {
      case 0:
        if (rank > 0) t.shape[below(rank)] = number();
        break;
      case 1:
        if (rank > 0) t.strides[below(rank)] = number();
        return;
      case 2:
        t.dtype = static_cast<Dtype>(1 + below(13));
        break;
      case 3:
        if (rank < kMaxRank) {
          const size_t at = below(rank + 1);
          t.shape.insert(at, one_in(2) ? 1 : 2 + below(4));
          t.strides.insert(at, 1);
        }
        break;
      case 4:
        if (rank > 0) {
          const size_t at = below(rank);
          t.shape.erase(at);
          t.strides.erase(at);
        }
        break;
      case 5:
        if (rank > 1) {  // makes a view
          const size_t a = below(rank), b = below(rank);
          std::swap(t.shape[a], t.shape[b]);
          std::swap(t.strides[a], t.strides[b]);
        }
        return;
      case 6:
        if (rank > 0) {  // makes a broadcast dim
          const size_t at = below(rank);
          t.strides[at] = 0;
          if (one_in(2)) t.shape[at] = 1 + below(40);
        }
        return;
    }
    if (!one_in(4)) t.strides = row_major_strides(t.shape);
  }

  void change_value() {
    if (p_.values.empty()) return;
    ProgramValue& v = p_.values[any(p_.values)];
    switch (below(6)) {
      case 0:
        v.type = p_.values[any(p_.values)].type;
        break;
      case 1:
        v.offset_bytes = one_in(2) ? 8 * below(16) : number();
        break;
      case 2:
        v.storage = any(p_.storages);
        break;
      default:
        change_type(v.type);
    }
  }

  AttrValue any_attribute() {
    switch (below(6)) {
      case 0:
        return AttrValue(static_cast<double>(number()) / 4);
      case 1:
        return AttrValue(one_in(2));
      case 2:
        return AttrValue(static_cast<Dtype>(1 + below(13)));
      case 3: {
        std::vector<int64_t> list;
        for (uint32_t n = below(6); n > 0; --n) list.push_back(number());
        return AttrValue(list);
      }
      case 4: {
        static constexpr const char* kTexts[] = {"mk,kn->mn", "abk,kn->abn", "ab,cb->ac", "tanh",
                                                 "a,a->a",    "ab,->b",      "aa,ab->b",  ",->"};
        return AttrValue(std::string(kTexts[below(std::size(kTexts))]));
      }
      default:
        return AttrValue(number());
    }
  }

  void change_attribute() {
    ProgramStep* s = any_step();
    if (s == nullptr) return;
    const auto& items = s->attrs.items();
    if (items.empty() || one_in(4)) {
      s->attrs.set(static_cast<AttrKey>(below(static_cast<size_t>(AttrKey::kCount))),
                   any_attribute());
      return;
    }
    const AttrKey key = items[below(items.size())].first;
    AttrValue value = items[below(items.size())].second;
    if (one_in(6)) return s->attrs.erase(key);
    for (const auto& [k, v] : items)
      if (k == key) value = v;
    if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      if (!list->empty() && !one_in(3))
        (*list)[below(list->size())] = number();
      else if (one_in(2) || list->empty())
        list->push_back(number());
      else
        list->pop_back();
    } else if (auto* letters = std::get_if<std::string>(&value)) {
      if (!letters->empty() && !one_in(3))
        (*letters)[below(letters->size())] = "abkmn,->"[below(8)];
      else
        letters->insert(below(letters->size() + 1), 1, "abkmn,->"[below(8)]);
    } else if (std::holds_alternative<int64_t>(value)) {
      value = AttrValue(number());
    } else {
      value = any_attribute();
    }
    s->attrs.set(key, value);
  }

  void change_kernel() {
    ProgramStep* s = any_step();
    if (s == nullptr) return;
    const auto kernels = runtime::cpu::kernel_table();
    s->kernel = std::string(kernels[below(kernels.size())]->name);
  }

  void change_operand() {
    ProgramStep* s = any_step();
    if (s == nullptr) return;
    auto& list = one_in(3) ? s->outputs : s->inputs;
    switch (below(4)) {
      case 0:
        list.push_back(any_value());
        break;
      case 1:
        if (!list.empty()) list.pop_back();
        break;
      default:
        if (!list.empty()) list[below(list.size())] = any_value();
    }
    if (one_in(8)) s->in_place = below(s->inputs.size() + 1);
  }

  ValueId fresh(TensorType type) {
    type.strides = row_major_strides(type.shape);
    const StorageId storage = p_.storages.push_back({type.bytes(), StorageKind::kArena});
    return p_.values.push_back({type, storage, 0});
  }

  // Inserts a step with some kernel that reads existing values and writes into new memory.
  void insert_step() {
    if (p_.values.empty() || p_.entries.empty()) return;
    const uint32_t e = below(p_.entries.size());
    const uint32_t at = p_.entries[e].first_step + below(p_.entries[e].num_steps + 1);
    if (at > p_.steps.size()) return;
    std::vector<ValueId> ready;
    for (PortId port : p_.entries[e].inputs)
      if (port.v < p_.ports.size()) ready.push_back(p_.ports[port].value);
    for (uint32_t i = p_.entries[e].first_step; i < at; ++i)
      for (ValueId v : p_.steps[i].outputs) ready.push_back(v);
    std::erase_if(ready, [&](ValueId v) { return !v.valid() || v.v >= p_.values.size(); });
    ProgramStep step;
    if (!p_.steps.empty() && !one_in(3)) step = p_.steps[below(p_.steps.size())];
    const auto kernels = runtime::cpu::kernel_table();
    if (step.kernel.empty() || one_in(3))
      step.kernel = std::string(kernels[below(kernels.size())]->name);
    if (step.inputs.empty() || one_in(2)) {
      step.inputs.clear();
      for (uint32_t n = below(4); n > 0 && !ready.empty(); --n)
        step.inputs.push_back(view_of(ready[below(ready.size())]));
    }
    for (ValueId& v : step.inputs)
      if (!ready.empty() && one_in(2)) v = view_of(ready[below(ready.size())]);
    if (step.outputs.empty() || one_in(4)) step.outputs.resize(1 + below(3));
    for (ValueId& v : step.outputs) {
      const bool like = v.valid() && v.v < p_.values.size() && !one_in(3);
      TensorType type = p_.values[like ? v : any(p_.values)].type;
      if (one_in(3)) change_type(type);
      v = check_tensor_type(type).ok() ? fresh(type) : ValueId{};
    }
    step.records = kNoEvent;
    step.in_place = kNotInPlace;
    p_.steps.insert(p_.steps.begin() + at, step);
    ++p_.entries[e].num_steps;
    for (uint32_t later = e + 1; later < p_.entries.size(); ++later) ++p_.entries[later].first_step;
  }

  ValueId view_of(ValueId v) {
    if (!one_in(3)) return v;
    ProgramValue view = p_.values[v];
    change_type(view.type);
    return p_.values.push_back(view);
  }

  void change_order() {
    ProgramStep* s = any_step();
    if (s == nullptr) return;
    switch (below(5)) {
      case 0:
        s->stream = static_cast<StreamNumber>(below(p_.streams.size() + 1));
        break;
      case 1:
        s->waits.clear();
        break;
      case 2:
        s->waits.push_back(below(p_.num_events + 1));
        break;
      case 3:
        if (s->records == kNoEvent) s->records = p_.num_events++;
        break;
      case 4:
        std::swap(*s, p_.steps[below(p_.steps.size())]);
        break;
    }
  }

  void change_collective() {
    ProgramStep* s = any_step();
    if (s == nullptr) return;
    switch (below(5)) {
      case 0:
        s->collective.kind = static_cast<CollectiveKind>(below(7));
        break;
      case 1:
        s->collective.op = static_cast<ReduceOp>(below(6));
        break;
      case 2:
        s->collective.axes.push_back(static_cast<uint8_t>(below(p_.mesh.size() + 1)));
        break;
      case 3:
        if (!s->collective.axes.empty()) s->collective.axes.pop_back();
        break;
      case 4:  // this is often a sound permute
        s->collective.to_axes.assign(s->collective.axes.rbegin(), s->collective.axes.rend());
        if (below(2) == 0) s->collective.kind = CollectiveKind::kPermute;
        break;
    }
  }

  void change_storage() {
    if (p_.storages.empty()) return;
    ProgramStorage& s = p_.storages[any(p_.storages)];
    switch (below(5)) {
      case 0:
        s.kind = static_cast<StorageKind>(1 + below(9));
        if (is_placed(s.kind)) s.port = UINT32_MAX;
        if (s.kind == StorageKind::kInOutput) s.port = below(p_.ports.size() + 1);
        break;
      case 1:
        s.bytes = one_in(2) ? s.bytes / 2 : number();
        break;
      case 2:
        s.offset_bytes = 256 * below(8);
        break;
      case 3:
        s.offset_bytes = p_.storages[any(p_.storages)].offset_bytes;
        break;
      case 4:
        if (!is_placed(s.kind) || one_in(8)) s.port = below(p_.ports.size() + 1);
        break;
    }
  }

  void change_frame() {
    switch (below(7)) {
      case 6:
        change_streams();
        break;
      case 0:
        if (!p_.mesh.empty()) p_.mesh[below(p_.mesh.size())].size = 1 + below(4);
        break;
      case 1:
        if (!p_.ports.empty()) p_.ports[any(p_.ports)].role = static_cast<PortRole>(1 + below(13));
        break;
      case 2:
        if (!p_.ports.empty()) p_.ports[any(p_.ports)].layout = p_.ports[any(p_.ports)].layout;
        break;
      case 3:
        if (!p_.entries.empty()) {
          ProgramEntry& e = p_.entries[below(p_.entries.size())];
          e.after = {below(p_.entries.size())};
        }
        break;
      case 4:
        p_.alignment = int64_t{64} << below(6);
        break;
      case 5:
        if (!p_.entries.empty()) {
          ProgramEntry& e = p_.entries[below(p_.entries.size())];
          if (!e.outputs.empty() && one_in(2))
            e.outputs.pop_back();
          else if (!e.inputs.empty())
            e.inputs.pop_back();
        }
        break;
    }
  }

  void change_streams() {
    if (p_.streams.empty() || one_in(3)) {
      p_.streams.push_back({static_cast<StreamKind>(2 + below(3))});
      return;
    }
    ProgramStream& s = p_.streams[below(p_.streams.size())];
    if (one_in(3))
      s.axes.clear();
    else
      s.axes.push_back(static_cast<uint8_t>(below(p_.mesh.size() + 1)));
  }

  // Puts all steps on one stream, so that no waits are needed.
  void run_in_order() {
    for (ProgramStep& s : p_.steps) {
      s.stream = kComputeStream;
      s.waits.clear();
      s.records = kNoEvent;
    }
    p_.num_events = 0;
  }

  // Repairs the plan: storages get the size of their windows, ports get the types of their values,
  // and every storage of the arena gets its own bytes.
  void put_right() {
    for (uint32_t i = 0; i < p_.ports.size(); ++i) {
      Port& port = p_.ports[PortId{i}];
      if (!port.value.valid() || port.value.v >= p_.values.size()) continue;
      TensorType& own = p_.values[port.value].type;
      own.strides = row_major_strides(own.shape);
      const auto mesh = Mesh::create(p_.mesh);
      if (mesh.ok() && own.shape == local_shape(port.global.shape, port.layout, *mesh) &&
          own.dtype == port.global.dtype)
        continue;
      port.layout = {};
      port.global = row_major(own.dtype, own.shape);
      if (port.role == PortRole::kConstant && check_tensor_type(own).ok() && own.bytes() < 4096)
        port.data.resize(static_cast<size_t>(own.bytes()));
    }
    for (uint32_t i = 0; i < p_.values.size(); ++i) {
      const ProgramValue& v = p_.values[ValueId{i}];
      if (v.storage.v >= p_.storages.size() || !check_tensor_type(v.type).ok() ||
          v.offset_bytes < 0 || v.offset_bytes > 1 << 20)
        continue;
      int64_t last = 0;
      bool any_element = true;
      for (size_t d = 0; d < v.type.shape.size(); ++d) {
        any_element = any_element && v.type.shape[d] > 0;
        int64_t reach = 0;
        if (__builtin_mul_overflow(v.type.shape[d] - 1, v.type.strides[d], &reach) ||
            reach > 1 << 20)
          any_element = false;
        else
          last += reach;
      }
      const int64_t end =
          v.offset_bytes + (any_element ? (last + 1) * dtype_size(v.type.dtype) : 0);
      int64_t& bytes = p_.storages[v.storage].bytes;
      bytes = std::max(bytes, end);
    }
    place(StorageKind::kArena, &p_.arena_bytes);
    place(StorageKind::kSession, &p_.session_bytes);
    place(StorageKind::kHost, &p_.host_bytes);
    place(StorageKind::kGroup, &p_.group_bytes);
    place(StorageKind::kHostSession, &p_.host_session_bytes);
  }

  void place(StorageKind kind, int64_t* total) {
    if (p_.alignment < 64) return;
    int64_t at = 0;
    for (ProgramStorage& s : p_.storages) {
      if (s.kind != kind || s.bytes < 0 || s.bytes > 1 << 20) continue;
      s.offset_bytes = at;
      at += padded_bytes(p_, s.bytes);
    }
    *total = std::max<int64_t>(at, kind == StorageKind::kArena ? p_.alignment : 0);
  }

  Program& p_;
  std::minstd_rand random_;
};

// Reads the plan with a trailer that matches the bytes, as the fuzz target does.
Result<Plan> read_repaired(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (size < 24) return data_loss("too short");
  const uint32_t trailer[2] = {1, 0};
  std::memcpy(bytes.data() + size - 16, trailer, sizeof trailer);
  const uint64_t hash = hash_bytes(bytes.data(), size - 8);
  std::memcpy(bytes.data() + size - 8, &hash, sizeof hash);
  return read_plan(bytes);
}

}  // namespace
}  // namespace shw::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const auto plan = shw::fuzz::read_repaired(data, size);
  if (!plan.ok() || seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  shw::Plan changed = *plan;
  shw::fuzz::Mutator(changed.program, seed).change();
  const std::vector<uint8_t> bytes = shw::write_plan(changed);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
