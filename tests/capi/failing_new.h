/* Replaces the C++ heap of the test program, which the library uses, too, so that tests can make
 * allocations fail. */
#ifndef SHARDWISE_TESTS_CAPI_FAILING_NEW_H_
#define SHARDWISE_TESTS_CAPI_FAILING_NEW_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Lets the n-th allocation of this thread from now on fail, and all later ones, until fail_none().
 */
void fail_from(long n);
void fail_none(void);
/* 1: every allocation of all other threads fails from now on. 0: their allocations work again. */
void fail_elsewhere(int on);
/* The number of allocations of other threads that have failed since then. */
long failed_elsewhere(void);
/* Whether an allocation of this thread has failed since fail_from(). */
int has_failed(void);
/* The number of allocations of all threads that have not been freed. */
long live_pieces(void);

#ifdef __cplusplus
}
#endif
#endif
