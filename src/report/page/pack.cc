// Run by the build: puts the style sheets and scripts that index.html names into it, and writes it
// compressed as a C array.
//
// usage: pack FOLDER OUTPUT
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Without indentation, empty lines and lines that are comments, which nobody reads in the library.
std::string bare(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line.compare(first, 2, "//") == 0 ||
        (line.compare(first, 2, "/*") == 0 && line.ends_with("*/")))
      continue;
    kept += line.substr(first) + "\n";
  }
  return kept;
}

// Replaces each `<before>NAME<after>` by the file of that name between `open` and `close`.
std::string inlined(std::string page, const std::string& folder, const std::string& before,
                    const std::string& after, const std::string& open, const std::string& close) {
  for (size_t at = 0; (at = page.find(before, at)) != std::string::npos;) {
    const size_t name = at + before.size(), end = page.find(after, name);
    if (end == std::string::npos) throw std::runtime_error("index.html: " + before + " has no end");
    const std::string text =
        open + bare(read(folder + "/" + page.substr(name, end - name))) + close;
    page.replace(at, end + after.size() - at, text);
    at += text.size();
  }
  return page;
}

std::vector<Bytef> compressed(const std::string& text) {
  std::vector<Bytef> bytes(compressBound(static_cast<uLong>(text.size())));
  uLongf size = static_cast<uLongf>(bytes.size());
  if (compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(text.data()),
                static_cast<uLong>(text.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::runtime_error("zlib failed");
  bytes.resize(size);
  return bytes;
}

void pack(const std::string& folder, const std::string& output) {
  std::string page = read(folder + "/index.html");
  page = inlined(page, folder, "<link rel=\"stylesheet\" href=\"", "\">", "<style>\n", "</style>");
  page = inlined(page, folder, "<script src=\"", "\"></script>", "<script>\n", "</script>");
  std::ofstream file(output);
  file << "inline constexpr unsigned long kFrameBytes = " << page.size() << ";\n"
       << "inline constexpr unsigned char kFrame[] = {";
  for (const Bytef byte : compressed(page)) file << static_cast<unsigned>(byte) << ",";
  file << "};\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + output);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: pack FOLDER OUTPUT\n");
    return 2;
  }
  try {
    pack(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
  return 0;
}
