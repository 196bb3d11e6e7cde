// Products by groups (runtime/grouped_shape.h). Where groups end is read on the device: each block
// walks through the offsets to the tile that it computes. What no group of this rank has is a
// product of no terms, which is zero.
#pragma once
#include "product.cuh"
#include "table.cuh"

namespace shw::runtime::cuda {

// Elements of the ragged dim; `number`: of all groups, or their number for what is behind them.
struct Group {
  i64 number, begin, end;
};

// Goes through the groups in order.
struct Groups {
  const void* offsets;  // null: nothing is ragged
  DeviceError* error;
  const GroupedArguments& a;

  __device__ void go_on(Group& group) const {
    ++group.number;
    group.begin = group.end;
    if (group.number == a.groups.whole || offsets == nullptr) {
      group.end = a.ragged;
      return;
    }
    const i64 end = load<Int>(offsets, group.number * a.offset_step, a.offset_dtype).v;
    if (end < group.begin || end > a.ragged)
      report(error, a.step, end, a.ragged);
    else
      group.end = end;
  }
};

// Tile `number` along the ragged rows or columns: its group, and the first element of the tile.
// Each group has tiles of its own; there are none left if the group's number is beyond the last.
__device__ inline Group group_of_tile(const Groups& groups, i64 number, i64* first) {
  Group group = {-1, 0, 0};
  while (group.number < groups.a.groups.whole) {
    groups.go_on(group);
    const i64 tiles = product_tiles(group.end - group.begin);
    if (number < tiles) {
      *first = group.begin + number * kProductTile;
      return group;
    }
    number -= tiles;
  }
  return {groups.a.groups.whole + 1, 0, 0};
}

template <class T>
__device__ inline void grouped_tile(void* out, const void* left, const void* right,
                                    const GroupedArguments& a, const Group& group, i64 row,
                                    i64 column, ProductSlabs<T>& slabs) {
  const bool here = is_here(a.groups, group.number);
  const i64 mine = group.number - a.groups.first;
  ProductSize size = {a.rows, a.columns, here ? a.depth : 0};
  i64 term = 0;
  if (a.kind == GroupedKind::kRows) size.rows = group.end;
  if (a.kind == GroupedKind::kColumns) size.columns = group.end;
  if (a.kind == GroupedKind::kTerms) {
    term = group.begin;
    size.depth = here ? group.end - group.begin : 0;
  }
  const i64 left_at = mine * a.left[0] + term * a.left[2],
            right_at = mine * a.right[0] + term * a.right[1], out_at = mine * a.out[0];
  product_tile<T>(
      size, row, column,
      [&](i64 r, i64 k) {
        return load_real<T>(left, left_at + r * a.left[1] + k * a.left[2], a.dtype[0]);
      },
      [&](i64 k, i64 c) {
        return load_real<T>(right, right_at + k * a.right[1] + c * a.right[2], a.dtype[1]);
      },
      [&](i64 r, i64 c, T sum) {
        store_real(sum, out, out_at + r * a.out[1] + c * a.out[2], a.dtype[2]);
      },
      slabs);
}

template <class T>
__device__ inline void grouped_mm(void* out, const void* left, const void* right,
                                  const void* offsets, DeviceError* error,
                                  const GroupedArguments& a, ProductSlabs<T>& slabs) {
  const Groups groups = {offsets, error, a};
  for (i64 tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
    const i64 across = tile % a.tiles_across, down = tile / a.tiles_across;
    i64 row = 0, column = across * kProductTile;
    Group group = {-1, 0, 0};
    if (a.kind == GroupedKind::kRows) {
      group = group_of_tile(groups, down, &row);
    } else if (a.kind == GroupedKind::kColumns) {
      group = group_of_tile(groups, across, &column);
      row = down * kProductTile;
    } else {  // a result for each group that is here, and padding
      const i64 tiles = product_tiles(a.rows), wanted = a.groups.first + down / tiles;
      row = down % tiles * kProductTile;
      if (a.kind == GroupedKind::kBatches || wanted >= a.groups.whole)
        group.number = wanted;
      else
        while (group.number < wanted) groups.go_on(group);
    }
    if (group.number <= a.groups.whole || a.kind >= GroupedKind::kTerms)
      grouped_tile<T>(out, left, right, a, group, row, column, slabs);
  }
}

}  // namespace shw::runtime::cuda

#define SHW_GROUPED(suffix, T)                                                                  \
  SHW_KERNEL __launch_bounds__(shw::runtime::cuda::kProductThreads, 2) shw_grouped_mm_##suffix( \
      void* out, const void* left, const void* right, const void* offsets,                      \
      shw::runtime::cuda::DeviceError* error, shw::runtime::cuda::GroupedArguments a) {         \
    __shared__ shw::runtime::cuda::ProductSlabs<T> slabs;                                       \
    shw::runtime::cuda::grouped_mm<T>(out, left, right, offsets, error, a, slabs);              \
  }
SHW_GROUPED(f32, float)
SHW_GROUPED(f64, double)
#undef SHW_GROUPED
