// Stores of whole cache lines, through the caches or past them, one line after the other or in random order.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace idlewave::probe::contention {

enum class Pattern { sequential, random };
enum class Stores { cached, nontemporal };

constexpr std::size_t line_bytes = 64;

// Whether this processor has stores that bypass the caches, as far as this program knows.
constexpr bool has_nontemporal_stores() {
#if defined(__SSE2__) || defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

namespace detail {

inline void store_line(char* line, std::uint64_t value) {
    auto* const words = reinterpret_cast<volatile std::uint64_t*>(line);
    for (std::size_t i = 0; i < line_bytes / sizeof value; ++i) words[i] = value + i;
}

inline void store_line_past_caches(char* line, std::uint64_t value) {
#if defined(__SSE2__)
    const __m128i quarter = _mm_set1_epi64x(static_cast<long long>(value));
    auto* const quarters = reinterpret_cast<__m128i*>(line);
    for (std::size_t i = 0; i < line_bytes / sizeof quarter; ++i) _mm_stream_si128(quarters + i, quarter);
#elif defined(__aarch64__)
    for (std::size_t i = 0; i < line_bytes; i += 16)
        asm volatile("stnp %0, %0, [%1]" ::"r"(value), "r"(line + i) : "memory");
#else
    store_line(line, value);
#endif
}

}  // namespace detail

// Where the next line of a buffer is written.
class LineOrder {
  public:
    LineOrder(Pattern pattern, std::size_t buffer_bytes, std::uint64_t seed)
        : random_(pattern == Pattern::random), lines_(buffer_bytes / line_bytes), state_(seed * 2 + 1) {}

    // Its place, in bytes from the buffer's begin.
    std::size_t next() {
        if (random_) {
            state_ ^= state_ << 13;
            state_ ^= state_ >> 7;
            state_ ^= state_ << 17;
            return (state_ >> 11) % lines_ * line_bytes;
        }
        const std::size_t line = line_;
        line_ = line + 1 == lines_ ? 0 : line + 1;
        return line * line_bytes;
    }

  private:
    bool random_;
    std::size_t lines_;
    std::uint64_t state_;
    std::size_t line_ = 0;
};

// Writes so many bytes of whole lines.
inline void write_lines(char* buffer, std::size_t bytes, LineOrder& order, Stores stores, std::uint64_t value) {
    if (stores == Stores::cached) {
        for (std::size_t i = 0; i < bytes; i += line_bytes) detail::store_line(buffer + order.next(), value);
        return;
    }
    for (std::size_t i = 0; i < bytes; i += line_bytes) detail::store_line_past_caches(buffer + order.next(), value);
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace idlewave::probe::contention
