// Parts of arrays, room for them, and loops on several threads: what generated code builds on.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

// An error that a text explains; the text has to stay.
class PartError : public std::exception {
public:
    explicit PartError(const char* text) : text(text) {}
    const char* what() const noexcept override { return text; }

private:
    const char* text;
};

// A part of an array of N dimensions: its first element, and per dimension its extent and the
// distance of neighbours, in elements.
template <typename T, int N>
struct ArrayPart {
    T* data;
    int64_t extents[N];
    int64_t strides[N];
};

// Room for a part, row by row; its elements have no value at first.
template <typename T, int N>
class Room : public ArrayPart<T, N> {
public:
    explicit Room(const int64_t (&extents)[N]) {
        int64_t count = 1;
        for (int axis = N - 1; axis >= 0; --axis) {
            this->extents[axis] = extents[axis];
            this->strides[axis] = count;
            count *= extents[axis];
            if (extents[axis] < 0) throw PartError("room has a negative extent");
        }
        memory.reset(new T[static_cast<size_t>(count)]);
        this->data = memory.get();
    }

private:
    std::unique_ptr<T[]> memory;
};

// What begins at an element of a part.
template <typename T, int N>
ArrayPart<T, N> part_of(
    const ArrayPart<T, N>& whole, const int64_t (&starts)[N], const int64_t (&extents)[N]) {
    ArrayPart<T, N> part = whole;
    for (int axis = 0; axis < N; ++axis) {
        const int64_t start = starts[axis], extent = extents[axis];
        if (start < 0 || extent < 0 || start + extent > whole.extents[axis])
            throw PartError("a part lies outside of its array");
        part.data += start * whole.strides[axis];
        part.extents[axis] = extent;
    }
    return part;
}

template <typename T>
void copy_elements(
    T* target, const T* source, const int64_t* extents, const int64_t* strides, int dimensions) {
    if (dimensions == 0) {
        *target = *source;
        return;
    }
    for (int64_t i = 0; i < *extents; ++i)
        copy_elements(target + i * *strides, source + i * *strides, extents + 1, strides + 1,
                      dimensions - 1);
}

// Moves a number of slices along an axis to the front of their room.
template <typename T, int N>
void move_to_front(const ArrayPart<T, N>& room, int axis, int64_t from, int64_t count) {
    if (from <= 0 || count <= 0) return;
    int64_t extents[N];
    std::copy(room.extents, room.extents + N, extents);
    extents[axis] = count;
    copy_elements(room.data, room.data + from * room.strides[axis], extents, room.strides, N);
}

// Runs a body for each start, on several threads; the first error is thrown.  Within such a body
// another such loop runs on the thread that it is on.
template <typename Body>
void run_parallel(int64_t start, int64_t end, int64_t step, int64_t workers, const Body& body) {
    static thread_local bool inside = false;
    const int64_t count = std::max<int64_t>(0, (end - start + step - 1) / step);
    if (inside || workers < 2 || count < 2) {
        for (int64_t at = start; at < end; at += step) body(at);
        return;
    }
    std::atomic<int64_t> next(0);
    std::atomic<bool> failed(false);
    std::exception_ptr failure;
    const auto work = [&] {
        inside = true;
        try {
            for (int64_t tile; (tile = next++) < count;) body(start + tile * step);
        } catch (...) {
            if (!failed.exchange(true)) failure = std::current_exception();
            next = count;
        }
        inside = false;
    };
    std::vector<std::thread> threads;
    try {
        for (int64_t n = 1; n < std::min(workers, count); ++n) threads.emplace_back(work);
    } catch (...) {  // no more threads: those that there are do all
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}
