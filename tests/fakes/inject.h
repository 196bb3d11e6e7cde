/* How tests control and inspect the fakes. The library of the fakes exports these functions. */
#pragma once

#define SHW_FAKE_API extern "C" __attribute__((visibility("default")))

/* After `after` more calls that work, `function` ("cuMemAlloc_v2") returns `code`. Code 0 ends the
 * injection. For functions that report versions ("cuDriverGetVersion", "nvrtcVersion" and so on),
 * `code` is the version that they report. */
SHW_FAKE_API void shw_fake_inject(const char* function, int code, int after);
/* How often `function` was called. Only functions that can be made to fail are counted. */
SHW_FAKE_API int shw_fake_calls(const char* function);
/* The number of allocations, over all devices, that were not released before their device was
 * closed. */
SHW_FAKE_API int shw_fake_leaks();
/* The number of objects, over all devices, that were not destroyed or released: streams, events,
 * modules, graphs, communicators, contexts, and the handles of cuBLASLt and NVRTC. */
SHW_FAKE_API int shw_fake_alive();
