#include "compiler/options.h"

#include "compiler/option_text.h"
#include "support/hash.h"

namespace shw {

std::span<const OptionRow> option_rows() {
  static constexpr OptionRow kRows[] = {
#define SHW_OPTION(type, name, initial, c, flag, part, identity, help) \
  {#name, OptionPart::part, OptionIdentity::identity},
#include "compiler/options.inc"
#undef SHW_OPTION
  };
  return kRows;
}

std::vector<std::string> option_texts(const CompileOptions& options) {
  std::vector<std::string> texts;
#define SHW_OPTION(type, name, ...) texts.push_back(option_text(options.name));
#include "compiler/options.inc"
#undef SHW_OPTION
  return texts;
}

uint64_t hash_of(const CompileOptions& options) {
  const std::vector<std::string> texts = option_texts(options),
                                 defaults = option_texts(CompileOptions());
  const std::span<const OptionRow> rows = option_rows();
  uint64_t h = hash_bytes("options");
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].identity == OptionIdentity::kPlan && texts[i] != defaults[i])
      h = hash_bytes(texts[i], hash_bytes(rows[i].name, h));
  return h;
}

bool agree(OptionPart part, const CompileOptions& a, const CompileOptions& b) {
  const std::vector<std::string> of_a = option_texts(a), of_b = option_texts(b);
  const std::span<const OptionRow> rows = option_rows();
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].part == part && of_a[i] != of_b[i]) return false;
  return true;
}

}  // namespace shw
