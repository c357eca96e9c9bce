// Memory for complex numbers, aligned to cache lines.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "problem.hpp"

namespace ft {

struct Release {
    void operator()(Complex* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<Complex[], Release>;

// Not initialised. Throws std::bad_alloc.
inline Memory allocate(size_t count) {
    constexpr size_t line = 64;
    const size_t bytes = (count * sizeof(Complex) + line - 1) / line * line;
    void* memory = std::aligned_alloc(line, bytes == 0 ? line : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return Memory(static_cast<Complex*>(memory));
}

}  // namespace ft
