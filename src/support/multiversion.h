// Inner loops that are compiled for several instruction sets and dispatched at load time. All
// versions must give equal results. Additions, comparisons and selections do; a fused multiply-add
// would not, so these folders are built with -ffp-contract=off.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Sanitizers instrument the resolver, which runs before they are initialised.
#define SHW_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
// For 16-bit numbers, which AVX-512 computes only with this extension.
#define SHW_MULTIVERSION_16 __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define SHW_MULTIVERSION
#define SHW_MULTIVERSION_16
#endif
