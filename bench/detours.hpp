// Detours of a recording, as the floors with noise execute them: each rank at a phase of its own.

#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "machine/noise_trace.hpp"

namespace floors {

/// The next detour of a rank.
struct NextDetour {
    std::int64_t start = 0;
    std::uint32_t number = 0;
};

/// A recording.
class Detours {
  public:
    Detours(std::vector<idlewave::machine::Detour> detours, std::int64_t period)
        : detours_(std::move(detours)), trace_(detours_, period, idlewave::machine::Phase::random) {}

    /// When a rank's CPU is free first, and its next detour then.
    [[nodiscard]] std::int64_t begin(std::uint32_t rank, NextDetour& next) const {
        const auto begun = trace_.run(trace_.phase(0, rank), 0, 0);
        next = {begun.quiet_until, begun.next};
        return begun.end;
    }

    /// When work begun at `at` is done, by a rank with that next detour.
    [[nodiscard]] std::int64_t finish(NextDetour& next, std::int64_t at, std::int64_t work) const {
        if (at + work <= next.start) [[likely]] {
            return at + work;
        }
        return finish_in_detours(next, at, work);
    }

  private:
    [[gnu::noinline]] std::int64_t finish_in_detours(NextDetour& next, std::int64_t at, std::int64_t work) const {
        std::int64_t end = at + work;
        while (next.start < end) {
            const std::int64_t length = detours_[next.number].length;
            const std::int64_t detour_end = next.start + length;
            if (next.start > at) {
                end += length;
            } else if (detour_end > at) {
                end += detour_end - at;
                at = detour_end;
            }
            pass(next);
        }
        return end;
    }

    void pass(NextDetour& next) const {
        std::int64_t shift = next.start - detours_[next.number].start;  // from the recording's time to the rank's
        if (++next.number == detours_.size()) {
            next.number = 0;
            shift += trace_.period();
        }
        next.start = detours_[next.number].start + shift;
    }

    std::vector<idlewave::machine::Detour> detours_;
    idlewave::machine::NoiseTrace trace_;
};

/// The detours of a table start_ns,length_ns; empty if there is no such file.
inline std::vector<idlewave::machine::Detour> read_detours(const char* file) {
    constexpr std::int64_t ps_per_ns = 1'000;
    std::vector<idlewave::machine::Detour> detours;
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    long long start = 0;
    long long length = 0;
    while (std::getline(in, line) && std::sscanf(line.c_str(), "%lld,%lld", &start, &length) == 2) {
        detours.push_back({start * ps_per_ns, length * ps_per_ns});
    }
    return detours;
}

constexpr std::int64_t ps_per_second = 1'000'000'000'000;

}  // namespace floors
