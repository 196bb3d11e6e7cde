// sdpa_paged(query, key_pages, value_pages, page_table, lengths): attention of the last positions
// of each batch row over the keys and values in the row's pages (runtime/paged_shape.h).
// Attributes: is_causal, window_left, window_right, scale (absent: 1/√width). For each key head,
// the keys and values that the queries see together are gathered once, for all query heads that
// share them.
#include <algorithm>

#include "runtime/cpu/attention.h"
#include "runtime/paged_shape.h"
#include "support/format.h"

namespace shw::runtime::cpu {
namespace {

enum PagedOperand : size_t { kQuery, kKeyPages, kValuePages, kPageTable, kRowLengths, kNumPaged };

// Rows of keys or values in pages.
template <class T>
struct PagedRows {
  LoadRow<T> load = nullptr;
  Dims strides_bytes;
  int64_t width = 0;

  explicit PagedRows(const TensorType& pages)
      : load(load_row<T>(pages.dtype)),
        strides_bytes(broadcast_strides_bytes(pages, pages.shape)),
        width(pages.shape[3]) {}
  void read(const void* buffer, int64_t page, int64_t slot, int64_t head, T* to) const {
    const auto* from = static_cast<const std::byte*>(buffer) + page * strides_bytes[0] +
                       slot * strides_bytes[1] + head * strides_bytes[2];
    load(from, strides_bytes[3], width, to);
  }
};

template <class T>
class SdpaPaged final : public HostKernel {
 public:
  SdpaPaged(const KernelArgs& args, const PagedShape& shape)
      : s_(shape),
        q_(*args.inputs[kQuery]),
        k_(*args.inputs[kKeyPages]),
        v_(*args.inputs[kValuePages]),
        out_(*args.outputs[0]),
        keys_(shape.most_keys(), shape.width, shape.queries * shape.group()),
        load_page_(load_row<Int>(args.inputs[kPageTable]->dtype)),
        table_strides_(
            broadcast_strides_bytes(*args.inputs[kPageTable], args.inputs[kPageTable]->shape)),
        load_length_(load_row<Int>(args.inputs[kRowLengths]->dtype)),
        length_stride_(broadcast_strides_bytes(*args.inputs[kRowLengths],
                                               args.inputs[kRowLengths]->shape)[0]) {}

  int64_t workspace_bytes() const override {
    Scratch unused;
    return s_.row_pages * static_cast<int64_t>(sizeof(Int)) +
           carve(nullptr, unused) * static_cast<int64_t>(sizeof(T));
  }

  Status compute(void* const* buffers) override {
    auto* const pages = static_cast<Int*>(buffers[kNumPaged + 1]);
    Scratch m;
    carve(reinterpret_cast<T*>(pages + s_.row_pages), m);
    for (int64_t b = 0; b < s_.batch; ++b) {
      Row row{b, 0, {}, pages};
      SHW_RETURN_IF_ERROR(turn_to(buffers, row));
      for (int64_t shared = 0; shared < s_.key_heads; ++shared) {
        gather(buffers, row, shared, m);
        const Matrix<const T> keys = keys_.make({m.k, s_.width, 1}, row.seen.size(), m.keys);
        for (int64_t h = shared * s_.group(); h < (shared + 1) * s_.group(); ++h) {
          const Matrix<const T> q = q_.load(buffers[kQuery], b, h, m.q);
          for (int64_t i = 0; i < s_.queries; i += kQueryBlock) do_block(row, i, q, keys, m);
          out_.store(m.out, buffers[kNumPaged], b, h);
        }
      }
    }
    return {};
  }

 private:
  // Scratch memory for one head.
  struct Scratch {
    T *q, *k, *v, *keys, *scores, *out;
  };
  struct Row {
    int64_t b, length;
    KeyRange seen;  // the keys that all queries see together
    Int* pages;     // the pages of these keys, at their positions in the page table
  };

  int64_t carve(T* base, Scratch& m) const {
    int64_t used = 0;
    const auto take = [&](T*& part, int64_t elements) {
      part = base == nullptr ? nullptr : base + used;
      used += elements;
    };
    take(m.q, q_.scratch_elements());
    take(m.k, s_.most_keys() * s_.width);
    take(m.v, s_.most_keys() * s_.value_width);
    take(m.keys, keys_.scratch_elements());
    take(m.scores, std::min(kQueryBlock, s_.queries) * s_.most_keys());
    take(m.out, s_.queries * s_.value_width);
    return used;
  }

  // The keys that query i sees.
  KeyRange keys_of(const Row& row, int64_t i) const {
    const int64_t position = row.length - s_.queries + i;
    if (position < 0) return {};
    return {std::max<int64_t>(0, position - s_.window.left),
            std::min(row.length, position + s_.window.right + 1)};
  }
  KeyRange keys_of_block(const Row& row, int64_t first, int64_t rows) const {
    return {keys_of(row, first).begin, keys_of(row, first + rows - 1).end};
  }

  // Reads the length of the row, and the pages of the keys that are seen.
  Status turn_to(void* const* buffers, Row& row) {
    Int length;
    load_length_(static_cast<const std::byte*>(buffers[kRowLengths]) + row.b * length_stride_, 0, 1,
                 &length);
    if (length.v < 0 || length.v > s_.capacity())
      return Status(Code::kOutOfRange,
                    format("lengths[%lld] is %lld; a row of the page table has room for %lld keys",
                           static_cast<long long>(row.b), static_cast<long long>(length.v),
                           static_cast<long long>(s_.capacity())));
    row.length = length.v;
    if (s_.queries > 0) row.seen = keys_of_block(row, 0, s_.queries);
    if (row.seen.size() <= 0) return {};
    const int64_t end = (row.seen.end - 1) / s_.page_size + 1;
    for (int64_t p = row.seen.begin / s_.page_size; p < end; ++p) {
      load_page_(static_cast<const std::byte*>(buffers[kPageTable]) + row.b * table_strides_[0] +
                     p * table_strides_[1],
                 0, 1, row.pages + p);
      if (row.pages[p].v < 0 || row.pages[p].v >= s_.pages)
        return Status(
            Code::kOutOfRange,
            format("page_table[%lld,%lld] is %lld; there are %lld pages",
                   static_cast<long long>(row.b), static_cast<long long>(p),
                   static_cast<long long>(row.pages[p].v), static_cast<long long>(s_.pages)));
    }
    return {};
  }

  void gather(void* const* buffers, const Row& row, int64_t head, const Scratch& m) const {
    for (int64_t j = row.seen.begin; j < row.seen.end; ++j) {
      const int64_t page = row.pages[j / s_.page_size].v, slot = j % s_.page_size,
                    at = j - row.seen.begin;
      k_.read(buffers[kKeyPages], page, slot, head, m.k + at * s_.width);
      v_.read(buffers[kValuePages], page, slot, head, m.v + at * s_.value_width);
    }
  }

  void do_block(const Row& row, int64_t first, const Matrix<const T>& q,
                const Matrix<const T>& all_keys, const Scratch& m) const {
    const int64_t rows = std::min(kQueryBlock, s_.queries - first);
    const KeyRange keys = keys_of_block(row, first, rows);
    const int64_t n = keys.size(), skipped = keys.begin - row.seen.begin;
    const T* v = m.v + skipped * s_.value_width;
    T* to = m.out + first * s_.value_width;
    gemm<T>({rows,
             n,
             s_.width,
             {q.data + first * q.row_stride, q.row_stride, 1},
             {&all_keys.at(0, skipped), all_keys.row_stride, all_keys.column_stride},
             {m.scores, n, 1}});
    T inverse[kQueryBlock];
    for (int64_t r = 0; r < rows; ++r) {
      const KeyRange own = keys_of(row, first + r);
      T* const scores = m.scores + r * n;
      T lse = 0;
      const int64_t begin = own.size() > 0 ? own.begin - keys.begin : 0;
      inverse[r] =
          softmax_weights(scores + begin, own.size(), n - begin, static_cast<T>(s_.scale), lse);
      std::fill(scores, scores + begin, T{0});
    }
    gemm<T>({rows,
             s_.value_width,
             n,
             {m.scores, n, 1},
             {v, s_.value_width, 1},
             {to, s_.value_width, 1}});
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < s_.value_width; ++c) to[r * s_.value_width + c] *= inverse[r];
  }

  PagedShape s_;
  HeadOperand<T> q_;
  PagedRows<T> k_, v_;
  HeadResult<T> out_;
  TransposedOperand<T> keys_;
  LoadRow<Int> load_page_;
  Dims table_strides_;
  LoadRow<Int> load_length_;
  int64_t length_stride_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const PagedShape shape, paged_shape(args));
  return with_attention_type(*args.inputs[kQuery], [&](auto t) {
    return make_kernel<SdpaPaged<decltype(t)>>(args, shape);
  });
}

}  // namespace

extern const Kernel kSdpaPaged;
constinit const Kernel kSdpaPaged = {"sdpa_paged", prepare};

}  // namespace shw::runtime::cpu
