// A line of the kernel's tracer, which writes text, one line an event.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

namespace idlewave::probe {

struct TraceLine {
    std::string stamp;  // "93353903584239" in ticks, or "93353.903584" in seconds
    std::string event;
    std::string details;
};

// "            bash-7551    [000] d.h1. 93353903584239: local_timer_entry: vector=236"
// A name has up to 15 characters of any kind, and is padded to 16; the fields behind it have a fixed form.
inline std::optional<TraceLine> parse_trace_line(const std::string& line) {
    constexpr std::size_t behind_name = 16;
    if (line.empty() || line[0] == '#' || line.size() <= behind_name) return std::nullopt;
    const std::size_t cpu = line.find(" [", behind_name);
    const std::size_t flags = line.find("] ", behind_name);
    if (cpu == std::string::npos || flags == std::string::npos) return std::nullopt;
    const std::size_t behind_stamp = line.find(": ", flags);
    if (behind_stamp == std::string::npos) return std::nullopt;
    const std::size_t stamp = line.rfind(' ', behind_stamp) + 1;
    const std::size_t behind_event = line.find(':', behind_stamp + 2);
    if (behind_event == std::string::npos) return std::nullopt;
    const std::size_t details = std::min(line.find_first_not_of(' ', behind_event + 1), line.size());
    return TraceLine{line.substr(stamp, behind_stamp - stamp),
                     line.substr(behind_stamp + 2, behind_event - behind_stamp - 2), line.substr(details)};
}

// The text between the first "key=" and the next space (or the end).
inline std::string trace_field(const std::string& details, const std::string& key) {
    const std::size_t found = details.find(key + "=");
    if (found == std::string::npos) return "";
    const std::size_t begin = found + key.size() + 1;
    return details.substr(begin, details.find(' ', begin) - begin);
}

// The text behind a mark.
inline std::string rest_after(const std::string& text, const std::string& mark) {
    const std::size_t found = text.find(mark);
    return found == std::string::npos ? "" : text.substr(found + mark.size());
}

}  // namespace idlewave::probe
