/* What tests may tell the fakes, in the library of the fakes. */
#pragma once

#define SHW_FAKE_API extern "C" __attribute__((visibility("default")))

/* From now on `function` ("cuMemAlloc_v2") returns `code`, after so many calls that work. 0: it
 * works again. Of the functions that say versions, "cuDriverGetVersion", "nvrtcVersion" and so on,
 * `code` is the version. */
SHW_FAKE_API void shw_fake_inject(const char* function, int code, int after);
/* How often `function` was called, of those that can be told to fail. */
SHW_FAKE_API int shw_fake_calls(const char* function);
/* Allocations that were not given back before their device was closed, of all devices. */
SHW_FAKE_API int shw_fake_leaks();
/* Streams, events, modules, graphs and communicators that were not destroyed, contexts that were
 * not given back, cuBLASLt's and NVRTC's handles: of all devices. */
SHW_FAKE_API int shw_fake_alive();
