// Elements of a table that index tensors point at, read and written. Of several elements for one
// place the last one stays, or all join it in their order, so that results are the same on every
// run: each element finds out its place, a stable sort (sort.cuh) brings those of one place
// together, and the first one of a place takes in the others. Only elements of one line can meet,
// so lines are sorted each by itself.
#pragma once
#include "entries.cuh"
#include "math.cuh"
#include "table.cuh"

namespace shw::runtime::cuda {

__device__ inline i64 num_places(const IndexArguments& a) {
  return a.positions.total * (a.by_line ? a.lines.total : 1);
}

// Bytes from the line's beginning in the table; -1: not here, or an index that does not exist.
__device__ inline i64 place_of(const IndexArguments& a, const IndexPointers& indices, i64 line,
                               i64 position, DeviceError* error) {
  i64 place = 0;
  bool here = true;
  for (int k = 0; k < a.num_indices; ++k) {
    i64 at = offset_at(a.positions, a.position_index[k], position);
    if (a.by_line) at += offset_at(a.lines, a.line_index[k], line);
    const i64 given = load<Int>(indices.at[k], at, a.index_dtype[k]).v;
    const i64 index = a.wraps && given < 0 ? given + a.rows[k].whole : given;
    if (!exists(a.rows[k], index)) {
      report(error, a.step, given, a.rows[k].whole);
      return -1;
    }
    here = here && is_here(a.rows[k], index);
    place += (index - a.rows[k].first) * a.table_step[k];
  }
  return here ? place : -1;
}

__device__ inline const void* other_at(const IndexArguments& a, const void* other, i64 line,
                                       i64 position) {
  return static_cast<const char*>(other) + offset_at(a.positions, a.position_other, position) +
         offset_at(a.lines, a.line_other, line);
}

// Of a maximum or minimum NaN stays.
template <class T>
__device__ inline T joined(CombineKind how, T now, T more) {
  if (how == CombineKind::kAdd) return now + more;
  if (how == CombineKind::kMultiply) return now * more;
  if (more != more) return more;
  return (how == CombineKind::kMax ? now < more : more < now) ? more : now;
}
template <>
__device__ inline Int joined<Int>(CombineKind how, Int now, Int more) {
  if (how == CombineKind::kAdd) return now + more;
  if (how == CombineKind::kMultiply) return now * more;
  return (how == CombineKind::kMax ? now.v < more.v : more.v < now.v) ? more : now;
}
template <>
__device__ inline Complex joined<Complex>(CombineKind how, Complex now, Complex more) {
  return how == CombineKind::kAdd ? now + more : now * more;  // there is no order
}

// The entries of a line are in order. A thread an element that is the first one of its place, or,
// of those that replace each other, the last one.
template <class T>
__device__ inline void write_indexed(void* table, const void* other, const SortEntry* sorted,
                                     const IndexArguments& a) {
  const i64 count = a.positions.total;
  const i64 fixed = a.fixed;  // a copy: the address of a parameter would put all of it on the stack
  for (i64 t = thread_number(); t < count * a.lines.total; t += num_threads()) {
    const i64 line = t % a.lines.total, at = t / a.lines.total;
    const SortEntry* entries = sorted + (a.by_line ? line * count : 0);
    const unsigned long long key = entries[at].key;
    if (key == kLastKey) continue;
    char* to =
        static_cast<char*>(table) + offset_at(a.lines, a.line_table, line) + static_cast<i64>(key);
    if (a.how == CombineKind::kReplace) {
      if (at + 1 == count || entries[at + 1].key != key)
        copy_element(to, other == nullptr ? &fixed : other_at(a, other, line, entries[at].place),
                     a.dtype);
      continue;
    }
    if (at > 0 && entries[at - 1].key == key) continue;
    // Rounded after each element, as on the CPU.
    for (i64 e = at; e < count && entries[e].key == key; ++e)
      store(joined(a.how, load<T>(to, 0, a.dtype),
                   load<T>(other_at(a, other, line, entries[e].place), 0, a.dtype)),
            to, 0, a.dtype);
  }
}

}  // namespace shw::runtime::cuda

#define SHW_INDEX_POINTERS                                                                        \
  const void *i0, const void *i1, const void *i2, const void *i3, const void *i4, const void *i5, \
      const void *i6, const void *i7

SHW_KERNEL shw_index_read(void* out, const void* table, SHW_INDEX_POINTERS,
                          shw::runtime::cuda::DeviceError* error,
                          shw::runtime::cuda::IndexArguments a) {
  using namespace shw::runtime::cuda;
  const IndexPointers indices = {{i0, i1, i2, i3, i4, i5, i6, i7}};
  // Neighbouring threads have neighbouring elements of a line, or of the lines behind an index.
  for (i64 t = thread_number(); t < a.positions.total * a.lines.total; t += num_threads()) {
    const i64 line = a.by_line ? t / a.positions.total : t % a.lines.total;
    const i64 position = a.by_line ? t % a.positions.total : t / a.lines.total;
    const i64 place = place_of(a, indices, line, position, error);
    const char* from =
        static_cast<const char*>(table) + offset_at(a.lines, a.line_table, line) + place;
    copy_element(const_cast<void*>(other_at(a, out, line, position)), place < 0 ? nullptr : from,
                 a.dtype);
  }
}
SHW_KERNEL shw_index_places(shw::runtime::cuda::SortEntry* entries, SHW_INDEX_POINTERS,
                            shw::runtime::cuda::DeviceError* error,
                            shw::runtime::cuda::IndexArguments a) {
  using namespace shw::runtime::cuda;
  const IndexPointers indices = {{i0, i1, i2, i3, i4, i5, i6, i7}};
  for (i64 t = thread_number(); t < num_places(a); t += num_threads()) {
    const i64 position = t % a.positions.total;
    const i64 place = place_of(a, indices, t / a.positions.total, position, error);
    entries[t] = {place < 0 ? kLastKey : static_cast<unsigned long long>(place), position};
  }
}
#define SHW_INDEX_WRITE(suffix, T)                                                 \
  SHW_KERNEL shw_index_write_##suffix(void* table, const void* other,              \
                                      const shw::runtime::cuda::SortEntry* sorted, \
                                      shw::runtime::cuda::IndexArguments a) {      \
    using namespace shw::runtime::cuda;                                            \
    write_indexed<T>(table, other, sorted, a);                                     \
  }
SHW_INDEX_WRITE(f32, float)
SHW_INDEX_WRITE(f64, double)
SHW_INDEX_WRITE(i64, Int)
SHW_INDEX_WRITE(c64, Complex)
#undef SHW_INDEX_WRITE
#undef SHW_INDEX_POINTERS
