// The kernel's events beside a recording: who had the core instead of the probe, and when.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/json.hpp"
#include "common/ticks.hpp"
#include "noise/trace_text.hpp"
#include "noise/tracefs.hpp"

namespace idlewave {

// The axis of a core's recording, and an instant at which both clocks were read.
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

class EventTrace {
  public:
    EventTrace(bool wanted, bool may_mount, double seconds) {
        if (!wanted) {
            why_ = "not asked for (--trace-events)";
            return;
        }
        tracefs_.emplace(may_mount);
        why_ = tracefs_->why_not();
        if (!why_.empty()) return;
        instance_.emplace(*tracefs_, seconds);
        why_ = instance_->why_not();
    }

    void start(const std::vector<int>& cpus) {
        if (!recording()) return;
        instance_->trace_cpus(cpus);
        instance_->switch_to(true);
    }

    void stop() {
        if (recording()) instance_->switch_to(false);
    }

    // Writes a core's file of events. Describes it, or says why there is none.
    json::Object write(const std::filesystem::path& folder, int cpu, int thread, const Axis& axis) {
        if (!recording()) return json::Object().add("file", json::null()).add("why", why_);
        const std::string name = "events-cpu" + std::to_string(cpu) + ".csv";
        const std::vector<KernelEvent> events = read(cpu, thread, axis);
        OutputFile file(folder / name);
        file.write("begin_ns,end_ns,kind,name\n");
        for (const KernelEvent& event : events) file.write(row(event));
        file.close();
        return json::Object()
            .add("file", name)
            .add("rows", events.size())
            .add("dropped", instance_->lost(cpu))
            .add("clock", instance_->clock())
            .add("buffer_kb", instance_->buffer_kb());
    }

  private:
    bool recording() const { return why_.empty(); }

    // Those that lie within the recording.
    std::vector<KernelEvent> read(int cpu, int thread, const Axis& axis) const {
        EventPairs pairs(thread);
        std::ifstream lines(instance_->folder_of(cpu) / "trace");
        for (std::string line; std::getline(lines, line);) {
            const auto parsed = parse_trace_line(line);
            if (parsed) pairs.add(*parsed, time_of(parsed->stamp, axis));
        }
        std::vector<KernelEvent> events = pairs.finish();
        std::erase_if(events,
                      [&](const KernelEvent& event) { return event.begin_ns < 0 || event.end_ns > axis.length(); });
        return events;
    }

    double time_of(const std::string& stamp, const Axis& axis) const {
        if (instance_->stamps_are_ticks()) return axis.of_ticks(std::strtoull(stamp.c_str(), nullptr, 10));
        return axis.of_raw_ns(std::strtod(stamp.c_str(), nullptr) * 1e9);
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
        return times + event.kind + "," + name + "\n";
    }

    std::optional<Tracefs> tracefs_;
    std::optional<TraceInstance> instance_;
    std::string why_;
};

}  // namespace idlewave
