// What the kernel's osnoise tracer tells at the end of each interrupt, softirq, NMI and task: how long it ran itself,
// without what interrupted it (Linux, Documentation/trace/osnoise-tracer.rst). Each goes to the event that it is of.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "noise/trace_line.hpp"

namespace idlewave {

struct NetLength {
    std::string of;  // what it is of, as `net_length_key`
    std::string name;
    double told_ns = 0;  // at the end
    double length_ns = 0;

    // Of every interrupt and NMI; of a task or a softirq only if the tracer saw it begin, and then its event is there.
    bool stands_alone() const { return of.rfind("irq ", 0) == 0 || of.rfind("nmi ", 0) == 0; }
    KernelEvent event() const { return {told_ns - length_ns, told_ns, of.substr(0, of.find(' ')), name, length_ns}; }
};

// An interrupt is told without its number, and a vector as an interrupt; of an NMI no name; a task may have another
// name at its end, when it has become another program.
inline std::string net_length_key(const KernelEvent& event) {
    if (event.kind == "irq") return "irq " + event.name.substr(event.name.find(':') + 1);
    if (event.kind == "vector" || event.kind == "ipi") return "irq " + event.name;
    if (event.kind == "task" || event.kind == "idle") return "task " + event.name.substr(event.name.rfind(':') + 1);
    return event.kind == "nmi" ? "nmi " : event.kind + " " + event.name;
}

// "virtio0:27 start 1371.794302286 duration 20089 ns"; of an NMI there is no name. Nothing of another event,
// or of what began before the tracer did, which it dates back to 0.
inline std::optional<NetLength> parse_net_length(const TraceLine& line, double now_ns) {
    const std::size_t verb = line.event.rfind("_noise");
    if (verb == std::string::npos || verb + 6 != line.event.size()) return std::nullopt;
    const std::string kind = line.event.substr(0, verb);
    const std::string length = rest_after(line.details, "duration ");
    if (length.empty() || line.details.find("start 0.000000000 ") != std::string::npos) return std::nullopt;
    const double length_ns = std::strtod(length.c_str(), nullptr);
    if (kind == "nmi") return NetLength{"nmi ", "nmi", now_ns, length_ns};
    const std::size_t start = line.details.rfind(" start ");
    const std::size_t colon = line.details.rfind(':', start);
    if (start == std::string::npos || colon == std::string::npos) return std::nullopt;
    const std::string name = line.details.substr(0, colon);
    const std::string number = line.details.substr(colon + 1, start - colon - 1);
    if (kind == "irq") return NetLength{"irq " + name, number + ":" + name, now_ns, length_ns};
    if (kind == "softirq") return NetLength{"softirq " + name, name, now_ns, length_ns};
    if (kind != "thread") return std::nullopt;
    return NetLength{"task " + number, name, now_ns, length_ns};
}

// Events and net lengths in the order in which they end. Which of two that belong together the kernel writes first
// depends on who asked for it first.
class NetLengths {
  public:
    void ended(std::vector<KernelEvent>& events) {
        const std::string key = net_length_key(events.back());
        last_[key] = events.size() - 1;
        const auto waiting = waiting_.find(key);
        if (waiting == waiting_.end() || !together(waiting->second, events.back())) return;
        events.back().net_ns = waiting->second.length_ns;
        waiting_.erase(waiting);
    }

    void told(const NetLength& net, std::vector<KernelEvent>& events) {
        const auto last = last_.find(net.of);
        if (last != last_.end() && !events[last->second].net_ns && together(net, events[last->second])) {
            events[last->second].net_ns = net.length_ns;
            return;
        }
        const auto waiting = waiting_.find(net.of);
        if (waiting != waiting_.end()) give_up(waiting->second, events);
        waiting_[net.of] = net;
    }

    void finish(std::vector<KernelEvent>& events) {
        for (const auto& [key, net] : waiting_) give_up(net, events);
        waiting_.clear();
    }

  private:
    // What ran for that long until then ran within the event.
    static bool together(const NetLength& net, const KernelEvent& event) {
        return net.told_ns >= event.begin_ns && net.told_ns - net.length_ns < event.end_ns;
    }

    // The kernel wrote no other event of it.
    static void give_up(const NetLength& net, std::vector<KernelEvent>& events) {
        if (net.stands_alone()) events.push_back(net.event());
    }

    std::map<std::string, std::size_t> last_;
    std::map<std::string, NetLength> waiting_;
};

}  // namespace idlewave
