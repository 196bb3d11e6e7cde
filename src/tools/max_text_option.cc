#include "tools/max_text_option.h"

#include "import/text_limit.h"
#include "tools/plan_options.h"

namespace shw::tools {

static_assert(import::kDefaultMaxTextBytes == 512ull << 20);

void add_max_text(Verb& verb, std::string& value) {
  verb.option("--max-text", value,
              "Refuse a file that holds more text, after inflation if it is gzipped")
      .shows_default();
}

Result<uint64_t> parse_max_text(const std::string& value) {
  SHW_ASSIGN_OR_RETURN(const int64_t bytes, parse_bytes(value));
  return static_cast<uint64_t>(bytes);
}

}  // namespace shw::tools
