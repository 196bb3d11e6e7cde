// parse_json: keeps values as written, and refuses every kind of text that is not JSON.
#include "support/json_value.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

using Kind = JsonValue::Kind;

TEST(JsonValue, KeepsWhatIsWritten) {
  const auto root = parse_json(R"( {"a": [1, -2.5e3, true, null], "b": {"c": "\u00fc\n"}} )");
  ASSERT_TRUE(root.ok()) << root.status().message();
  const JsonValue* a = root->find("a");
  ASSERT_TRUE(a != nullptr && a->kind == Kind::kArray && a->items.size() == 4);
  EXPECT_EQ(a->items[0].number, 1);
  EXPECT_EQ(a->items[1].number, -2500);
  EXPECT_TRUE(a->items[2].kind == Kind::kBool && a->items[2].boolean);
  EXPECT_EQ(a->items[3].kind, Kind::kNull);
  EXPECT_EQ(root->find("b")->find("c")->string, "\xc3\xbc\n");
  EXPECT_EQ(root->find("c"), nullptr);
  EXPECT_EQ(a->find("c"), nullptr);
}

TEST(JsonValue, SaysWhereTextStopsBeingJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "NaN", "[Infinity]", "{} {}", "1e999",
                           "\"\xff\"", "[01]", "'a'"}) {
    const auto root = parse_json(text);
    EXPECT_EQ(root.status().code(), Code::kInvalidArgument) << text;
    EXPECT_NE(root.status().message().find("not JSON at byte"), std::string::npos) << text;
  }
}

TEST(JsonValue, RefusesAKeyThatStandsTwice) {
  const auto root = parse_json(R"({"x": {"b": 1, "a": 2, "b": 3}})");
  EXPECT_NE(root.status().message().find("\"b\" stands twice"), std::string::npos);
}

TEST(JsonValue, RefusesWhatIsTooDeepOrTooLong) {
  const std::string deepest(kMaxJsonDepth, '['), ends(kMaxJsonDepth, ']');
  EXPECT_TRUE(parse_json(deepest + ends).ok());
  EXPECT_EQ(parse_json("[" + deepest + ends + "]").status().code(), Code::kResourceExhausted);
  EXPECT_EQ(parse_json(std::string(100000, '[')).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(parse_json(std::string(kMaxJsonText + 1, ' ')).status().code(),
            Code::kResourceExhausted);
}

}  // namespace
}  // namespace shw
