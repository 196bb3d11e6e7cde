/* The C++ heap of the test program, which the library uses too, with a fault that can be planted.
 */
#ifndef SHARDWISE_TESTS_CAPI_FAILING_NEW_H_
#define SHARDWISE_TESTS_CAPI_FAILING_NEW_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The n-th allocation of this thread from now on fails, and all after it until fail_none(). */
void fail_from(long n);
void fail_none(void);
/* From now on every allocation of every other thread fails (1), or works again (0). */
void fail_elsewhere(int on);
/* Allocations of other threads that have failed since. */
long failed_elsewhere(void);
/* Whether an allocation has failed since fail_from(). */
int has_failed(void);
/* Pieces that all threads have allocated and not freed. */
long live_pieces(void);

#ifdef __cplusplus
}
#endif
#endif
