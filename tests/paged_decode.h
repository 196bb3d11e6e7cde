// A small transformer as an inference server runs it. Entry `decode` takes one token of each
// sequence, appends its keys and values to paged caches, and attends to them. Entry `full` computes
// all tokens at once, with keys and values in one tensor. Both entries must give the same results.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "graph/text.h"
#include "graph/writer.h"
#include "runtime/virtual_ranks.h"

namespace shw::testing {

// Four query heads of width 8; each pair of them shares a key head.
struct PagedDecode {
  int64_t sequences = 4, tokens = 14, page_size = 4, row_pages = 4, pages = 19;
  int64_t width = 16, heads = 4, key_heads = 2;
  std::string window;  // ", window_left=…", or nothing

  std::string replaced(const std::string& text, int layer) const {
    const std::map<char, int64_t> values = {{'B', sequences},
                                            {'T', tokens},
                                            {'S', page_size},
                                            {'P', row_pages},
                                            {'N', pages},
                                            {'D', width},
                                            {'H', heads},
                                            {'K', key_heads},
                                            {'Q', heads * 8},
                                            {'V', key_heads * 8},
                                            {'M', sequences * tokens},
                                            {'E', tokens * heads * 8},
                                            {'F', tokens * key_heads * 8},
                                            {'U', tokens * 8},
                                            {'l', layer}};
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '$')
        out += text[i];
      else if (text[++i] == 'W')
        out += window;
      else
        out += std::to_string(values.at(text[i]));
    }
    return out;
  }

  // The state of one layer. It is not among the inputs of an entry.
  static constexpr const char* kState = R"swt(
input buffer.keys.$l: %keys$l : f32[$N,$S,$K,8] {storage=state}
input buffer.values.$l: %values$l : f32[$N,$S,$K,8] {storage=state}
input param.norm.$l: %norm$l : f32[$D] {storage=state}
input param.q.$l: %wq$l : f32[$D,$Q] {storage=state}
input param.k.$l: %wk$l : f32[$D,$V] {storage=state}
input param.v.$l: %wv$l : f32[$D,$V] {storage=state}
input param.o.$l: %wo$l : f32[$Q,$D] {storage=state}
input param.up.$l: %up$l : f32[$D,$Q] {storage=state}
input param.down.$l: %down$l : f32[$Q,$D] {storage=state}
)swt";

  // Where the newest token of each sequence is stored: the page, and the slot in the page.
  static constexpr const char* kPlaces = R"swt(
%last = sub(%lengths, none, other=1) : i64[$B]
%number = floor_divide(%last, none, other=$S) : i64[$B]
%column = unsqueeze(%number, dim=1) : i64[$B,1]{1,1}
%found = gather(%table, %column, dim=1) : i64[$B,1]
%page = view(%found, size=[$B]) : i64[$B]
%slot = remainder(%last, none, other=$S) : i64[$B]
)swt";

  static constexpr const char* kDecode = R"swt(
%n$l = fused_rms_norm(%x$l, %norm$l, normalized_shape=[$D], eps=1e-05) : (f32[$B,$D], f32[$B,1])
%a$l = get_item(%n$l, index=0) : f32[$B,$D]
%q2$l = mm(%a$l, %wq$l) : f32[$B,$Q]
%q$l = view(%q2$l, size=[$B,$H,1,8]) : f32[$B,$H,1,8]
%k2$l = mm(%a$l, %wk$l) : f32[$B,$V]
%k$l = view(%k2$l, size=[$B,$K,8]) : f32[$B,$K,8]
%v2$l = mm(%a$l, %wv$l) : f32[$B,$V]
%v$l = view(%v2$l, size=[$B,$K,8]) : f32[$B,$K,8]
%newkeys$l = index_put(%keys$l, %k$l, %page, %slot) : f32[$N,$S,$K,8]
%newvalues$l = index_put(%values$l, %v$l, %page, %slot) : f32[$N,$S,$K,8]
%s$l = sdpa_paged(%q$l, %newkeys$l, %newvalues$l, %table, %lengths, is_causal=true$W) : f32[$B,$H,1,8]
%s2$l = view(%s$l, size=[$B,$Q]) : f32[$B,$Q]
%o$l = mm(%s2$l, %wo$l) : f32[$B,$D]
%y$l = add(%x$l, %o$l) : f32[$B,$D]
%u$l = mm(%y$l, %up$l) : f32[$B,$Q]
%g$l = silu(%u$l) : f32[$B,$Q]
%d$l = mm(%g$l, %down$l) : f32[$B,$D]
)swt";

  static constexpr const char* kFull = R"swt(
%fn$l = fused_rms_norm(%fx$l, %norm$l, normalized_shape=[$D], eps=1e-05) : (f32[$M,$D], f32[$M,1])
%fa$l = get_item(%fn$l, index=0) : f32[$M,$D]
%fq2$l = mm(%fa$l, %wq$l) : f32[$M,$Q]
%fq4$l = view(%fq2$l, size=[$B,$T,$H,8]) : f32[$B,$T,$H,8]
%fq5$l = permute(%fq4$l, dims=[0,2,1,3]) : f32[$B,$H,$T,8]{$E,8,$Q,1}
%fq$l = clone(%fq5$l) : f32[$B,$H,$T,8]
%fk2$l = mm(%fa$l, %wk$l) : f32[$M,$V]
%fk4$l = view(%fk2$l, size=[$B,$T,$K,8]) : f32[$B,$T,$K,8]
%fk5$l = permute(%fk4$l, dims=[0,2,1,3]) : f32[$B,$K,$T,8]{$F,8,$V,1}
%fk$l = clone(%fk5$l) : f32[$B,$K,$T,8]
%fv2$l = mm(%fa$l, %wv$l) : f32[$M,$V]
%fv4$l = view(%fv2$l, size=[$B,$T,$K,8]) : f32[$B,$T,$K,8]
%fv5$l = permute(%fv4$l, dims=[0,2,1,3]) : f32[$B,$K,$T,8]{$F,8,$V,1}
%fv$l = clone(%fv5$l) : f32[$B,$K,$T,8]
%fs4$l = sdpa(%fq$l, %fk$l, %fv$l, none, is_causal=true, kernel="cpu"$W) : (f32[$B,$H,$T,8], f32[$B,$H,$T], none, none)
%fs5$l = get_item(%fs4$l, index=0) : f32[$B,$H,$T,8]
%fs6$l = permute(%fs5$l, dims=[0,2,1,3]) : f32[$B,$T,$H,8]{$E,8,$U,1}
%fs7$l = clone(%fs6$l) : f32[$B,$T,$H,8]
%fs$l = view(%fs7$l, size=[$M,$Q]) : f32[$M,$Q]
%fo$l = mm(%fs$l, %wo$l) : f32[$M,$D]
%fy$l = add(%fx$l, %fo$l) : f32[$M,$D]
%fu$l = mm(%fy$l, %up$l) : f32[$M,$Q]
%fg$l = silu(%fu$l) : f32[$M,$Q]
%fd$l = mm(%fg$l, %down$l) : f32[$M,$D]
)swt";

  std::vector<uint8_t> graph() const {
    std::string state, decode, full;
    for (int l = 0; l < kLayers; ++l) {
      const std::string from = std::to_string(l), to = std::to_string(l + 1);
      state += replaced(kState, l);
      decode += replaced(kDecode, l) + "%x" + to + replaced(" = add(%y$l, %d$l) : f32[$B,$D]\n", l);
      full += replaced(kFull, l) + "%fx" + to + replaced(" = add(%fy$l, %fd$l) : f32[$M,$D]\n", l);
    }
    const int inputs = kLayers * 9;  // the inputs of the state come first
    const auto number = [&](int i) { return std::to_string(inputs + i); };
    std::string text = state + replaced(
                                   "input input.x: %x0 : f32[$B,$D]\n"
                                   "input input.table: %table : i64[$B,$P]\n"
                                   "input input.lengths: %lengths : i64[$B]\n"
                                   "input input.all: %fx0 : f32[$M,$D]\n",
                                   0);
    text += replaced(kPlaces, 0) + decode + full + "return output.next = %x2, output.all = %fx2";
    std::string outputs = "0";
    for (int l = 0; l < kLayers; ++l) {
      text += replaced(
          ", update.buffer.keys.$l = %newkeys$l in_place, update.buffer.values.$l = %newvalues$l "
          "in_place",
          l);
      outputs += "," + std::to_string(2 * l + 2) + "," + std::to_string(2 * l + 3);
    }
    text += "\nentry decode weight=100 inputs=[" + number(0) + "," + number(1) + "," + number(2) +
            "] outputs=[" + outputs + "]\nentry full inputs=[" + number(3) + "] outputs=[1]\n";
    const auto parsed = parse_graph(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    return parsed.ok() ? write_graph(*parsed) : std::vector<uint8_t>();
  }

  // Sequence b has 2·b tokens fewer than `tokens`. After its end it repeats its last token.
  int64_t length(int64_t b, int64_t step) const { return std::min(step + 1, tokens - 2 * b); }

  // Compares each step of `decode` with the same token of `full`.
  void expect_same(runtime::VirtualRanks& ranks) const {
    fill_parameters(ranks);
    const std::vector<float> all = wave(sequences * tokens * width, 0.9f, 7);
    const runtime::HostTensorView whole[] = {view(all, {sequences * tokens, width})};
    const auto full = ranks.run("full", whole);
    ASSERT_TRUE(full.ok()) << full.status().message();
    std::vector<int64_t> table(static_cast<size_t>(sequences * row_pages));
    for (size_t i = 0; i < table.size(); ++i)  // in a mixed order
      table[i] = static_cast<int64_t>(i) * 7 % pages;
    for (int64_t step = 0; step < tokens; ++step) {
      std::vector<float> x;
      std::vector<int64_t> lengths;
      for (int64_t b = 0; b < sequences; ++b) {
        lengths.push_back(length(b, step));
        const auto at = all.begin() + (b * tokens + lengths.back() - 1) * width;
        x.insert(x.end(), at, at + width);
      }
      const runtime::HostTensorView in[] = {
          view(x, {sequences, width}),
          {row_major(Dtype::kI64, {sequences, row_pages}), table.data()},
          {row_major(Dtype::kI64, {sequences}), lengths.data()}};
      const auto out = ranks.run("decode", in);
      ASSERT_TRUE(out.ok()) << out.status().message();
      for (int64_t b = 0; b < sequences; ++b)
        for (int64_t c = 0; c < width; ++c) {
          const float got = at((*out)[0], b * width + c),
                      want = at((*full)[0],
                                (b * tokens + lengths[static_cast<size_t>(b)] - 1) * width + c);
          ASSERT_NEAR(got, want, 2e-5) << "sequence " << b << ", step " << step;
        }
    }
  }

  // A page number out of range: the error names the node, and the next run works.
  void expect_refused(runtime::VirtualRanks& ranks) const {
    const std::vector<float> x = wave(sequences * width, 1, 1);
    const std::vector<int64_t> table(static_cast<size_t>(sequences * row_pages), pages),
        lengths(static_cast<size_t>(sequences), 1);
    const runtime::HostTensorView in[] = {
        view(x, {sequences, width}),
        {row_major(Dtype::kI64, {sequences, row_pages}), table.data()},
        {row_major(Dtype::kI64, {sequences}), lengths.data()}};
    const auto out = ranks.run("decode", in);
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.status().code(), Code::kOutOfRange);
    EXPECT_FALSE(out.status().node_name().empty());
  }

 private:
  static constexpr int kLayers = 2;

  static std::vector<float> wave(int64_t n, float size, int salt) {
    std::vector<float> v(static_cast<size_t>(n));
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = size * std::sin(static_cast<float>((i * 37 + static_cast<size_t>(salt) * 11) % 1009));
    return v;
  }
  static runtime::HostTensorView view(const std::vector<float>& v, Dims shape) {
    return {row_major(Dtype::kF32, shape), v.data()};
  }
  static float at(const runtime::HostTensor& t, int64_t i) {
    float v = 0;
    std::memcpy(&v, t.data.data() + static_cast<size_t>(i) * sizeof v, sizeof v);
    return v;
  }

  void fill_parameters(runtime::VirtualRanks& ranks) const {
    int salt = 0;
    for (int l = 0; l < kLayers; ++l)
      for (const auto& [name, shape] :
           std::vector<std::pair<std::string, Dims>>{{"norm", {width}},
                                                     {"q", {width, heads * 8}},
                                                     {"k", {width, key_heads * 8}},
                                                     {"v", {width, key_heads * 8}},
                                                     {"o", {heads * 8, width}},
                                                     {"up", {width, heads * 8}},
                                                     {"down", {heads * 8, width}}}) {
        int64_t n = 1;
        for (int64_t d : shape) n *= d;
        const std::vector<float> values = wave(n, 0.5f, ++salt);
        const Status done =
            ranks.write_state(replaced("param." + name + ".$l", l), view(values, shape));
        ASSERT_TRUE(done.ok()) << done.message();
      }
  }
};

}  // namespace shw::testing
