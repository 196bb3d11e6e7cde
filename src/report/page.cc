// The page: a document inside a frame, which the library stores compressed.
#include <zlib.h>

#include <new>

#include "report/document.h"
#include "report_page.inc"

namespace shw::report {
namespace {

constexpr std::string_view kPlace = "{\"document\":0}";  // marks its place in the frame

Result<std::string> frame() {
  std::string text(kFrameBytes, '\0');
  uLongf size = kFrameBytes;
  const int result =
      uncompress(reinterpret_cast<Bytef*>(text.data()), &size, kFrame, sizeof kFrame);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK || size != kFrameBytes) return internal_error("the report's page is damaged");
  return text;
}

// Escapes JSON for a script element, so that nothing in it ends the element or begins a comment.
std::string in_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

Result<std::string> page(const Plan& plan, const Extras& extras) {
  SHW_ASSIGN_OR_RETURN(std::string text, frame());
  SHW_ASSIGN_OR_RETURN(const std::string json, document(plan, extras));
  const size_t at = text.find(kPlace);
  if (at == std::string::npos) return internal_error("the report's page has no place for its data");
  text.replace(at, kPlace.size(), in_script(json));
  return text;
}

}  // namespace shw::report
