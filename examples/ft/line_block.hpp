// Lines that lie across memory, some at a time: gathered into lines of a cache, transformed, and written back across.
#pragma once

#include <cstddef>

#include "line_transform.hpp"
#include "memory.hpp"

namespace ft {

class LineBlock {
  public:
    // Neighbouring columns that are taken at once: whole cache lines.
    static constexpr int most = 16;

    explicit LineBlock(int length)
        // Lines as far from each other as a power of two would share the same few sets of the cache.
        : pitch_(static_cast<size_t>(length) + 4), from_(allocate(most * pitch_)), to_(allocate(most * pitch_)) {}

    Complex* from(int column) { return from_.get() + static_cast<size_t>(column) * pitch_; }
    Complex* to(int column) { return to_.get() + static_cast<size_t>(column) * pitch_; }

    // Take elements `first` to `first + count` of the lines: element i of line c is at rows[i * stride + c].
    void gather(int first, int count, const Complex* rows, size_t stride, int columns) {
        for (int i = 0; i < count; ++i, rows += stride) {
            Complex* line = from_.get() + first + i;
            for (int c = 0; c < columns; ++c) line[static_cast<size_t>(c) * pitch_] = rows[c];
        }
    }

    // The inverse of it, for the transformed lines.
    void scatter(int first, int count, Complex* rows, size_t stride, int columns) const {
        for (int i = 0; i < count; ++i, rows += stride) {
            const Complex* line = to_.get() + first + i;
            for (int c = 0; c < columns; ++c) rows[c] = line[static_cast<size_t>(c) * pitch_];
        }
    }

    void transform(const LineTransform& transform, int columns) {
        for (int c = 0; c < columns; ++c) transform(from(c), to(c));
    }

  private:
    size_t pitch_;
    Memory from_;
    Memory to_;
};

}  // namespace ft
