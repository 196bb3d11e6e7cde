#include <cstring>

#include "runtime/cpu/codegen/row_loop.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>

namespace shw::runtime::cpu {

std::unique_ptr<const CompiledRow> CompiledRow::of(std::span<const uint8_t> code) {
  void* memory =
      ::mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<const CompiledRow> row(new CompiledRow(memory, code.size()));
  std::memcpy(memory, code.data(), code.size());
  if (::mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) return nullptr;
  return row;
}

CompiledRow::~CompiledRow() { ::munmap(code_, bytes_); }

// Orders streaming stores before any signal to other threads that the work is done.
void CompiledRow::finish() { __builtin_ia32_sfence(); }

}  // namespace shw::runtime::cpu

#else

namespace shw::runtime::cpu {

std::unique_ptr<const CompiledRow> CompiledRow::of(std::span<const uint8_t> /*code*/) {
  return nullptr;
}
CompiledRow::~CompiledRow() = default;
void CompiledRow::finish() {}

}  // namespace shw::runtime::cpu

#endif
