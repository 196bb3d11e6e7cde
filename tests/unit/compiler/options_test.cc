// Checks what is derived from the table of options: which options change the plan, which change the
// model, and the document that lists them.
#include "compiler/options.h"

#include <gtest/gtest.h>

#include <sstream>

#include "compiler/option_text.h"
#include "document.h"

namespace shw {
namespace {

// Changes a value to something other than the default.
void differ(std::string& value) { value += "other"; }
void differ(bool& value) { value = !value; }
void differ(Rules& value) { value = Rules::kCompat; }
void differ(std::optional<Dtype>& value) { value = Dtype::kF64; }
void differ(ParameterBudget& value) { value = {ParameterBudget::Kind::kFactor, 0.1}; }
void differ(OverlapOptions& value) { value = {Overlap::kPrefetch, 0.1}; }
void differ(RecomputePolicy& value) { value.kind = RecomputePolicy::Kind::kFull; }
void differ(Names& value) { value.emplace_back(); }
void differ(NamedLayouts& value) { value.emplace_back(); }
void differ(Buckets& value) { value.emplace_back(); }
template <class T>
void differ(T& number) {
  number += static_cast<T>(1);
}

void expect_as_told(const OptionRow& row, const CompileOptions& other) {
  const CompileOptions defaults;
  SCOPED_TRACE(row.name);
  EXPECT_EQ(hash_of(other) != hash_of(defaults), row.identity == OptionIdentity::kPlan);
  EXPECT_NE(agree(OptionPart::kModel, other, defaults), row.part == OptionPart::kModel);
  EXPECT_NE(agree(OptionPart::kQuestion, other, defaults), row.part == OptionPart::kQuestion);
}

TEST(Options, OfThePlanEnterItsHashAndThoseOfTheModelItsComparison) {
  size_t row = 0;
#define SHW_OPTION(type, name, ...)              \
  {                                              \
    CompileOptions other;                        \
    differ(other.name);                          \
    expect_as_told(option_rows()[row++], other); \
  }
#include "compiler/options.inc"
#undef SHW_OPTION
  EXPECT_EQ(row, option_rows().size());
}

TEST(Options, ThatDifferInTheLastBitOrInWhatTheyBelongToDiffer) {
  CompileOptions a, b;
  a.overlap = {Overlap::kBounded, 0.1}, b.overlap = {Overlap::kBounded, 0.1 + 0x1p-56};
  EXPECT_NE(hash_of(a), hash_of(b));
  a = b = {};
  a.pins = {{"x", "RS"}}, b.pins = {{"xR", "S"}};
  EXPECT_NE(hash_of(a), hash_of(b));
  a = b = {};
  a.inputs = {{"x", "R"}}, b.outputs = {{"x", "R"}};
  EXPECT_NE(hash_of(a), hash_of(b));
}

// "(c.pins, c.num_pins)" → "`pins`, `num_pins`"
std::string fields_of(std::string_view c) {
  std::string text, word;
  for (const char letter : std::string(c) + " ") {
    if (std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '.') {
      word += letter;
      continue;
    }
    if (word.starts_with("c."))
      word = word.substr(2);
    else if (!word.starts_with("SHW_"))
      word.clear();
    if (!word.empty()) text += (text.empty() ? "`" : ", `") + word + "`";
    word.clear();
  }
  return text;
}

// src/compiler/OPTIONS.md lists all options. With SHW_WRITE_OPTIONS set, the test writes the file.
TEST(Options, AreListedInTheDocument) {
  std::ostringstream text;
  text
      << "# Options of a compilation\n\nFrom [options.inc](options.inc), by `SHW_WRITE_OPTIONS=1 "
         "unit_compiler`. `plan`: the value can change the plan, and enters its options hash. "
         "`model`: a prepared model has one value; else each question to it has its own.\n\n"
         "| `shw_compile_options` | tool | default | plan | model | |\n|---|---|---|---|---|---|\n";
  const std::vector<std::string> defaults = option_texts(CompileOptions());
  const struct {
    std::string_view c, flag, help;
  } shown[] = {
#define SHW_OPTION(type, name, initial, c, flag, part, identity, help) {#c, flag, help},
#include "compiler/options.inc"
#undef SHW_OPTION
  };
  for (size_t i = 0; i < std::size(shown); ++i) {
    const OptionRow& r = option_rows()[i];
    const auto code = [](std::string_view word) {
      return word.empty() ? std::string() : "`" + std::string(word) + "`";
    };
    text << "| " << fields_of(shown[i].c) << " | " << code(shown[i].flag) << " | "
         << code(defaults[i]) << " | " << (r.identity == OptionIdentity::kPlan ? "yes" : "")
         << " | " << (r.part == OptionPart::kModel ? "yes" : "") << " | " << shown[i].help
         << " |\n";
  }
  testing::expect_document("src/compiler/OPTIONS.md", "SHW_WRITE_OPTIONS", text.str());
}

}  // namespace
}  // namespace shw
