// Events from the lines of the kernel's tracer: what ran on a core instead of a thread, with begin and end.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "noise/kernel_event.hpp"
#include "noise/net_lengths.hpp"
#include "noise/trace_line.hpp"

namespace idlewave::probe {

// Pairs the beginnings and ends of one core's events. An event that began before the first line, or ends after the
// last, is left out.
class EventPairs {
  public:
    explicit EventPairs(int thread) : thread_(std::to_string(thread)) {}

    void add(const TraceLine& line, double now_ns) {
        if (line.event == "sched_switch") return change_task(line.details, now_ns);
        if (line.event == "nmi_handler") return add_nmi(line.details, now_ns);
        if (line.event == "mce_record") return events_.push_back({now_ns, now_ns, "mce", "mce_record"});
        if (reports_net_length(line)) {
            if (const auto net = parse_net_length(line, now_ns)) nets_.add(*net, events_);
            return;
        }
        const auto [kind, name] = classify(line);
        if (kind.empty()) return;
        const bool entry = line.event.ends_with("_entry");
        std::vector<std::pair<std::string, double>>& open = open_[kind];
        if (entry) {
            open.emplace_back(name, now_ns);
        } else if (!open.empty()) {
            end({open.back().second, now_ns, kind, open.back().first});
            open.pop_back();
        }
    }

    std::vector<KernelEvent> finish() {
        nets_.finish(events_);
        std::sort(events_.begin(), events_.end(),
                  [](const KernelEvent& one, const KernelEvent& other) { return one.begin_ns < other.begin_ns; });
        return std::move(events_);
    }

  private:
    static std::pair<std::string, std::string> classify(const TraceLine& line) {
        const std::string& event = line.event;
        if (event.rfind("irq_handler_", 0) == 0) {
            return {"irq", trace_field(line.details, "irq") + ":" + rest_after(line.details, "name=")};
        }
        if (event.rfind("softirq_", 0) == 0) return {"softirq", between(line.details, "[action=", "]")};
        if (event.rfind("tasklet_", 0) == 0) return {"tasklet", trace_field(line.details, "function")};
        if (event.rfind("ipi_", 0) == 0) return {"ipi", between(line.details, "(", ")")};
        const std::size_t verb = event.rfind('_');
        const bool paired =
            verb != std::string::npos && (event.substr(verb) == "_entry" || event.substr(verb) == "_exit");
        return paired ? std::pair{std::string("vector"), event.substr(0, verb)} : std::pair<std::string, std::string>{};
    }

    static std::string between(const std::string& text, const std::string& left, const std::string& right) {
        const std::string rest = rest_after(text, left);
        return rest.substr(0, rest.find(right));
    }

    void end(KernelEvent event) {
        events_.push_back(std::move(event));
        nets_.add_event(events_);
    }

    // "prev_comm=bash prev_pid=7555 prev_prio=120 prev_state=R+ ==> next_comm=migration/0 next_pid=18 next_prio=0"
    void change_task(const std::string& details, double now_ns) {
        if (!task_.empty()) end({task_begin_ns_, now_ns, task_ == idle_task ? "idle" : "task", task_});
        task_.clear();
        const std::size_t next = details.find("==> next_comm=");
        const std::size_t pid = details.rfind(" next_pid=");
        if (next == std::string::npos || pid == std::string::npos || pid < next) return;
        const std::string number = trace_field(details.substr(pid + 1), "next_pid");
        if (number == thread_) return;
        constexpr std::size_t title = 14;
        task_ = number == "0" ? idle_task : details.substr(next + title, pid - next - title) + ":" + number;
        task_begin_ns_ = now_ns;
    }

    // "perf_event_nmi_handler() delta_ns: 1184 handled: 1": written at the handler's end.
    void add_nmi(const std::string& details, double now_ns) {
        const double length = std::strtod(rest_after(details, "delta_ns: ").c_str(), nullptr);
        events_.push_back({now_ns - length, now_ns, "nmi", details.substr(0, details.find('('))});
    }

    std::string thread_;
    std::vector<KernelEvent> events_;
    NetLengths nets_;
    std::map<std::string, std::vector<std::pair<std::string, double>>> open_;
    std::string task_;  // the task that runs instead of the thread
    double task_begin_ns_ = 0;
};

}  // namespace idlewave::probe
