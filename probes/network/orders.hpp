// The client's order to the server for one sample, and the server's report afterwards.
#pragma once

#include <cstdint>
#include <type_traits>

namespace idlewave::probe::network {

// answer: receive all, send one back. receive, complete: compute for delay_ns, then time the receive (for `complete` it
// is posted before the delay). sink: compute for delay_ns, then receive all; no answer. load: report the foreign load
// since the last report of it. stop: end.
enum class ServerTask : std::int32_t { answer, receive, complete, sink, load, stop };

struct Order {
    ServerTask part = ServerTask::stop;
    std::int32_t size = 1;
    std::int32_t messages = 1;
    std::int32_t warm = 1;  // round trips before
    std::uint32_t sample = 0;
    std::int32_t unused = 0;
    double delay_ns = 0;
};

struct Report {
    double value_ns = 0;
    std::int64_t switches = 0;     // involuntary context switches during the sample
    std::int32_t lost = 0;         // 1: a message did not arrive
    std::int32_t interrupted = 0;  // 1: the server has received a signal to end
};

static_assert(std::is_trivially_copyable_v<Order> && std::is_trivially_copyable_v<Report>);

}  // namespace idlewave::probe::network
