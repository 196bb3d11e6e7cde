// kSanitized: whether the tests run under a sanitizer. The address and thread sanitizers make code
// several times slower, so long tests check only samples there.
#pragma once

namespace shw::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace shw::testing
