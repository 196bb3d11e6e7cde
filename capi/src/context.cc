// shw_context, and the version of the library.
#include "context.h"

#include "import/text_limit.h"
#include "runtime/cpu/process_workers.h"
#include "runtime/world/registry.h"

#define SHW_TEXT_(x) #x
#define SHW_TEXT(x) SHW_TEXT_(x)

namespace shw::capi {

Context::Context(const shw_context_options& options)
    : options_(options),
      cuda_{.kernel_cache = options.kernel_cache == nullptr ? "" : options.kernel_cache,
            .deterministic = (options.flags & SHW_CONTEXT_DETERMINISTIC) != 0},
      workers_(std::make_shared<runtime::cpu::ProcessWorkers>()),
      worlds_(std::make_shared<runtime::WorldRegistry>()) {
  options_.kernel_cache = nullptr;  // the caller's text is only valid during the call
}

void* Context::allocate(size_t size, size_t alignment) const {
  if (size == 0) size = 1;
  if (options_.alloc == nullptr) return ::operator new(size, std::align_val_t(alignment));
  void* memory = options_.alloc(options_.alloc_user, size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Context::free(void* memory, size_t size, size_t alignment) const {
  if (size == 0) size = 1;
  if (options_.alloc == nullptr)
    ::operator delete(memory, std::align_val_t(alignment));
  else
    options_.free(options_.alloc_user, memory, size, alignment);
}

void Context::log(shw_log_level level, const std::string& message, SourceLoc loc) const {
  if (!wants_log(level)) return;
  const std::scoped_lock lock(log_mutex_);
  options_.log(options_.log_user, level, message.c_str(), short_path(loc.file), loc.line);
}

namespace {

constexpr size_t kContextOptionsSize_0_2 = SHW_SIZE_TO(shw_context_options, kernel_cache);

Result<shw_context_options> read_options(const shw_context_options* in) {
  SHW_ASSIGN_OR_RETURN(shw_context_options options, copy_in(in, kContextOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(options.flags, SHW_CONTEXT_DETERMINISTIC));
  SHW_RETURN_IF_ERROR(check_reserved(options.reserved));
  if ((options.alloc == nullptr) != (options.free == nullptr))
    return invalid_argument("alloc and free must be given together");
  if (options.log_level < 0 || options.log_level > SHW_LOG_ERROR)
    return invalid_argument("log_level " + std::to_string(options.log_level) + " is unknown");
  if (options.log_level == 0) options.log_level = SHW_LOG_INFO;
  if (options.max_text_bytes == 0) options.max_text_bytes = import::kDefaultMaxTextBytes;
  return options;
}

std::string version_text(uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

Status check_version(uint32_t version) {
  if (version >> 16 == SHW_VERSION_MAJOR && version <= SHW_API_VERSION && version != 0) return {};
  return failed_precondition("the caller was built with version " + version_text(version) +
                             " of shardwise.h, the library has version " +
                             version_text(SHW_API_VERSION));
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

uint32_t shw_api_version(void) { return SHW_API_VERSION; }

const char* shw_version_string(void) {
  return SHW_TEXT(SHW_VERSION_MAJOR) "." SHW_TEXT(SHW_VERSION_MINOR) "." SHW_TEXT(
      SHW_VERSION_PATCH);
}

void shw_context_options_init(shw_context_options* options, size_t size) {
  init_struct(options, size);
}

shw_status* shw_context_create(uint32_t api_version, const shw_context_options* options,
                               shw_context** out_context) {
  return make_handle(out_context, "out_context", [&]() -> Result<std::unique_ptr<shw_context>> {
    SHW_RETURN_IF_ERROR(check_version(api_version));
    SHW_ASSIGN_OR_RETURN(const shw_context_options ours, read_options(options));
    return std::make_unique<shw_context>(shw_context{std::make_shared<const Context>(ours)});
  });
}

void shw_context_destroy(shw_context* context) { delete context; }
