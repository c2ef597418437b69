// CUDA kernels on the processor, to test them where there is no GPU.
//
// Blocks run one after another.  The threads of a block are contexts that give way to each other at
// barriers and shuffles, in one of several orders, and shared memory begins as a pattern of ones
// (NaN, in floating point): a barrier that is missing shows as a wrong result in some order, and one
// that not all threads reach as an error.
#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <vector>

#define __global__ static
#define __device__
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("shared_memory")))
#define threadIdx (cuda_on_cpu::thread_index())
#define blockIdx (cuda_on_cpu::block_index())
#define __syncthreads() cuda_on_cpu::wait(cuda_on_cpu::AT_BARRIER)
#define __shfl_xor_sync(mask, value, other) cuda_on_cpu::exchanged(value, other)
#define LAUNCH(kernel, blocks, threads, ...) \
    return cuda_on_cpu::run((blocks), (threads), [&] { kernel(__VA_ARGS__); })

// At least one variable lies in the section, so that its ends are known.
static __attribute__((section("shared_memory"), used)) unsigned char shared_memory_is_there = 1;
extern unsigned char __start_shared_memory[], __stop_shared_memory[];

namespace cuda_on_cpu {

enum State { READY, AT_BARRIER, AT_SHUFFLE, DONE };
enum { WARP = 32, STACK = 64 * 1024, DIVERGENT = 1000 };
struct Index { unsigned x; };
struct Thread { ucontext_t first; jmp_buf place; bool begun; State state; };

static std::vector<Thread> threads;
static std::vector<unsigned char> stacks;
static std::function<void()> work;
static ucontext_t before;
static jmp_buf scheduler; // jumps, unlike changes of context, need no call of the system
static unsigned current, block;
static int order = 0; // 0: threads in order; 1: the last first; others: a permutation
static unsigned char exchange[1024][8];

static inline Index thread_index() { return {current}; }
static inline Index block_index() { return {block}; }

static inline void wait(State state)
{
    threads[current].state = state;
    if (!_setjmp(threads[current].place)) _longjmp(scheduler, 1);
}

template <typename T> static inline T exchanged(T value, int other)
{
    T found;
    const unsigned own = current;
    memcpy(exchange[own], &value, sizeof value);
    wait(AT_SHUFFLE);
    memcpy(&found, exchange[own ^ (unsigned)other], sizeof found);
    wait(AT_SHUFFLE);
    return found;
}

static inline void begin()
{
    work();
    threads[current].state = DONE;
    _longjmp(scheduler, 1);
}

// Runs a thread to where it waits, or to its end.
static inline void go_on(Thread &one)
{
    if (_setjmp(scheduler)) return;
    if (one.begun) _longjmp(one.place, 1);
    one.begun = true;
    swapcontext(&before, &one.first);
}

static inline unsigned turn(unsigned place, unsigned count)
{
    if (order == 0) return place;
    if (order == 1) return count - 1 - place;
    unsigned step = (2 * (unsigned)order + 1) % count;
    for (unsigned a = step, b = count; ; ) { // a step without a common divisor
        while (b) { unsigned rest = a % b; a = b; b = rest; }
        if (a == 1) break;
        a = ++step; b = count;
    }
    return (unsigned)(((uint64_t)place * step + (unsigned)order) % count);
}

// Lets all threads that are ready run to where they wait; false if there are none.
static inline bool advance()
{
    bool ran = false;
    const unsigned count = (unsigned)threads.size();
    for (unsigned place = 0; place < count; ++place) {
        current = turn(place, count);
        if (threads[current].state == READY) {
            go_on(threads[current]);
            ran = true;
        }
    }
    return ran;
}

static inline bool all(unsigned first, unsigned count, State state)
{
    for (unsigned at = first; at < first + count; ++at)
        if (threads[at].state != state) return false;
    return true;
}

// Lets threads go on whose warp, or block, is where they are.
static inline void release()
{
    const unsigned count = (unsigned)threads.size();
    for (unsigned first = 0; first < count; first += WARP)
        if (all(first, WARP, AT_SHUFFLE))
            for (unsigned at = first; at < first + WARP; ++at) threads[at].state = READY;
    if (all(0, count, AT_BARRIER))
        for (unsigned at = 0; at < count; ++at) threads[at].state = READY;
}

static inline int run(int64_t blocks, unsigned count, std::function<void()> kernel)
{
    work = kernel;
    threads.resize(count);
    stacks.resize((size_t)count * STACK);
    for (int64_t number = 0; number < blocks; ++number) {
        block = (unsigned)number;
        memset(__start_shared_memory, 0xff, (size_t)(__stop_shared_memory - __start_shared_memory));
        for (unsigned at = 0; at < count; ++at) {
            Thread &one = threads[at];
            getcontext(&one.first);
            one.first.uc_stack.ss_sp = &stacks[(size_t)at * STACK];
            one.first.uc_stack.ss_size = STACK;
            one.first.uc_link = nullptr;
            makecontext(&one.first, begin, 0);
            one.begun = false;
            one.state = READY;
        }
        while (advance()) release();
        if (!all(0, count, DONE)) return DIVERGENT;
    }
    return 0;
}

} // namespace cuda_on_cpu

extern "C" void run_in_order(int chosen) { cuda_on_cpu::order = chosen; }
