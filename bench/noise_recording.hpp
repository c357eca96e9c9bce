// The detours of a recording, for noise_floor.cpp and schedule_loop.cpp. Each rank begins at a phase of its own.

#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "floors.hpp"
#include "machine/noise_trace.hpp"

namespace floors {

/// The next detour of a rank.
struct NextDetour {
    std::int64_t start = 0;
    std::uint32_t number = 0;
};

/// A recording, or no noise at all.
class NoiseRecording {
  public:
    NoiseRecording() = default;

    /// Detours have a length and do not touch: NoiseTrace, whose numbers are used here, leaves out or joins the others.
    NoiseRecording(std::vector<idlewave::machine::Detour> detours, std::int64_t period)
        : detours_(std::move(detours)), trace_(detours_, period, idlewave::machine::Phase::random) {}

    /// When a rank's CPU is free first, and its next detour then.
    [[nodiscard]] std::int64_t begin(std::uint32_t rank, NextDetour& next) const {
        if (detours_.empty()) {
            next = {.start = std::numeric_limits<std::int64_t>::max()};
            return 0;
        }
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
            if (next.start > at) {  // it begins during the work
                end += length;
            } else if (detour_end > at) {  // it has begun before
                end += detour_end - at;
                at = detour_end;
            }
            go_on(next);
        }
        return end;
    }

    /// Goes on to the detour after it.
    void go_on(NextDetour& next) const {
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

/// Reads a recording with a period of some seconds from a table start_ns,length_ns of whole numbers. Throws if the file
/// has no row, or one that cannot be read, is empty, or touches the detour before.
inline NoiseRecording read_recording(const std::string& file, long period) {
    std::vector<idlewave::machine::Detour> detours;
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    std::int64_t end = -1;
    while (std::getline(in, line)) {
        long long start = 0;
        long long length = 0;
        int read = 0;
        if (std::sscanf(line.c_str(), "%lld,%lld%n", &start, &length, &read) != 2 || line.size() != std::size_t(read) ||
            length < 1 || start <= end) {
            throw std::runtime_error(file + ": expected separate detours start_ns,length_ns, found " + line);
        }
        end = start + length;
        detours.push_back({start * ps_per_ns, length * ps_per_ns});
    }
    if (detours.empty()) {
        throw std::runtime_error(file + ": no detours start_ns,length_ns can be read");
    }
    return {std::move(detours), period * ps_per_second};
}

}  // namespace floors
