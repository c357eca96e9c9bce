// What the kernel's osnoise tracer tells at the end of each interrupt, softirq, NMI and task: how long it ran itself,
// without what interrupted it (Linux, Documentation/trace/osnoise-tracer.rst). Each goes to the event that it is of.
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
    std::string key;  // of the event that it is of, as `net_length_key`
    std::string kind;
    std::string name;
    double reported_ns = 0;  // at the end
    double length_ns = 0;

    KernelEvent event() const { return {reported_ns - length_ns, reported_ns, kind, name, length_ns}; }
};

// Without an interrupt's number, for vectors are told as interrupts, and their events have none (one of them has
// "_apic" behind its name instead); without a task's name, which is another at its end when it has become another
// program.
inline std::string net_length_key(const std::string& kind, const std::string& name) {
    if (kind == "irq") return "irq " + name.substr(name.find(':') + 1);
    if (kind == "vector" || kind == "ipi") return "irq " + name.substr(0, name.rfind("_apic"));
    if (kind == "task" || kind == "idle") return "task " + name.substr(name.rfind(':') + 1);
    return kind + " " + name;
}

inline bool reports_net_length(const TraceLine& line) {
    return line.event.ends_with("_noise");
}

// "virtio0:27 start 1371.794302286 duration 20089 ns"; of an NMI there is no name. Nothing of what began before the
// tracer did, which it dates back to 0, and of a line that is no such.
inline std::optional<NetLength> parse_net_length(const TraceLine& line, double now_ns) {
    constexpr const char* before_length = " duration ";
    const std::string kind = line.event.substr(0, line.event.rfind('_'));
    const std::size_t length = line.details.rfind(before_length);
    const std::size_t start = line.details.rfind("start ", length);
    if (length == std::string::npos || start == std::string::npos) return std::nullopt;
    if (line.details.compare(start, length - start, "start 0.000000000") == 0) return std::nullopt;
    NetLength net{"", kind, kind, now_ns,
                  std::strtod(line.details.c_str() + length + std::strlen(before_length), nullptr)};
    constexpr double negative = 0x1p63;  // races make some so (trace_osnoise.c), and it is printed without its sign
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

// Events and net lengths in the order in which they end. Which of two that belong together the kernel writes first
// depends on who asked for it first.
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
    // What ran for that long until then is, in part at least, of the event's time.
    static bool together(const NetLength& net, const KernelEvent& event) {
        return net.reported_ns >= event.begin_ns && net.reported_ns - net.length_ns < event.end_ns;
    }

    // The whole of it, behind all its handlers, of which each told its own part: one event with the longest's name.
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

    // The kernel wrote no other event of it. Of a task or a softirq it did, unless it began before the first line.
    static void give_up(const NetLength& net, std::vector<KernelEvent>& events) {
        if (net.kind == "irq") events.push_back(net.event());
    }

    std::map<std::string, std::size_t> last_;
    std::map<std::string, NetLength> waiting_;
};

}  // namespace idlewave::probe
