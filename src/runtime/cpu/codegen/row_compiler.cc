// Loops over rows for x86-64 with AVX-512, assembled by Xbyak. Each register holds one value for 16
// elements (lanes), from the load of its operands to its last use. Constants are broadcast from a
// table after the code. a·b + c is not contracted to an FMA, as everywhere in the runtime.
#include "runtime/cpu/codegen/row_loop.h"

#if defined(SHW_HAVE_XBYAK) && defined(__x86_64__) && defined(__linux__)
#define XBYAK_NO_EXCEPTION
#include <xbyak/xbyak.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <optional>

namespace shw::runtime::cpu {
namespace {

using Xbyak::Reg64;
using Xbyak::Zmm;

constexpr int kRegisters = 32;

// Which registers hold values.
class Registers {
 public:
  // Empty: all registers are in use.
  std::optional<int> take() {
    for (int r = 0; r < kRegisters; ++r)
      if (!used_[static_cast<size_t>(r)]) {
        used_[static_cast<size_t>(r)] = true;
        return r;
      }
    return {};
  }
  void release(int r) { used_[static_cast<size_t>(r)] = false; }

 private:
  std::array<bool, kRegisters> used_{};
};

size_t code_bytes(const RowLoop& loop) {
  size_t bytes = 512;  // the code around the loop
  for (const FormulaNode& node : loop.formula.nodes())
    // Generated twice: for whole vectors and for the rest of a row.
    bytes += node.op == FormulaOp::kExp ? 800 : 200;
  bytes += loop.stores.size() * 32;
  return bytes;
}

// The time at which a value is computed or used: the traversal; before, in or after its loop; then
// the node.
struct Moment {
  enum Part : int32_t { kBefore, kLoop, kAfter };
  int32_t walk = 0;
  Part part = kBefore;
  int32_t node = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

class RowAssembler : private Xbyak::CodeGenerator {
 public:
  // `room`: memory for the code, which is position-independent.
  RowAssembler(const RowLoop& loop, std::span<uint8_t> room)
      : Xbyak::CodeGenerator(room.size(), room.data()),
        loop_(loop),
        nodes_(loop.formula.nodes()),
        registers_of_(nodes_.size(), -1) {
    find_row_values();
    find_last_uses();
  }

  // The bytes of the code; 0: the loop needs too many registers.
  size_t assemble() {
    begin();
    Xbyak::Label row_begin;
    L(row_begin);
    fetch_ahead();
    for (size_t w = 0; w < num_walks(); ++w) {
      before_loop(w);
      walk(w);
      after_loop(w);
    }
    for (size_t p = 0; p < loop_.one_number.size(); ++p)
      if (loop_.stride_bytes[p] != 0) add(row(p), loop_.stride_bytes[p]);
    dec(r14);
    jnz(row_begin, T_NEAR);
    end();
    write_numbers();
    return fits_ && Xbyak::GetError() == Xbyak::ERR_NONE ? getSize() : 0;
  }

 private:
  // --- what is computed when -------------------------------------------------------------------
  size_t num_walks() const { return loop_.walk_ends.size() + 1; }
  size_t walk_begin(size_t w) const { return w == 0 ? 0 : walk_end(w - 1); }
  size_t walk_end(size_t w) const {
    return w < loop_.walk_ends.size() ? static_cast<size_t>(loop_.walk_ends[w]) : nodes_.size();
  }
  int32_t walk_of(size_t node) const {
    return static_cast<int32_t>(
        std::ranges::upper_bound(loop_.walk_ends, static_cast<int32_t>(node)) -
        loop_.walk_ends.begin());
  }

  // Finds the values that are constant within a row: sums, and values that depend only on such
  // values and on constants.
  void find_row_values() {
    of_row_.resize(nodes_.size());
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const FormulaNode& node = nodes_[n];
      bool of_row = node.op != FormulaOp::kInput || is_one_number(place_of(node));
      for (int o = 0; o < num_operands(node.op); ++o) of_row = of_row && of_row_[operand(node, o)];
      of_row_[n] = of_row || is_sum(n);
    }
  }
  Moment computed(size_t n) const {
    const Moment::Part part = is_sum(n)    ? Moment::kAfter
                              : of_row_[n] ? Moment::kBefore
                                           : Moment::kLoop;
    return {walk_of(n), part, static_cast<int32_t>(n)};
  }
  // A value that is constant within a row stays in its register to the end of the loop that reads
  // it.
  void find_last_uses() {
    for (size_t n = 0; n < nodes_.size(); ++n) last_use_.push_back(computed(n));
    const auto used = [&](size_t value, Moment by) {
      if (by.part == Moment::kLoop && of_row_[value]) by.node = INT32_MAX;
      last_use_[value] = std::max(last_use_[value], by);
    };
    for (size_t n = 0; n < nodes_.size(); ++n)
      for (int o = 0; o < num_operands(nodes_[n].op); ++o) {
        Moment by = computed(n);
        if (is_sum(n)) by.part = Moment::kLoop;
        used(operand(nodes_[n], o), by);
      }
    for (const RowLoop::Store& store : loop_.stores)
      used(static_cast<size_t>(store.node), stored(store));
  }
  Moment stored(const RowLoop::Store& store) const {
    const auto after = static_cast<size_t>(store.after);
    const bool once = is_one_number(store.place);
    return {walk_of(after),
            !once                                     ? Moment::kLoop
            : is_sum(static_cast<size_t>(store.node)) ? Moment::kAfter
                                                      : Moment::kBefore,
            store.after};
  }

  size_t operand(const FormulaNode& node, int o) const {
    return static_cast<size_t>(node.operands[static_cast<size_t>(o)]);
  }
  const RowPlace& place_of(const FormulaNode& input) const {
    return loop_.inputs[static_cast<size_t>(input.operands[0])];
  }
  bool is_one_number(const RowPlace& place) const {
    return loop_.one_number[static_cast<size_t>(place.pointer)];
  }
  bool is_number(size_t node) const { return nodes_[node].op == FormulaOp::kNumber; }
  bool is_sum(size_t node) const { return nodes_[node].op == FormulaOp::kRowSum; }

  // --- the function ----------------------------------------------------------------------------
  // r14: remaining rows. rsi: size of a row in bytes if it were bf16. rax: position in the row, in
  // such bytes; the position of f32 elements is twice that. rdi: points to the pointers until they
  // are loaded, then scratch. r15: the table of constants. k1: mask of the rest of a row after
  // whole vectors.
  Reg64 row(size_t pointer) const {
    static constexpr int kFree[] = {Xbyak::Operand::RCX, Xbyak::Operand::RDX, Xbyak::Operand::R8,
                                    Xbyak::Operand::R9,  Xbyak::Operand::R10, Xbyak::Operand::R11,
                                    Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R12,
                                    Xbyak::Operand::R13};
    static_assert(std::size(kFree) == kMostRowPointers);
    return Reg64(kFree[pointer]);
  }
  Xbyak::RegExp begin_of(const RowPlace& place) const {
    return row(static_cast<size_t>(place.pointer)) + place.offset_bytes;
  }
  Xbyak::RegExp element_of(const RowPlace& place) const {
    return place.bf16 ? begin_of(place) + rax : begin_of(place) + rax * 2;
  }
  static constexpr uint32_t kStep = kVectorBytes / 2;  // step of rax per vector
  static constexpr size_t kFirstSaved = 6;             // of those, which belong to the caller

  void begin() {
    const size_t count = loop_.one_number.size();
    for (size_t p = kFirstSaved; p < count; ++p) push(row(p));
    push(r14);
    push(r15);
    mov(r14, rdx);
    lea(r15, ptr[rip + numbers_]);
    for (size_t p = 0; p < count; ++p) mov(row(p), ptr[rdi + static_cast<int>(8 * p)]);
    mov(edi, esi);
    and_(edi, static_cast<uint32_t>(kVectorBytes / 4 - 1));
    bzhi(edi, dword[r15 + offset_of(0xffffffff)], edi);
    kmovw(k1, edi);
    shl(rsi, 1);
  }
  void end() {
    vzeroupper();
    pop(r15);
    pop(r14);
    for (size_t p = loop_.one_number.size(); p-- > kFirstSaved;) pop(row(p));
    ret();
  }

  void fetch_ahead() {
    if (std::ranges::count(loop_.ahead_bytes, 0) == std::ssize(loop_.ahead_bytes)) return;
    Xbyak::Label lines;
    xor_(eax, eax);
    L(lines);
    for (size_t p = 0; p < loop_.one_number.size(); ++p)
      if (loop_.ahead_bytes[p] != 0) prefetcht0(ptr[row(p) + rax * 2 + loop_.ahead_bytes[p]]);
    add(rax, kStep);
    cmp(rax, rsi);
    jl(lines, T_NEAR);
  }

  void before_loop(size_t w) {
    for (size_t n = walk_begin(w); n < walk_end(w); ++n) {
      if (of_row_[n] && !is_number(n) && !is_sum(n)) compute(n, false);
      const Moment now{static_cast<int32_t>(w), Moment::kBefore, static_cast<int32_t>(n)};
      store(now, false);
      release(now);
    }
    for (size_t n = walk_begin(w); n < walk_end(w); ++n) {
      if (!is_sum(n)) continue;
      const Zmm sum = take();
      registers_of_[n] = sum.getIdx();
      vpxord(sum, sum, sum);
    }
  }

  void walk(size_t w) {
    if (!has_loop(w)) return;
    Xbyak::Label vectors, rest, done;
    lea(rdi, ptr[rsi - static_cast<int>(kStep)]);
    xor_(eax, eax);
    test(rdi, rdi);
    js(rest, T_NEAR);
    L(vectors);
    compute_elements(w, false);
    add(rax, kStep);
    cmp(rax, rdi);
    jle(vectors, T_NEAR);
    L(rest);
    cmp(rax, rsi);
    jge(done, T_NEAR);
    compute_elements(w, true);
    L(done);
    release({static_cast<int32_t>(w), Moment::kLoop, INT32_MAX});
  }
  bool has_loop(size_t w) const {
    for (size_t n = walk_begin(w); n < walk_end(w); ++n)
      if (!of_row_[n] || is_sum(n)) return true;
    return std::ranges::any_of(loop_.stores, [&](const RowLoop::Store& store) {
      const Moment at = stored(store);
      return at.walk == static_cast<int32_t>(w) && at.part == Moment::kLoop;
    });
  }

  void compute_elements(size_t w, bool masked) {
    for (size_t n = walk_begin(w); n < walk_end(w); ++n) {
      if (is_sum(n))
        add_to_sum(n, masked);
      else if (!of_row_[n])
        compute(n, masked);
      const Moment now{static_cast<int32_t>(w), Moment::kLoop, static_cast<int32_t>(n)};
      store(now, masked);
      release(now);
    }
  }

  void after_loop(size_t w) {
    for (size_t n = walk_begin(w); n < walk_end(w); ++n) {
      if (is_sum(n)) finish_sum(n);
      const Moment now{static_cast<int32_t>(w), Moment::kAfter, static_cast<int32_t>(n)};
      store(now, false);
      release(now);
    }
  }

  void store(const Moment& now, bool masked) {
    for (const RowLoop::Store& store : loop_.stores) {
      if (stored(store) != now) continue;
      const auto value = static_cast<size_t>(store.node);
      if (is_number(value))
        with_number(value, [&](const Zmm& r) { write(r, store, masked); });
      else
        write(Zmm(registers_of_[value]), store, masked);
    }
  }
  void write(const Zmm& value, const RowLoop::Store& store, bool masked) {
    const RowPlace& place = store.place;
    if (place.bf16)
      write_bf16(value, place, masked);
    else if (is_one_number(place))
      vmovss(ptr[begin_of(place)], Xbyak::Xmm(value.getIdx()));
    else if (masked)
      vmovups(ptr[element_of(place)] | k1, value);
    else if (loop_.streams && store.may_stream)
      vmovntps(ptr[element_of(place)], value);
    else
      vmovups(ptr[element_of(place)], value);
  }
  void write_bf16(const Zmm& value, const RowPlace& place, bool masked) {
    const Zmm high = take();
    vpsrld(high, value, 16);
    if (is_one_number(place))
      vpextrw(ptr[begin_of(place)], Xbyak::Xmm(high.getIdx()), 0);
    else if (masked)
      vpmovdw(ptr[element_of(place)] | k1, high);
    else
      vpmovdw(ptr[element_of(place)], high);
    free_.release(high.getIdx());
  }

  // Releases the registers of values that are not used after `now`.
  void release(const Moment& now) {
    for (size_t value = 0; value < nodes_.size(); ++value) {
      if (last_use_[value] != now || registers_of_[value] < 0) continue;
      free_.release(registers_of_[value]);
      registers_of_[value] = -1;
    }
  }

  // --- sums ------------------------------------------------------------------------------------
  // Eight parallel f64 sums, combined in the same order as in the reductions of this backend
  // (reduction.cc).
  void add_to_sum(size_t n, bool masked) {
    const Zmm sum(registers_of_[n]), part = take();
    in_register(nodes_[n], 0, [&](const Zmm& x) {
      const Zmm half = take();
      if (masked)
        vmovaps(part | k1 | T_z, x);
      else
        vmovaps(part, x);
      vcvtps2pd(half, Xbyak::Ymm(part.getIdx()));
      vaddpd(sum, sum, half);
      vextractf32x8(Xbyak::Ymm(half.getIdx()), part, 1);
      vcvtps2pd(half, Xbyak::Ymm(half.getIdx()));
      vaddpd(sum, sum, half);
      free_.release(half.getIdx());
    });
    free_.release(part.getIdx());
  }
  void finish_sum(size_t n) {
    const Zmm sum(registers_of_[n]), half = take();
    const Xbyak::Xmm low(sum.getIdx()), high(half.getIdx());
    vextractf64x4(Xbyak::Ymm(half.getIdx()), sum, 1);
    vaddpd(Xbyak::Ymm(sum.getIdx()), Xbyak::Ymm(sum.getIdx()), Xbyak::Ymm(half.getIdx()));
    vextractf64x2(high, Xbyak::Ymm(sum.getIdx()), 1);
    vaddpd(low, low, high);
    vpermilpd(high, low, 1);
    vaddsd(low, low, high);
    if (nodes_[n].number != 0) {
      vmovss(high, number(nodes_[n].number));
      vcvtss2sd(high, high, high);
      vdivsd(low, low, high);
    }
    vcvtsd2ss(low, low, low);
    vbroadcastss(sum, low);
    free_.release(half.getIdx());
  }

  // --- one node --------------------------------------------------------------------------------
  Zmm take() {
    const auto r = free_.take();
    if (!r) fits_ = false;
    return Zmm(r.value_or(0));
  }
  template <class F>
  void with_number(size_t node, F&& f) {
    const Zmm r = take();
    vbroadcastss(r, number(nodes_[node].number));
    f(r);
    free_.release(r.getIdx());
  }

  // A constant of the table, broadcast.
  Xbyak::Address number(float value) {
    return ptr[r15 + offset_of(std::bit_cast<uint32_t>(value))];
  }
  Xbyak::Address lanes(uint32_t bits) { return ptr_b[r15 + offset_of(bits)]; }
  Xbyak::Address lanes(float value) { return lanes(std::bit_cast<uint32_t>(value)); }
  int offset_of(uint32_t bits) {
    auto known = std::ranges::find(table_, bits);
    if (known == table_.end()) known = table_.insert(table_.end(), bits);
    return static_cast<int>(4 * (known - table_.begin()));
  }
  void write_numbers() {
    align(kVectorBytes);
    L(numbers_);
    for (const uint32_t bits : table_) dd(bits);
  }

  void compute(size_t n, bool masked) {
    const FormulaNode& node = nodes_[n];
    const Zmm to = take();
    registers_of_[n] = to.getIdx();
    switch (node.op) {
      case FormulaOp::kInput:
        return load(to, place_of(node), masked);
      case FormulaOp::kNumber:
      case FormulaOp::kRowSum:  // not here
        return;
      case FormulaOp::kAdd:
        return binary(node, [&](const Zmm& a, const Xbyak::Operand& b) { vaddps(to, a, b); });
      case FormulaOp::kSubtract:
        return binary(node, [&](const Zmm& a, const Xbyak::Operand& b) { vsubps(to, a, b); });
      case FormulaOp::kMultiply:
        return binary(node, [&](const Zmm& a, const Xbyak::Operand& b) { vmulps(to, a, b); });
      case FormulaOp::kDivide:
        return binary(node, [&](const Zmm& a, const Xbyak::Operand& b) { vdivps(to, a, b); });
      case FormulaOp::kNegate:
        return unary(node, [&](const Zmm& a) { vpxord(to, a, lanes(kSign)); });
      case FormulaOp::kMagnitude:
        return unary(node, [&](const Zmm& a) { vpandd(to, a, lanes(~kSign)); });
      case FormulaOp::kSquareRoot:
        return unary(node, [&](const Zmm& a) { vsqrtps(to, a); });
      case FormulaOp::kExp:
        return unary(node, [&](const Zmm& a) { exp(to, a); });
      case FormulaOp::kRoundToBf16:
        return unary(node, [&](const Zmm& a) { round_to_bf16(to, a); });
      case FormulaOp::kCopySign:
        return copy_sign(to, node);
      case FormulaOp::kSelectLess:
        return select(to, node, kLess);
      case FormulaOp::kSelectLessEqual:
        return select(to, node, kLessEqual);
    }
  }
  static constexpr uint32_t kSign = 0x80000000;
  static constexpr uint8_t kLess = 1, kLessEqual = 2;  // predicates of vcmpps; false for NaN

  void load(const Zmm& to, const RowPlace& place, bool masked) {
    if (place.bf16)
      load_bf16(to, place, masked);
    else if (is_one_number(place))
      vbroadcastss(to, ptr[begin_of(place)]);
    else if (masked)
      vmovups(to | k1 | T_z, ptr[element_of(place)]);
    else
      vmovups(to, ptr[element_of(place)]);
  }
  void load_bf16(const Zmm& to, const RowPlace& place, bool masked) {
    if (is_one_number(place))
      vpbroadcastw(to, ptr[begin_of(place)]);
    else if (masked)
      vpmovzxwd(to | k1 | T_z, ptr[element_of(place)]);
    else
      vpmovzxwd(to, ptr[element_of(place)]);
    vpslld(to, to, 16);
  }
  // Calls f with the register of operand o, or with a register that holds a copy of the constant.
  template <class F>
  void in_register(const FormulaNode& node, int o, F&& f) {
    const size_t value = operand(node, o);
    if (is_number(value))
      with_number(value, f);
    else
      f(Zmm(registers_of_[value]));
  }
  template <class F>
  void unary(const FormulaNode& node, F&& f) {
    in_register(node, 0, f);
  }
  template <class F>
  void binary(const FormulaNode& node, F&& f) {
    in_register(node, 0, [&](const Zmm& a) {
      const size_t second = operand(node, 1);
      if (is_number(second))
        f(a, lanes(nodes_[second].number));
      else
        f(a, Zmm(registers_of_[second]));
    });
  }
  void copy_sign(const Zmm& to, const FormulaNode& node) {
    in_register(node, 0, [&](const Zmm& magnitude) {
      in_register(node, 1, [&](const Zmm& sign) {
        const Zmm bit = take();
        vpandd(bit, sign, lanes(kSign));
        vpandd(to, magnitude, lanes(~kSign));
        vpord(to, to, bit);
        free_.release(bit.getIdx());
      });
    });
  }
  // The same operations as f32_to_bf16 (half.h).
  void round_to_bf16(const Zmm& to, const Zmm& x) {
    constexpr uint8_t kUnordered = 3;
    constexpr uint32_t kQuiet = 0x00400000, kHigh = 0xffff0000;
    vcmpps(k2, x, x, kUnordered);
    vpsrld(to, x, 16);
    vpandd(to, to, lanes(uint32_t{1}));
    vpaddd(to, to, x);
    vpaddd(to, to, lanes(uint32_t{0x7fff}));
    vpord(to | k2, x, lanes(kQuiet));
    vpandd(to, to, lanes(kHigh));
  }
  void select(const Zmm& to, const FormulaNode& node, uint8_t predicate) {
    in_register(node, 0, [&](const Zmm& a) {
      in_register(node, 1, [&](const Zmm& b) { vcmpps(k2, a, b, predicate); });
    });
    in_register(node, 2, [&](const Zmm& then) {
      in_register(node, 3, [&](const Zmm& otherwise) { vblendmps(to | k2, otherwise, then); });
    });
  }

  // fast_exp (math.h), operation by operation.
  void exp(const Zmm& to, const Zmm& argument) {
    const Zmm x = take(), n = take(), t = take();
    vbroadcastss(x, number(89.0f));
    vminps(x, x, argument);
    vbroadcastss(t, number(-104.0f));
    vmaxps(x, t, x);
    constexpr float kRound = 12582912.0f;
    vmulps(n, x, lanes(1.44269504088896341f));
    vaddps(n, n, lanes(kRound));  // the integer is in the lowest bits
    vsubps(n, n, lanes(kRound));
    vmulps(to, n, lanes(0.693359375f));
    vsubps(x, x, to);
    vmulps(t, n, lanes(-2.12194440e-4f));
    vsubps(x, x, t);  // r
    vbroadcastss(to, number(1.9875691500e-4f));
    for (const float coefficient : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                                    1.6666665459e-1f, 5.0000001201e-1f}) {
      vmulps(to, to, x);
      vaddps(to, to, lanes(coefficient));
    }
    vmulps(t, x, x);
    vmulps(to, to, t);
    vaddps(to, to, x);
    vaddps(to, to, lanes(1.0f));
    // Multiplies by 2^n with a single rounding. fast_exp() multiplies by two powers, of which the
    // first is exact.
    vscalefps(to, to, n);
    for (const Zmm& r : {x, n, t}) free_.release(r.getIdx());
  }

  const RowLoop& loop_;
  const std::vector<FormulaNode>& nodes_;
  std::vector<bool> of_row_;       // by node: one number for the row
  std::vector<int> registers_of_;  // by node; -1: none
  std::vector<Moment> last_use_;   // by node
  Registers free_;
  Xbyak::Label numbers_;
  std::vector<uint32_t> table_;  // bits of the numbers
  bool fits_ = true;
};

}  // namespace

bool compiles_loops() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("bmi2");
}

std::unique_ptr<const CompiledRow> compile(const RowLoop& loop) {
  if (!compiles_loops() || loop.one_number.size() > kMostRowPointers) return nullptr;
  std::vector<uint8_t> room(code_bytes(loop));
  Xbyak::ClearError();
  const size_t bytes = RowAssembler(loop, room).assemble();
  if (bytes == 0) return nullptr;
  return CompiledRow::of(std::span(room).first(bytes));
}

}  // namespace shw::runtime::cpu

#else

namespace shw::runtime::cpu {

bool compiles_loops() { return false; }
std::unique_ptr<const CompiledRow> compile(const RowLoop& /*loop*/) { return nullptr; }

}  // namespace shw::runtime::cpu

#endif
