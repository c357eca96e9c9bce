// Net lengths: the kernel's osnoise tracer writes at the end of each interrupt, softirq, NMI and task how long it ran
// itself, without what interrupted it (Linux, Documentation/trace/osnoise-tracer.rst). Each is assigned to its event.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "noise/kernel_event.hpp"
#include "noise/trace_line.hpp"

namespace idlewave::probe {

struct NetLength {
    std::string key;  // of its event, by `net_length_key`
    std::string kind;
    std::string name;
    double reported_ns = 0;  // when it was written, at the event's end
    double length_ns = 0;

    KernelEvent event() const { return {reported_ns - length_ns, reported_ns, kind, name, length_ns}; }
};

// The key omits an interrupt's number: vectors are written as interrupts, and their events have none (one of them has
// "_apic" behind its name instead). It omits a task's name: a task that has executed another program ends with another
// name.
inline std::string net_length_key(const std::string& kind, const std::string& name) {
    if (kind == "irq") return "irq " + name.substr(name.find(':') + 1);
    if (kind == "vector" || kind == "ipi") return "irq " + name.substr(0, name.rfind("_apic"));
    if (kind == "task" || kind == "idle") return "task " + name.substr(name.rfind(':') + 1);
    return kind + " " + name;
}

inline bool reports_net_length(const TraceLine& line) {
    return line.event.ends_with("_noise");
}

// "virtio0:27 start 1371.794302286 duration 20089 ns"; an NMI has no name. Returns nothing for other lines, and for
// what began before the tracer, which the tracer dates back to 0.
inline std::optional<NetLength> parse_net_length(const TraceLine& line, double now_ns) {
    constexpr const char* before_length = " duration ";
    const std::string kind = line.event.substr(0, line.event.rfind('_'));
    const std::size_t length = line.details.rfind(before_length);
    const std::size_t start = line.details.rfind("start ", length);
    if (length == std::string::npos || start == std::string::npos) return std::nullopt;
    if (line.details.compare(start, length - start, "start 0.000000000") == 0) return std::nullopt;
    NetLength net{"", kind, kind, now_ns,
                  std::strtod(line.details.c_str() + length + std::strlen(before_length), nullptr)};
    constexpr double negative = 0x1p63;  // races cause negative values (trace_osnoise.c), printed as unsigned
    if (net.length_ns >= negative) return std::nullopt;
    if (kind == "nmi") return net;
    const std::size_t colon = line.details.rfind(':', start);
    if (colon == std::string::npos || start == 0) return std::nullopt;
    const std::string source = line.details.substr(0, colon);
    const std::string number = line.details.substr(colon + 1, start - colon - 2);
    if (kind == "thread") net.kind = "task";
    net.name = kind == "irq" ? number + ":" + source : kind == "thread" ? source + ":" + number : source;
    net.key = net_length_key(kind == "irq" ? "vector" : net.kind, kind == "irq" ? source : net.name);
    return net;
}

// Events and net lengths in the order in which they end. Of an event and its net length, the kernel writes the one
// first whose recording was enabled first.
class NetLengths {
  public:
    void add_event(std::vector<KernelEvent>& events) {
        const std::string key = net_length_key(events.back().kind, events.back().name);
        last_[key] = events.size() - 1;
        const auto waiting = waiting_.find(key);
        if (waiting == waiting_.end() || !together(waiting->second, events.back())) return;
        events.back().net_ns = waiting->second.length_ns;
        waiting_.erase(waiting);
    }

    void add(const NetLength& net, std::vector<KernelEvent>& events) {
        if (net.kind == "nmi") return add_nmi(net, events);
        const auto last = last_.find(net.key);
        if (last != last_.end() && !events[last->second].net_ns && together(net, events[last->second])) {
            events[last->second].net_ns = net.length_ns;
            return;
        }
        const auto waiting = waiting_.find(net.key);
        if (waiting != waiting_.end()) give_up(waiting->second, events);
        waiting_[net.key] = net;
    }

    void finish(std::vector<KernelEvent>& events) {
        for (const auto& [key, net] : waiting_) give_up(net, events);
        waiting_.clear();
    }

  private:
    // Whether the time that the net length covers overlaps the event's.
    static bool together(const NetLength& net, const KernelEvent& event) {
        return net.reported_ns >= event.begin_ns && net.reported_ns - net.length_ns < event.end_ns;
    }

    // The net length of a whole NMI follows those of its handlers, which are joined to one event with the longest's
    // name.
    static void add_nmi(const NetLength& net, std::vector<KernelEvent>& events) {
        KernelEvent whole = net.event();
        double longest_ns = 0;
        const auto handled = [&](const KernelEvent& one) { return one.kind == "nmi" && !one.net_ns; };
        for (; !events.empty() && handled(events.back()) && together(net, events.back()); events.pop_back()) {
            const double length_ns = events.back().end_ns - events.back().begin_ns;
            if (length_ns < longest_ns) continue;
            longest_ns = length_ns;
            whole.name = events.back().name;
        }
        events.push_back(whole);
    }

    // A net length without an event. For a task or a softirq the kernel writes an event, unless it began before the
    // first line.
    static void give_up(const NetLength& net, std::vector<KernelEvent>& events) {
        if (net.kind == "irq") events.push_back(net.event());
    }

    std::map<std::string, std::size_t> last_;
    std::map<std::string, NetLength> waiting_;
};

}  // namespace idlewave::probe
