// Latency and bandwidth of each level of memory, in place of counters: a chase of dependent loads and a read in order
// over a working set that fits the level. A sample takes a few milliseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "common/page.hpp"
#include "common/ticks.hpp"
#include "contention/caches.hpp"
#include "contention/lines.hpp"

namespace idlewave::probe::contention {

constexpr std::size_t levels = 4;  // first, second, third level cache, and DRAM

struct LevelSample {
    double latency_s = std::numeric_limits<double>::quiet_NaN();
    double bandwidth = std::numeric_limits<double>::quiet_NaN();  // B/s
};
using MemorySample = std::array<LevelSample, levels>;

// Memory of large pages where the system grants them, so that fewer loads miss the TLB.
inline PageMemory new_large_pages(std::size_t bytes) {
    constexpr std::size_t large = 2 << 20;
    const std::size_t whole = (bytes + large - 1) / large * large;
    PageMemory memory(static_cast<char*>(std::aligned_alloc(large, whole)));
    if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(memory.get(), whole, MADV_HUGEPAGE);
#endif
    std::memset(memory.get(), 1, bytes);
    return memory;
}

// A working set. Its lines are a cycle in random order: the first word of each has the address of the next line.
class WorkingSet {
  public:
    WorkingSet(std::size_t bytes, std::size_t loads, std::size_t read_bytes, bool warmed)
        : bytes_(bytes),
          loads_(loads),
          window_(std::min(bytes, read_bytes)),
          read_bytes_(read_bytes),
          warmed_(warmed),
          memory_(new_large_pages(bytes)) {
        std::vector<std::uint32_t> order(bytes / line_bytes);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
        std::minstd_rand random(1);  // NOLINT(bugprone-random-generator-seed): the same order in every run
        for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
        for (std::size_t i = 0; i < order.size(); ++i) {
            line(order[i]) = static_cast<void*>(&line(order[i + 1 == order.size() ? 0 : i + 1]));
        }
        at_ = &line(0);
    }

    LevelSample sample() {
        if (warmed_) read(0, bytes_);
        LevelSample result;
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        for (std::size_t i = 0; i < loads_; ++i) at_ = static_cast<void**>(*at_);
        asm volatile("" ::"r"(at_) : "memory");  // the loads are made
        const std::int64_t chased = nanoseconds(CLOCK_MONOTONIC);
        for (std::size_t done = 0; done < read_bytes_; done += window_) read(from_, window_);
        const std::int64_t end = nanoseconds(CLOCK_MONOTONIC);
        from_ = from_ + 2 * window_ > bytes_ ? 0 : from_ + window_;
        result.latency_s = static_cast<double>(chased - begin) * 1e-9 / static_cast<double>(loads_);
        const std::size_t read_in_all = (read_bytes_ + window_ - 1) / window_ * window_;
        result.bandwidth =
            static_cast<double>(read_in_all) * 1e9 / static_cast<double>(std::max<std::int64_t>(end - chased, 1));
        return result;
    }

  private:
    void*& line(std::size_t number) { return *reinterpret_cast<void**>(memory_.get() + number * line_bytes); }

    void read(std::size_t from, std::size_t bytes) const {
        const auto* const words = reinterpret_cast<const std::uint64_t*>(memory_.get() + from);
        constexpr std::size_t in_line = line_bytes / sizeof(std::uint64_t);
        std::array<std::uint64_t, in_line> sums{};
        for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); i += in_line) {
            for (std::size_t j = 0; j < in_line; ++j) sums[j] += words[i + j];
        }
        std::uint64_t sum = 0;
        for (const std::uint64_t each : sums) sum += each;
        asm volatile("" ::"r"(sum) : "memory");
    }

    std::size_t bytes_;
    std::size_t loads_;
    std::size_t window_;
    std::size_t read_bytes_;
    bool warmed_;
    PageMemory memory_;
    void** at_ = nullptr;
    std::size_t from_ = 0;
};

// The working set of DRAM is not warmed: it is far larger than the caches, and what it finds there is what is left.
class MemoryProbes {
  public:
    explicit MemoryProbes(const CacheSizes& caches) {
        sets_[0] = std::make_unique<WorkingSet>(caches.l1 / 2, 4096, 64 * (caches.l1 / 2), true);
        sets_[1] = std::make_unique<WorkingSet>(caches.l2 / 2, 8192, 2 * (caches.l2 / 2), true);
        if (caches.l3 > caches.l2) sets_[2] = std::make_unique<WorkingSet>(caches.l3 / 2, 4096, caches.l3 / 4, true);
        const std::size_t beyond = std::min<std::size_t>(2 * caches.largest(), std::size_t{512} << 20);
        sets_[3] = std::make_unique<WorkingSet>(beyond, 2048, std::min<std::size_t>(beyond, 8 << 20), false);
    }

    MemorySample sample() {
        MemorySample result;
        for (std::size_t level = 0; level < levels; ++level) {
            if (sets_[level]) result[level] = sets_[level]->sample();
        }
        return result;
    }

  private:
    std::array<std::unique_ptr<WorkingSet>, levels> sets_;
};

}  // namespace idlewave::probe::contention
