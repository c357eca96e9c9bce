// A noise probe's run from its command line to its files: what detour, FTQ and FWQ have in common.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/team.hpp"
#include "common/ticks.hpp"
#include "noise/buffers.hpp"
#include "noise/events.hpp"
#include "noise/options.hpp"
#include "noise/probe.hpp"
#include "noise/reservation.hpp"
#include "noise/surroundings.hpp"

namespace idlewave::probe {

template <NoiseProbe Probe>
class Session {
  public:
    Session(Probe& probe, NoiseOptions options) : probe_(probe), options_(std::move(options)) {}

    void run() {
        const CoreReservation reservation(place_, options_.cpus);
        folder_ = options_.output;
        if (place_.size > 1) folder_ /= place_.host() + "-" + std::to_string(place_.rank);
        stop_on_signals();
        make_folder(folder_);
        settle();
        EventTrace events(options_.trace_events, options_.mount_tracefs, options_.seconds, options_.cpus);
        first_ = instant();
        first_unix_ = instant(CLOCK_REALTIME);
        last_ = first_;
        print_progress(0);
        const std::vector<std::vector<int>> groups = groups_of_cores();
        for (std::size_t i = 0; i < groups.size() && !stop_asked(); ++i) record(groups[i], i, groups.size(), events);
        if (cores_.empty()) throw failed("interrupted before the measurement began");
        write_summary();
    }

  private:
    using CoreRecording = typename Probe::CoreRecording;

    // A core whose recording has been written.
    struct RecordedCore {
        int cpu = -1;
        Ticks begin = 0;
        json::Object description;
    };

    struct Around {
        Surroundings before;
        Surroundings after;
    };

    void settle() {
        pin(options_.cpus.front());
        bounds_.tick_ns = measure_tick_length(20'000'000);
        bounds_.length = static_cast<Ticks>(options_.seconds * 1e9 / bounds_.tick_ns);
        probe_.settle(bounds_.tick_ns);
        bounds_.likely = probe_.rows_in(options_.seconds);
        const std::size_t at_once = options_.one_by_one ? 1 : options_.cpus.size();
        bounds_.records = options_.records = rows_for(options_.records, bounds_.likely, probe_.row_bytes(), at_once);
        pin(allowed_);
    }

    std::vector<std::vector<int>> groups_of_cores() const {
        if (!options_.one_by_one) return {options_.cpus};
        std::vector<int> order = options_.cpus;
        if (options_.seed) {
            std::mt19937_64 random(*options_.seed);
            for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
        }
        std::vector<std::vector<int>> groups;
        groups.reserve(order.size());
        for (const int cpu : order) groups.push_back({cpu});
        return groups;
    }

    void record(const std::vector<int>& cpus, std::size_t group, std::size_t groups, EventTrace& events) {
        std::vector<TeamMember<CoreRecording>> team(cpus.size());
        for (std::size_t i = 0; i < cpus.size(); ++i) team[i].cpu = cpus[i];
        // The waiting thread must not be on a recorded core, if there is another.
        std::vector<int> spare;
        std::set_difference(allowed_.begin(), allowed_.end(), cpus.begin(), cpus.end(), std::back_inserter(spare));
        pin(spare.empty() ? allowed_ : spare);
        Teamwork<CoreRecording> work;
        work.margin = static_cast<Ticks>(1e6 / bounds_.tick_ns);
        work.priority = options_.priority;
        work.prepare = [&](int /*cpu*/) { return probe_.prepare(bounds_); };
        work.record = [&](CoreRecording& recording, Ticks start) { probe_.record(recording, start, bounds_); };
        Around around;
        work.when_ready = [&] {
            std::vector<TracedCore> cores;
            cores.reserve(team.size());
            for (const TeamMember<CoreRecording>& member : team) cores.push_back({member.cpu, member.thread});
            events.start(cores);
            around.before = read_surroundings(cpus);
        };
        const double done = static_cast<double>(group) / static_cast<double>(groups);
        work.meanwhile = [&](const std::atomic<std::size_t>& ended) {
            if (!spare.empty()) show_progress(done, 1.0 / static_cast<double>(groups), cpus.size(), ended);
        };
        if (!work_together(team, work)) return;
        around.after = read_surroundings(cpus);
        events.stop();
        last_ = instant();
        for (TeamMember<CoreRecording>& member : team) {
            const bool any = member.recording->end > member.recording->begin;  // a signal may have come before
            if (any) cores_.push_back({member.cpu, member.recording->begin, write_core(member, around, events)});
            member.recording.reset();
        }
    }

    // Shows no progress if there is no spare core: the thread that wakes up to show it would be noise.
    void show_progress(double done, double share, std::size_t threads, const std::atomic<std::size_t>& ended) const {
        const auto begin = std::chrono::steady_clock::now();
        auto next = begin + std::chrono::milliseconds(500);
        while (ended.load() < threads) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (std::chrono::steady_clock::now() < next) continue;
            next += std::chrono::milliseconds(500);
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
            print_progress(done + share * std::min(1.0, passed.count() / options_.seconds));
        }
    }

    void write_summary() {
        const double tick_ns = tick_length(first_, last_);
        std::sort(cores_.begin(), cores_.end(),
                  [](const RecordedCore& one, const RecordedCore& other) { return one.cpu < other.cpu; });
        // The common axis of all cores begins with the first recording.
        Ticks origin = cores_.front().begin;
        for (const RecordedCore& core : cores_) origin = std::min(origin, core.begin);
        std::vector<json::Text> cores;
        cores.reserve(cores_.size());
        for (RecordedCore& core : cores_) {
            core.description.add("begin_ps", picoseconds(core.begin - origin, tick_ns));
            cores.push_back(core.description.text());
        }

        json::Object summary;
        summary.add("probe", Probe::name).add("host", place_.host()).add("rank", place_.rank).add("ranks", place_.size);
        summary.add("counter", ticks_source()).add("clock_source", clock_source()).add("tick_ns", tick_ns);
        summary.add("method", describe(options_)).append(probe_.describe(tick_ns));
        const double since = static_cast<double>(static_cast<std::int64_t>(origin - first_unix_.ticks)) * tick_ns;
        summary.add("interrupted", stop_asked());
        summary.add("start_unix_ns", first_unix_.ns + std::llround(since));
        // On the clock that is never adjusted, for a comparison with another recording of this host.
        const double since_raw = static_cast<double>(static_cast<std::int64_t>(origin - first_.ticks)) * tick_ns;
        summary.add("start_raw_ns", first_.ns + std::llround(since_raw));
        summary.add("cores", cores);
        const std::string text = summary.text().text;
        replace_file(folder_ / (std::string(Probe::name) + ".json"), text + "\n");
        print_progress(1);
        print_line(text);
    }

    // Writes in blocks: a recording may have half of the memory, so there is no room for a copy.
    void write_table(const std::string& name, const CoreRecording& recording, double tick_ns) const {
        constexpr std::size_t block = 65536;
        RecordingFile file(folder_ / name);
        for (std::size_t first = 0; first < recording.count; first += block) {
            file.write(probe_.numbers(recording, {first, std::min(recording.count, first + block)}, tick_ns));
        }
        file.close();
    }

    // Writes a core as soon as it is recorded, so that cores that are recorded one by one need the memory of one. The
    // length of a tick is measured from the first instant to the end of this recording.
    json::Object write_core(const TeamMember<CoreRecording>& member, const Around& around,
                            const EventTrace& events) const {
        const CoreRecording& recording = *member.recording;
        const int cpu = member.cpu;
        const double tick_ns = tick_length(first_, last_);
        const std::string name = std::string(Probe::name) + "-cpu" + std::to_string(cpu) + ".i64";
        write_table(name, recording, tick_ns);

        const auto ns = [&](Ticks ticks) { return static_cast<double>(ticks) * tick_ns; };
        json::Object result;
        result.add("cpu", cpu).add("thread", member.thread).add("file", name).add("columns", probe_.columns());
        result.add("rows", recording.count).add("duration_ns", ns(recording.end - recording.begin));
        result.add("dropped", recording.dropped).add("dropped_ns", ns(recording.dropped_ticks));
        result.append(probe_.describe(recording, tick_ns));
        result.append(describe_surroundings(around.before, around.after, {member.before, member.after}, cpu));
        const Axis axis{recording.begin, recording.end, tick_ns, first_};
        result.add("core_wait_s", detail::core_wait(member.core_wait_before, member.core_wait_after));
        const rusage& earlier = member.before;
        const rusage& later = member.after;
        const std::int64_t switches = later.ru_nvcsw + later.ru_nivcsw - earlier.ru_nvcsw - earlier.ru_nivcsw;
        result.add("events", events.write(folder_, {cpu, member.thread}, axis, switches));
        return result;
    }

    static std::string clock_source() {
        return read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("unknown");
    }

    Probe& probe_;
    NoiseOptions options_;
    ProcessPlace place_ = place_by_launcher();
    std::filesystem::path folder_;
    std::vector<int> allowed_ = allowed_cpus();
    Bounds bounds_;
    Instant first_;
    Instant last_;
    Instant first_unix_;
    std::vector<RecordedCore> cores_;
};

// A probe's main function.
template <NoiseProbe Probe>
int run_noise_probe(int argc, char* const* argv) {
    const std::string name = std::string("idlewave-") + Probe::name;
    return report_failures(name, [&] {
        Probe probe;
        NoiseOptions options;
        CommandLine program{name, Probe::purpose, probe.arguments()};
        const std::vector<CommandOption> common = common_arguments(options);
        program.arguments.insert(program.arguments.end(), common.begin(), common.end());
        if (!parse(program, argc, argv)) return;
        complete(options, allowed_cpus());
        Session<Probe>(probe, options).run();
    });
}

}  // namespace idlewave::probe
