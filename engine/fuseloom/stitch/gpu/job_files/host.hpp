// Memory of the card, and times of kernels; on the processor its own memory, and a clock.
#pragma once

#ifdef __CUDACC__

extern "C" const char *error_text(int error) { return cudaGetErrorString((cudaError_t)error); }
extern "C" int reserve(void **made, size_t bytes) { return (int)cudaMalloc(made, bytes); }
extern "C" int release(void *given) { return (int)cudaFree(given); }
extern "C" int to_card(void *to, const void *from, size_t bytes)
{
    return (int)cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
extern "C" int from_card(void *to, const void *from, size_t bytes)
{
    return (int)cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
extern "C" int describe(char *name, int size, int *capability)
{
    cudaDeviceProp found;
    const cudaError_t error = cudaGetDeviceProperties(&found, 0);
    if (error != cudaSuccess) return (int)error;
    strncpy(name, found.name, (size_t)size - 1);
    *capability = 10 * found.major + found.minor;
    return 0;
}
// Microseconds of some launches, one after another.
extern "C" int time_launches(
    int (*launch)(void *const *, void *const *), void *const *inputs, void *const *outputs,
    int times, double *microseconds)
{
    cudaEvent_t first, last;
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    int error = (int)cudaEventRecord(first);
    for (int run = 0; run < times && !error; ++run) error = launch(inputs, outputs);
    cudaEventRecord(last);
    if (!error) error = (int)cudaEventSynchronize(last);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, first, last);
    cudaEventDestroy(first);
    cudaEventDestroy(last);
    *microseconds = 1000.0 * milliseconds;
    return error;
}

#else

#include <time.h>

extern "C" const char *error_text(int error)
{
    return error == 1000 ? "not all threads of a block reach a barrier" : "out of memory";
}
extern "C" int reserve(void **made, size_t bytes) { return (*made = malloc(bytes)) ? 0 : 2; }
extern "C" int release(void *given) { free(given); return 0; }
extern "C" int to_card(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}
extern "C" int from_card(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}
extern "C" int describe(char *name, int size, int *capability)
{
    strncpy(name, "processor", (size_t)size - 1);
    *capability = 0;
    return 0;
}
static inline double now()
{
    struct timespec found;
    clock_gettime(CLOCK_MONOTONIC, &found);
    return 1e6 * (double)found.tv_sec + 1e-3 * (double)found.tv_nsec;
}
extern "C" int time_launches(
    int (*launch)(void *const *, void *const *), void *const *inputs, void *const *outputs,
    int times, double *microseconds)
{
    const double first = now();
    for (int run = 0; run < times; ++run)
        if (int error = launch(inputs, outputs)) return error;
    *microseconds = now() - first;
    return 0;
}

#endif
