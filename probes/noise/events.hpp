// The kernel's events beside a recording: what ran on the core instead of the probe, and when.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/ticks.hpp"
#include "noise/event_pairs.hpp"
#include "noise/kernel_event.hpp"
#include "noise/switches.hpp"
#include "noise/trace_line.hpp"
#include "noise/tracefs.hpp"

namespace idlewave::probe {

// The time axis of a core's recording, and an instant at which both clocks were read.
struct Axis {
    Ticks begin = 0;
    Ticks end = 0;
    double tick_ns = 0;
    Instant known;

    double of_ticks(Ticks ticks) const {
        return static_cast<double>(static_cast<std::int64_t>(ticks - begin)) * tick_ns;
    }
    double of_raw_ns(double ns) const { return ns - static_cast<double>(known.ns) + of_ticks(known.ticks); }
    double length() const { return of_ticks(end); }
};

// A recorded core, and the thread that records there.
struct TracedCore {
    int cpu = -1;
    pid_t thread = 0;
};

// Events by the kernel's tracer, or, where that is not readable, the switches of the probe's own threads.
class EventTrace {
  public:
    EventTrace(bool wanted, bool may_mount, double seconds, const std::vector<int>& cpus) : wanted_(wanted) {
        if (!wanted) {
            why_ = "not asked for (--trace-events)";
            return;
        }
        if (!in_the_first_process_space()) {
            why_ = "the kernel's tracer tells other numbers of processes than a container has";
            return;
        }
        tracefs_.emplace(may_mount);
        why_ = tracefs_->why_not();
        if (!why_.empty()) return;
        instance_.emplace(tracefs_->path(), seconds, cpus);
        why_ = instance_->why_not();
    }

    void start(const std::vector<TracedCore>& cores) {
        if (tracing()) {
            std::vector<int> cpus;
            cpus.reserve(cores.size());
            for (const TracedCore& core : cores) cpus.push_back(core.cpu);
            instance_->trace_cpus(cpus);
            instance_->switch_to(true);
        } else if (wanted_) {
            recorders_.clear();  // those of an earlier group have been written
            for (const TracedCore& core : cores) recorders_.emplace(core.cpu, core.thread);
        }
    }

    void stop() {
        if (tracing()) instance_->switch_to(false);
    }

    // Writes a core's file of events. Returns its description, or why there is none. `switches` is the system's count
    // of how often the thread was switched out.
    json::Object write(const std::filesystem::path& folder, const TracedCore& core, const Axis& axis,
                       std::int64_t switches) const {
        if (tracing()) {
            const std::filesystem::path trace = instance_->folder_of(core.cpu) / "trace";
            std::ifstream lines(trace);
            if (!lines) {
                const std::string why = trace.string() + " cannot be read: " + system_word(errno);
                return json::Object().add("file", json::null()).add("why", why);
            }
            const std::vector<KernelEvent> events = read_trace(lines, core, axis);
            const auto net = std::count_if(events.begin(), events.end(), [](const auto& one) { return one.net_ns; });
            return write_events(folder, core.cpu, events)
                .add("net_lengths", net)
                .add("source", "tracefs")
                .add("dropped", instance_->lost(core.cpu))
                .add("clock", instance_->clock())
                .add("buffer_kb", instance_->buffer_kb())
                .add("osnoise", instance_->why_no_osnoise().empty() ? "recorded" : instance_->why_no_osnoise());
        }
        const auto recorder = recorders_.find(core.cpu);
        if (recorder == recorders_.end()) return json::Object().add("file", json::null()).add("why", why_);
        if (!recorder->second.there()) {
            return json::Object().add("file", json::null()).add("why", why_ + "; " + recorder->second.why_not());
        }
        const std::vector<Switch> found = recorder->second.switches();
        const auto outs = std::count_if(found.begin(), found.end(), [](const Switch& one) { return one.out; });
        return write_events(folder, core.cpu, pair_switches(found, axis))
            .add("source", "perf_event_open")
            .add("dropped", std::max<std::int64_t>(0, switches - outs))
            .add("clock", "mono_raw")
            .add("why", why_);
    }

  private:
    bool tracing() const { return why_.empty(); }

    // A PID namespace is a file; the inode number of the first one is fixed (Linux, PROC_PID_INIT_INO).
    static bool in_the_first_process_space() {
        std::error_code error;
        return std::filesystem::read_symlink("/proc/self/ns/pid", error) == "pid:[4026531836]";
    }

    // The events that lie within the recording.
    std::vector<KernelEvent> read_trace(std::istream& lines, const TracedCore& core, const Axis& axis) const {
        EventPairs pairs(core.thread);
        for (std::string line; std::getline(lines, line);) {
            const auto parsed = parse_trace_line(line);
            if (parsed) pairs.add(*parsed, time_of(parsed->stamp, axis));
        }
        std::vector<KernelEvent> events = pairs.finish();
        std::erase_if(events, [&](const KernelEvent& event) { return !inside(event, axis); });
        return events;
    }

    static std::vector<KernelEvent> pair_switches(const std::vector<Switch>& switches, const Axis& axis) {
        std::vector<KernelEvent> events;
        for (std::size_t i = 0; i + 1 < switches.size(); ++i) {
            if (!switches[i].out || switches[i + 1].out) continue;
            const KernelEvent event{axis.of_raw_ns(switches[i].time_ns), axis.of_raw_ns(switches[i + 1].time_ns),
                                    "task", switches[i].preempted ? "preempted" : "waiting"};
            if (inside(event, axis)) events.push_back(event);
        }
        return events;
    }

    static bool inside(const KernelEvent& event, const Axis& axis) {
        return event.begin_ns >= 0 && event.end_ns <= axis.length();
    }

    double time_of(const std::string& stamp, const Axis& axis) const {
        if (instance_->stamps_are_ticks()) return axis.of_ticks(std::strtoull(stamp.c_str(), nullptr, 10));
        return axis.of_raw_ns(std::strtod(stamp.c_str(), nullptr) * 1e9);
    }

    static json::Object write_events(const std::filesystem::path& folder, int cpu,
                                     const std::vector<KernelEvent>& events) {
        const std::string name = "events-cpu" + std::to_string(cpu) + ".csv";
        RecordingFile file(folder / name);
        file.write("begin_ns,end_ns,kind,name,net_ns\n");
        for (const KernelEvent& event : events) file.write(row(event));
        file.close();
        return json::Object().add("file", name).add("rows", events.size());
    }

    static std::string row(const KernelEvent& event) {
        char times[64] = "";
        std::snprintf(times, sizeof times, "%.1f,%.1f,", event.begin_ns, event.end_ns);
        std::string name = event.name;
        if (name.find_first_of(",\"\n\r") != std::string::npos) {
            std::string quoted = "\"";
            for (const char c : name) quoted += c == '"' ? "\"\"" : std::string{c};
            name = quoted + '"';
        }
        char net[32] = "";
        if (event.net_ns) std::snprintf(net, sizeof net, "%.0f", *event.net_ns);
        return times + event.kind + "," + name + "," + net + "\n";
    }

    bool wanted_;
    std::optional<Tracefs> tracefs_;
    std::optional<TraceInstance> instance_;
    std::map<int, SwitchRecorder> recorders_;
    std::string why_;  // why the tracer does not run; empty if it does
};

}  // namespace idlewave::probe
