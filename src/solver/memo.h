// Two small open-addressing hash tables for presolve's innermost loop: Memo maps up to three 32-bit
// keys to a result, HashIndex maps a 64-bit hash to candidates. They support only insert and find.
#pragma once
#include <cstdint>
#include <vector>

namespace shw::solver {

inline uint64_t mix(uint64_t x) {  // the finaliser of SplitMix64 (Steele, Lea & Flood 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Memo {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The slot for a key; holds kNone when the key is new. Valid until the next call.
  uint32_t& at(uint32_t a, uint32_t b = 0, uint32_t c = 0) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& s = find(a, b, c);
    if (!s.used) {
      s = {a, b, c, kNone, true};
      ++used_;
    }
    return s.value;
  }

 private:
  struct Slot {
    uint32_t a = 0, b = 0, c = 0, value = kNone;
    bool used = false;
  };
  Slot& find(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t mask = slots_.size() - 1;
    uint64_t i = mix((uint64_t{a} << 32 | b) ^ mix(c + 0x9e3779b97f4a7c15u)) & mask;
    while (slots_[i].used && (slots_[i].a != a || slots_[i].b != b || slots_[i].c != c))
      i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.used) find(s.a, s.b, s.c) = s;
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

class HashIndex {
 public:
  // Returns the first value stored under this hash for which same(value) holds. If there is none,
  // stores and returns make().
  template <class Same, class Make>
  uint32_t find_or_add(uint64_t hash, Same same, Make make) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    const uint64_t mask = slots_.size() - 1;
    uint64_t i = hash & mask;
    for (; slots_[i].used; i = (i + 1) & mask)
      if (slots_[i].hash == hash && same(slots_[i].value)) return slots_[i].value;
    slots_[i] = {hash, make(), true};
    ++used_;
    return slots_[i].value;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t value = 0;
    bool used = false;
  };
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    const uint64_t mask = slots_.size() - 1;
    for (const Slot& s : old) {
      if (!s.used) continue;
      uint64_t i = s.hash & mask;
      while (slots_[i].used) i = (i + 1) & mask;
      slots_[i] = s;
    }
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace shw::solver
