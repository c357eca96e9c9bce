// An event of the kernel: what ran on the core instead of the probe.
#pragma once

#include <optional>
#include <string>

namespace idlewave::probe {

inline const std::string idle_task = "idle:0";

struct KernelEvent {
    double begin_ns = 0;
    double end_ns = 0;
    std::string kind;                   // irq, vector, softirq, tasklet, ipi, nmi, mce, task, idle
    std::string name;                   // for a task "comm:pid"
    std::optional<double> net_ns = {};  // without what interrupted it, where the kernel gives that
};

}  // namespace idlewave::probe
