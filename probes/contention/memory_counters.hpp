// Bytes that the memory controllers of the machine read and wrote, by perf_event_open, where the kernel shows their
// counters (a folder of sysfs each) and gives them.
#pragma once

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/cpus.hpp"
#include "common/failure.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "contention/counters.hpp"
#include "contention/lines.hpp"

namespace idlewave::probe::contention {

constexpr const char* event_sources = "/sys/bus/event_source/devices";

namespace detail {

// A kind of memory controllers: how their folders are named, and the events that count all that they read and write.
struct ControllerKind {
    std::string_view folder;                // beside it "_" and a number
    std::vector<std::string_view> events;   // named in the folder, with the unit of what they count
    std::vector<std::string_view> encoded;  // as the processor's manual has it, of lines; where the kernel has no names
};

// Only the first kind that is there is counted: others count the same bytes once more.
inline std::vector<ControllerKind> controller_kinds() {
    return {
        {"uncore_imc", {"cas_count_read", "cas_count_write"}, {}},  // Intel's servers
        {"uncore_imc",
         {"cas_count_read_sch0", "cas_count_read_sch1", "cas_count_write_sch0", "cas_count_write_sch1"},
         {}},                                                                     // those with two subchannels
        {"uncore_imc", {"data_reads", "data_writes"}, {}},                        // Intel's client processors
        {"uncore_imc_free_running", {"data_read", "data_write"}, {}},             // later ones
        {"amd_umc", {}, {"event=0x0a,rdwrmask=0x1", "event=0x0a,rdwrmask=0x2"}},  // CAS commands
    };
}

// An event of a controller, and the bytes of each count.
struct ControllerEvent {
    std::string name;
    perf_event_attr attributes{};
    double bytes = 0;
};

inline Failure damaged(const std::filesystem::path& file, const std::string& expected, const std::string& found) {
    return failed(file.string() + ": expected " + expected + ", found '" + found + "'");
}

inline std::string line_of(const std::filesystem::path& file, const std::string& expected) {
    const std::optional<std::string> line = read_line(file);
    if (!line) throw failed(file.string() + ": expected " + expected + "; it cannot be read");
    return *line;
}

// All of `text` as a number, such as 10 or 0x0a; nothing if it is none.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return result;
}

inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> result;
    for (;;) {
        const std::size_t end = text.find(separator);
        result.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return result;
        text.remove_prefix(end + 1);
    }
}

// The first and the last bit of a range such as 0-7 or 21.
inline std::optional<std::pair<int, int>> bit_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = whole_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 63) return std::nullopt;
    return std::pair(static_cast<int>(*first), static_cast<int>(*last));
}

// Puts a value into the bits that a format has for it, lowest bits first: config:0-7, config1:3, config:0-7,32-35.
inline void set_bits(perf_event_attr& attributes, const std::filesystem::path& format, std::uint64_t value) {
    const std::string text = line_of(format, "the bits of an event");
    const auto wrong = [&] { return damaged(format, "bits such as config:0-7,32-35", text); };
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) throw wrong();
    const std::string_view word = std::string_view(text).substr(0, colon);
    std::uint64_t config = 0;
    std::uint64_t rest = value;
    for (const std::string_view range : split(std::string_view(text).substr(colon + 1), ',')) {
        const auto bits = bit_range(range);
        if (!bits) throw wrong();
        const int width = bits->second - bits->first + 1;
        const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
        config |= (rest & mask) << bits->first;
        rest = width == 64 ? 0 : rest >> width;
    }
    if (rest != 0) throw damaged(format, "bits for the value " + std::to_string(value), text);
    if (word == "config") {
        attributes.config |= config;
    } else if (word == "config1") {
        attributes.config1 |= config;
    } else if (word == "config2") {
        attributes.config2 |= config;
    } else {
        throw wrong();
    }
}

// The event that `terms` such as event=0x04,umask=0x03 stand for; `origin` says where they come from.
inline perf_event_attr encoded_event(const std::filesystem::path& controller, std::string_view terms,
                                     const std::filesystem::path& origin) {
    perf_event_attr result{};
    result.size = sizeof result;
    result.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const std::filesystem::path type = controller / "type";
    const std::string text = line_of(type, "a number");
    const auto number = whole_number(text);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) throw damaged(type, "a number", text);
    result.type = static_cast<std::uint32_t>(*number);
    for (const std::string_view term : split(terms, ',')) {
        const std::size_t equals = term.find('=');
        const std::string_view name = term.substr(0, equals);
        const auto value = equals == std::string_view::npos ? 1 : whole_number(term.substr(equals + 1));
        if (name.empty() || name.find('/') != std::string_view::npos || !value) {
            throw damaged(origin, "terms such as event=0x04,umask=0x03", std::string(terms));
        }
        set_bits(result, controller / "format" / name, *value);
    }
    return result;
}

// The bytes of a count from the files .scale and .unit of an event.
inline double bytes_of_count(const std::filesystem::path& event) {
    const std::filesystem::path scale_file = event.string() + ".scale";
    const std::string scale = line_of(scale_file, "a number");
    double factor = 0;
    const auto [end, error] = std::from_chars(scale.data(), scale.data() + scale.size(), factor);
    const bool usable = factor > 0 && factor < 1e12;  // it may be no number
    if (error != std::errc() || end != scale.data() + scale.size() || !usable) {
        throw damaged(scale_file, "a number above 0", scale);
    }
    constexpr std::array<std::pair<std::string_view, double>, 5> units = {
        {{"MiB", 0x1p20}, {"KiB", 0x1p10}, {"GiB", 0x1p30}, {"Bytes", 1}, {"B", 1}}};
    const std::filesystem::path unit_file = event.string() + ".unit";
    const std::string unit = line_of(unit_file, "a unit of bytes such as MiB");
    for (const auto& [name, bytes] : units) {
        if (name == unit) return factor * bytes;
    }
    throw damaged(unit_file, "a unit of bytes such as MiB", unit);
}

inline bool has_name_of(const ControllerKind& kind, std::string_view folder) {
    if (!folder.starts_with(kind.folder)) return false;
    folder.remove_prefix(kind.folder.size());
    return folder.empty() || (folder.starts_with('_') && whole_number(folder.substr(1)));
}

inline bool is_of(const ControllerKind& kind, const std::filesystem::path& controller) {
    if (!has_name_of(kind, controller.filename().string())) return false;
    std::error_code error;
    const auto there = [&](std::string_view event) {
        return std::filesystem::exists(controller / "events" / event, error);
    };
    return kind.events.empty() || std::any_of(kind.events.begin(), kind.events.end(), there);
}

inline std::vector<ControllerEvent> events_of(const ControllerKind& kind, const std::filesystem::path& controller) {
    std::vector<ControllerEvent> result;
    for (const std::string_view name : kind.events) {
        const std::filesystem::path file = controller / "events" / name;
        const std::string terms = line_of(file, "the terms of an event");
        result.push_back(
            {(controller.filename() / name).string(), encoded_event(controller, terms, file), bytes_of_count(file)});
    }
    for (const std::string_view terms : kind.encoded) {
        const std::string name = controller.filename().string().append("/").append(terms);
        result.push_back(
            {name, encoded_event(controller, terms, controller / "format"), static_cast<double>(line_bytes)});
    }
    return result;
}

// A CPU of each socket that has such a controller.
inline std::vector<int> cpus_of(const std::filesystem::path& controller) {
    const std::filesystem::path file = controller / "cpumask";
    return parse_cpus(file.string(), line_of(file, "CPUs such as 0,16"));
}

// The controllers of the first kind that is there, in the order of their names.
inline std::pair<ControllerKind, std::vector<std::filesystem::path>> controllers_in(
    const std::filesystem::path& folder) {
    std::error_code error;
    std::vector<std::filesystem::path> all;
    std::filesystem::directory_iterator each(folder, error);
    for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) all.push_back(each->path());
    if (error) throw failed(folder.string() + " cannot be read: " + error.message());
    std::sort(all.begin(), all.end());
    for (const ControllerKind& kind : controller_kinds()) {
        std::vector<std::filesystem::path> found;
        std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                     [&](const auto& one) { return is_of(kind, one); });
        if (!found.empty()) return {kind, found};
    }
    throw failed(folder.string() + " has no memory controllers whose events for bytes read and written are known");
}

}  // namespace detail

// Bytes that all memory controllers of the machine moved, whatever asked for them. NaN where one of them does not
// count, because the sum would lack its bytes; `reason` says why.
class MemoryCounters {
  public:
    // What each event has counted so far.
    using Counts = std::vector<std::optional<CounterSource::Count>>;

    MemoryCounters(CounterSource& source, const std::filesystem::path& folder) : source_(source) {
        const std::optional<Failure> failure = failure_of([&] {
            const auto [kind, controllers] = detail::controllers_in(folder);
            for (const std::filesystem::path& controller : controllers) open(kind, controller);
        });
        if (!failure) return;
        reason_ = failure->what();
        close();
    }
    MemoryCounters(const MemoryCounters&) = delete;
    MemoryCounters& operator=(const MemoryCounters&) = delete;
    ~MemoryCounters() { close(); }

    [[nodiscard]] Counts read() const {
        Counts result;
        for (const OpenEvent& each : events_) result.push_back(source_.read(each.file));
        return result;
    }

    // Bytes read and written since `before`. An event that had the controller's counter for a part of that time only is
    // scaled.
    [[nodiscard]] double bytes_since(const Counts& before) const {
        double result = events_.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
        const Counts now = read();
        for (std::size_t i = 0; i < events_.size(); ++i) {
            result += events_[i].bytes_of_count * counted_between(before[i], now[i]);
        }
        return result;
    }

    // Null where bytes are counted, else the reason why they are not.
    [[nodiscard]] json::Text describe() const { return reason_.empty() ? json::null() : json::value(reason_); }

  private:
    struct OpenEvent {
        int file = -1;
        double bytes_of_count = 0;
    };

    static double counted_between(const std::optional<CounterSource::Count>& before,
                                  const std::optional<CounterSource::Count>& now) {
        if (!before || !now || now->running_ns <= before->running_ns) return std::numeric_limits<double>::quiet_NaN();
        return static_cast<double>(now->value - before->value) *
               static_cast<double>(now->enabled_ns - before->enabled_ns) /
               static_cast<double>(now->running_ns - before->running_ns);
    }

    void open(const detail::ControllerKind& kind, const std::filesystem::path& controller) {
        const std::vector<int> cpus = detail::cpus_of(controller);
        for (detail::ControllerEvent& event : detail::events_of(kind, controller)) {
            for (const int cpu : cpus) {
                const int file = source_.open(event.attributes, whole_cpu(cpu));
                if (file < 0) throw refusal(event.name, cpu, -file);
                events_.push_back({file, event.bytes});
            }
        }
    }

    static Failure refusal(const std::string& event, int cpu, int error) {
        std::string words = event + " on CPU " + std::to_string(cpu) + ": " + system_word(error);
        if (error == EACCES || error == EPERM) {
            words += "; counts of the whole machine need CAP_PERFMON, or a kernel.perf_event_paranoid of at most 0";
        }
        return failed(words);
    }

    void close() {
        for (const OpenEvent& each : events_) source_.close(each.file);
        events_.clear();
    }

    CounterSource& source_;
    std::vector<OpenEvent> events_;
    std::string reason_;
};

}  // namespace idlewave::probe::contention
