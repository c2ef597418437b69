"""Threads of generated C: blocks of a kernel dealt out among a few threads that wait for work.

Blocks are dealt in runs, which threads claim one after another; the caller is one of them.  It
waits for runs that others have begun, and for no thread that has not begun: where the processors
are busy with something else, it does all the work itself.  A thread waits in a short loop, and
then asleep.  A process that was forked has no such threads, and runs blocks one after another, as
does a second caller at the same time.  ``OMP_NUM_THREADS`` limits their number; by default it is
that of the processors.
"""

from __future__ import annotations

from collections.abc import Sequence

DEALER = "deal_blocks"
"""The function that kernels call."""
_THREADS = r"""
typedef void blocks_function(const void* const*, void* const*, int64_t, int64_t);
#if defined(ONE_THREAD) || !defined(__unix__) && !defined(__APPLE__)
static void deal_blocks(
    blocks_function* run, const void* const* inputs, void* const* outputs, int64_t blocks)
{
    run(inputs, outputs, 0, blocks);
}
#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#define WAIT_A_LITTLE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define WAIT_A_LITTLE() __asm__ volatile("yield")
#else
#define WAIT_A_LITTLE() ((void)0)
#endif
enum { MOST_THREADS = 64, RUNS_OF_THREAD = 8, LOOKS = 2000 };
#define NONE_LEFT 0xFFFFFFFFu
/* A ticket has the number of the job in its upper half, and the next run in the lower one. */
static uint64_t ticket = NONE_LEFT;
static struct {
    blocks_function* run;
    const void* const* inputs;
    void* const* outputs;
    int64_t blocks;
    uint32_t runs;
} job;
static uint32_t runs_done;
static int threads, sleepers, owner;
static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static void claim_runs(uint32_t number)
{
    for (;;) {
        uint64_t seen = __atomic_load_n(&ticket, __ATOMIC_ACQUIRE);
        uint32_t at = (uint32_t)seen;
        if ((uint32_t)(seen >> 32) != number || at == NONE_LEFT) return;
        blocks_function* run = __atomic_load_n(&job.run, __ATOMIC_RELAXED);
        const void* const* inputs = __atomic_load_n(&job.inputs, __ATOMIC_RELAXED);
        void* const* outputs = __atomic_load_n(&job.outputs, __ATOMIC_RELAXED);
        int64_t blocks = __atomic_load_n(&job.blocks, __ATOMIC_RELAXED);
        uint32_t runs = __atomic_load_n(&job.runs, __ATOMIC_RELAXED);
        if (at >= runs) return;
        /* If the job was another by now, so is the ticket, and this fails. */
        if (!__atomic_compare_exchange_n(
                &ticket, &seen, seen + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
        run(inputs, outputs, blocks * at / runs, blocks * (at + 1) / runs);
        __atomic_add_fetch(&runs_done, 1, __ATOMIC_RELEASE);
    }
}
static void* wait_for_work(void* unused)
{
    uint32_t last = 0;
    for (;;) {
        uint64_t seen = __atomic_load_n(&ticket, __ATOMIC_ACQUIRE);
        for (int look = 0; look < LOOKS && (uint32_t)(seen >> 32) == last; ++look) {
            WAIT_A_LITTLE();
            seen = __atomic_load_n(&ticket, __ATOMIC_ACQUIRE);
        }
        if ((uint32_t)(seen >> 32) == last) {
            pthread_mutex_lock(&asleep);
            __atomic_add_fetch(&sleepers, 1, __ATOMIC_SEQ_CST);
            for (;;) {
                seen = __atomic_load_n(&ticket, __ATOMIC_SEQ_CST);
                if ((uint32_t)(seen >> 32) != last) break;
                pthread_cond_wait(&work, &asleep);
            }
            __atomic_sub_fetch(&sleepers, 1, __ATOMIC_SEQ_CST);
            pthread_mutex_unlock(&asleep);
        }
        last = (uint32_t)(seen >> 32);
        claim_runs(last);
    }
    return unused;
}
static int wanted_threads(void)
{
    const char* text = getenv("OMP_NUM_THREADS");
    int wanted = text ? atoi(text) : 0;
    if (wanted < 1) wanted = (int)sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
    cpu_set_t own;
    if (!sched_getaffinity(0, sizeof own, &own) && CPU_COUNT(&own) < wanted)
        wanted = CPU_COUNT(&own);
#endif
    return wanted < 1 ? 1 : wanted > MOST_THREADS ? MOST_THREADS : wanted;
}
static void start_threads(void)
{
    sigset_t all, before;
    owner = (int)getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    threads = 1;
    for (int wanted = wanted_threads(); threads < wanted; ++threads) {
        pthread_t made;
        if (pthread_create(&made, 0, wait_for_work, 0)) break;
        pthread_detach(made);
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
}
static void deal_blocks(
    blocks_function* run, const void* const* inputs, void* const* outputs, int64_t blocks)
{
    int forked = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
    if ((forked && forked != (int)getpid()) || pthread_mutex_trylock(&one_caller)) {
        run(inputs, outputs, 0, blocks);
        return;
    }
    if (!threads) start_threads();
    if (threads < 2) {
        pthread_mutex_unlock(&one_caller);
        run(inputs, outputs, 0, blocks);
        return;
    }
    int64_t most = (int64_t)threads * RUNS_OF_THREAD;
    uint32_t runs = (uint32_t)(blocks < most ? blocks : most);
    uint32_t number = (uint32_t)(ticket >> 32) + 1;
    number += !number;
    __atomic_store_n(&ticket, ticket | NONE_LEFT, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&job.run, run, __ATOMIC_RELAXED);
    __atomic_store_n(&job.inputs, inputs, __ATOMIC_RELAXED);
    __atomic_store_n(&job.outputs, outputs, __ATOMIC_RELAXED);
    __atomic_store_n(&job.blocks, blocks, __ATOMIC_RELAXED);
    __atomic_store_n(&job.runs, runs, __ATOMIC_RELAXED);
    __atomic_store_n(&runs_done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&ticket, (uint64_t)number << 32, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST)) {
        pthread_mutex_lock(&asleep);
        pthread_cond_broadcast(&work);
        pthread_mutex_unlock(&asleep);
    }
    claim_runs(number);
    for (int look = 0; __atomic_load_n(&runs_done, __ATOMIC_ACQUIRE) < runs; ++look) {
        if (look < LOOKS) WAIT_A_LITTLE(); else sched_yield();
    }
    pthread_mutex_unlock(&one_caller);
}
#endif
"""


def with_threads(functions: Sequence[str]) -> list[str]:
    """Put what deals out blocks before functions, if one of them calls it.

    Examples
    --------
    >>> len(with_threads(["void f(void) {}"]))
    1
    """
    if any(DEALER in one for one in functions):
        return [_THREADS, *functions]
    return list(functions)
