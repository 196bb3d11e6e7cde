#include "support/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace shw {
namespace {

std::string written(std::string_view text) {
  return JsonWriter().begin_array().value(text).end_array().take();
}

TEST(JsonWriter, PutsEachItemOnALineOfItsOwn) {
  JsonWriter j;
  j.begin_object().member("a", 1).key("b").begin_array().value(true).value("x").end_array();
  j.key("c").begin_object().end_object().end_object();
  EXPECT_EQ(j.take(), "{\n \"a\": 1,\n \"b\": [\n  true,\n  \"x\"\n ],\n \"c\": {}\n}");
}

TEST(JsonWriter, IsReadBackAsItWasMeant) {
  JsonWriter j;
  j.begin_object().member("double", 0.1).member("large", 1e300).member("negative", int64_t{-5});
  j.member("unsigned", std::numeric_limits<uint64_t>::max());
  j.member("text", std::string("tab\t, \"quotes\", back\\slash, \x01, µ, 日本, 𝄞"));
  j.member("infinite", std::numeric_limits<double>::infinity()).end_object();
  const auto read = nlohmann::json::parse(j.take());
  EXPECT_EQ(read["double"].get<double>(), 0.1);
  EXPECT_EQ(read["large"].get<double>(), 1e300);
  EXPECT_EQ(read["negative"].get<int64_t>(), -5);
  EXPECT_EQ(read["unsigned"].get<uint64_t>(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(read["text"].get<std::string>(), "tab\t, \"quotes\", back\\slash, \x01, µ, 日本, 𝄞");
  EXPECT_TRUE(read["infinite"].is_null());
}

TEST(JsonWriter, ReplacesWhatIsNotUtf8) {
  const std::string_view wrong[] = {
      "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe6\x97"};
  for (const std::string_view text : wrong) {
    const std::string json = written(text);
    EXPECT_NE(json.find("\xef\xbf\xbd"), std::string::npos) << json;
    EXPECT_TRUE(nlohmann::json::accept(json)) << json;
  }
}

}  // namespace
}  // namespace shw
