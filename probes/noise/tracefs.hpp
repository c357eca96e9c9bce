// An instance of the kernel's tracer with its own buffers and events, so that other users of the tracer are not
// disturbed.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/files.hpp"
#include "noise/osnoise.hpp"

namespace idlewave::probe {

namespace detail {

inline constexpr const char* tracefs_place = "/sys/kernel/tracing";

inline constexpr const char* mounted_by_us = "idlewave";  // as the name of the device, because tracefs has none

struct Mount {
    std::string device;
    std::filesystem::path place;
};

inline std::optional<Mount> mounted_tracefs() {
    std::ifstream file("/proc/self/mounts");
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string device, mount, kind;
        fields >> device >> mount >> kind;
        if (kind == "tracefs") return Mount{device, mount};
    }
    return std::nullopt;
}

}  // namespace detail

// tracefs where it is mounted, or mounted here for as long as a process needs it. Each such process has it open, so
// only the last one on a host can unmount it.
class Tracefs {
  public:
    explicit Tracefs(bool may_mount) {
        if (may_mount && !detail::mounted_tracefs() && !mount_it()) return;
        const auto mount = detail::mounted_tracefs();
        if (!mount) {
            why_ = std::string("tracefs is not mounted; mount it (mount -t tracefs nodev ") + detail::tracefs_place +
                   ") or give --mount-tracefs";
            return;
        }
        path_ = mount->place;
        ours_ = may_mount && mount->device == detail::mounted_by_us;
        held_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (held_ < 0) why_ = path_.string() + " cannot be read: " + system_word(errno);
    }
    ~Tracefs() {
        if (held_ >= 0) close(held_);
        if (ours_) umount2(path_.c_str(), 0);
    }
    Tracefs(const Tracefs&) = delete;
    Tracefs& operator=(const Tracefs&) = delete;

    bool there() const { return why_.empty(); }
    const std::filesystem::path& path() const { return path_; }
    const std::string& why_not() const { return why_; }

  private:
    bool mount_it() {
        constexpr unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
        if (mount(detail::mounted_by_us, detail::tracefs_place, "tracefs", flags, nullptr) == 0) return true;
        if (errno == EBUSY) return true;  // another process has just mounted it there
        why_ = "tracefs cannot be mounted: " + system_word(errno);
        return false;
    }

    bool ours_ = false;
    int held_ = -1;
    std::filesystem::path path_;
    std::string why_;
};

// A lock that one probe of the host has at a time. The wait for it is bounded, because its owner may have been stopped
// (SIGSTOP).
class TracefsLock {
  public:
    explicit TracefsLock(const std::filesystem::path& tracefs)
        : folder_(open(tracefs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        using std::chrono::steady_clock;
        const auto patience = steady_clock::now() + std::chrono::seconds(30);
        while (folder_ >= 0 && !held_) {
            held_ = flock(folder_, LOCK_EX | LOCK_NB) == 0;
            if (held_ || steady_clock::now() > patience) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    ~TracefsLock() {
        if (folder_ >= 0) close(folder_);
    }
    TracefsLock(const TracefsLock&) = delete;
    TracefsLock& operator=(const TracefsLock&) = delete;

    bool held() const { return held_; }

  private:
    int folder_;
    bool held_ = false;
};

// The instance is off until it is switched on. The destructor removes it; the next process removes that of a killed
// one.
class TraceInstance {
  public:
    // An instance for some CPUs and a time in seconds.
    TraceInstance(std::filesystem::path tracefs, double seconds, const std::vector<int>& cpus)
        : tracefs_(std::move(tracefs)) {
        const TracefsLock lock(tracefs_);
        if (!lock.held()) {
            why_ = "another process has kept " + tracefs_.string() + " locked";
            return;
        }
        const std::filesystem::path all = tracefs_ / "instances";
        remove_orphans(all);
        const OsnoiseSetting osnoise(tracefs_);
        folder_ = all / (prefix + std::to_string(getpid()) + (osnoise.ours() ? OsnoiseSetting::duty : ""));
        if (mkdir(folder_.c_str(), 0700) != 0) {
            why_ = "no instance of the tracer can be made in " + all.string() + ": " + system_word(errno);
            folder_.clear();
            return;
        }
        set_up(seconds, cpus);
        if (there()) use_osnoise(osnoise);
        if (there()) enable();
    }
    ~TraceInstance() {
        if (folder_.empty()) return;
        const TracefsLock lock(tracefs_);
        switch_to(false);
        remove(folder_);
    }
    TraceInstance(const TraceInstance&) = delete;
    TraceInstance& operator=(const TraceInstance&) = delete;

    bool there() const { return why_.empty(); }
    const std::string& why_not() const { return why_; }
    bool stamps_are_ticks() const { return clock_ == "x86-tsc"; }
    const std::string& clock() const { return clock_; }
    std::int64_t buffer_kb() const { return buffer_kb_; }
    // Why osnoise's events are not recorded or not usable; empty: they have been recorded until now.
    std::string why_no_osnoise() const {
        if (!why_no_osnoise_.empty() || OsnoiseSetting(tracefs_).threads_are_off()) return why_no_osnoise_;
        return "osnoise's own threads were switched on meanwhile";
    }

    void trace_cpus(const std::vector<int>& cpus) const { write_text(folder_ / "tracing_cpumask", mask_of(cpus)); }
    void switch_to(bool on) const { write_text(folder_ / "tracing_on", on ? "1" : "0"); }

    std::filesystem::path folder_of(int cpu) const { return folder_ / "per_cpu" / ("cpu" + std::to_string(cpu)); }

    // The number of events for which there was no room.
    std::int64_t lost(int cpu) const {
        std::ifstream file(folder_of(cpu) / "stats");
        std::int64_t sum = 0;
        for (std::string line; std::getline(file, line);) {
            for (const char* const name : {"overrun: ", "commit overrun: ", "dropped events: "}) {
                if (line.rfind(name, 0) == 0) sum += std::strtoll(line.c_str() + std::strlen(name), nullptr, 10);
            }
        }
        return sum;
    }

  private:
    static constexpr const char* prefix = "idlewave-";

    // Removes an instance and ends its tracer, if it has one.
    void remove(const std::filesystem::path& instance) const {
        write_text(instance / "current_tracer", "nop");
        rmdir(instance.c_str());
        if (OsnoiseSetting::has_duty(instance)) OsnoiseSetting(tracefs_).put_back(instance.filename());
    }

    // An instance with the number of this process is an orphan, too: this process has none yet, so it belongs to an
    // earlier one.
    void remove_orphans(const std::filesystem::path& all) const {
        std::vector<std::filesystem::path> orphans;
        std::error_code error;
        std::filesystem::directory_iterator entry(all, error);
        for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
            const std::string name = entry->path().filename();
            if (!name.starts_with(prefix)) continue;
            const auto owner = static_cast<pid_t>(std::strtol(name.c_str() + std::strlen(prefix), nullptr, 10));
            const bool gone = owner > 0 && kill(owner, 0) != 0 && errno == ESRCH;
            if (gone || owner == getpid()) orphans.push_back(entry->path());
        }
        for (const std::filesystem::path& orphan : orphans) remove(orphan);
    }

    // The clock is the counter's own ticks, else one that is never adjusted (its stamps are printed in whole
    // microseconds). A full buffer drops new events rather than old ones, as the probe's own recordings do.
    void set_up(double seconds, const std::vector<int>& cpus) {
        switch_to(false);
        for (const char* const clock : {"x86-tsc", "mono_raw"}) {
            if (!clock_.empty() || !write_text(folder_ / "trace_clock", clock).empty()) continue;
            clock_ = clock;
        }
        buffer_kb_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds * kb_per_second), 1024, 32 * 1024);
        const std::string small = make_buffers(cpus);
        write_text(folder_ / "options/overwrite", "0");
        write_text(folder_ / "options/irq-info", "1");
        if (clock_.empty()) why_ = "the tracer has neither the clock x86-tsc nor mono_raw";
        if (!small.empty())
            why_ = "the tracer's buffers cannot be made " + std::to_string(buffer_kb_) + " KB: " + small;
    }

    void use_osnoise(const OsnoiseSetting& osnoise) {
        why_no_osnoise_ = osnoise.why_not();
        if (osnoise.ours()) why_no_osnoise_ = osnoise.turn_threads_off();
        if (why_no_osnoise_.empty()) why_no_osnoise_ = write_text(folder_ / "current_tracer", "osnoise");
        why_no_osnoise_ = why_no_osnoise();
        if (!why_no_osnoise_.empty()) write_text(folder_ / "current_tracer", "nop");
    }

    // Each CPU of the machine has a buffer; only recorded CPUs have a large one. Returns an empty text on success.
    std::string make_buffers(const std::vector<int>& cpus) const {
        write_text(folder_ / "buffer_size_kb", "1");  // the smallest size
        for (const int cpu : cpus) {
            std::string why = write_text(folder_of(cpu) / "buffer_size_kb", std::to_string(buffer_kb_));
            if (!why.empty()) return why;
        }
        return "";
    }

    void enable() {
        std::vector<std::filesystem::path> events = {folder_ / "events/sched/sched_switch",
                                                     folder_ / "events/nmi/nmi_handler",
                                                     folder_ / "events/mce/mce_record"};
        for (const char* const system : {"irq", "irq_vectors", "ipi"}) {
            std::error_code error;
            for (const auto& entry : std::filesystem::directory_iterator(folder_ / "events" / system, error)) {
                const std::string name = entry.path().filename();
                if (name.ends_with("_entry") || name.ends_with("_exit")) events.push_back(entry.path());
            }
        }
        if (why_no_osnoise_.empty()) {
            for (const char* const event : {"irq_noise", "softirq_noise", "thread_noise", "nmi_noise"}) {
                events.push_back(folder_ / "events/osnoise" / event);
            }
        }
        bool any = false;
        for (const auto& event : events) any = write_text(event / "enable", "1").empty() || any;
        if (!any) why_ = "none of the kernel's events about interrupts and scheduling can be switched on";
    }

    // A mask of CPUs: hexadecimal, the highest CPU first, in groups of 32.
    static std::string mask_of(const std::vector<int>& cpus) {
        const int highest = *std::max_element(cpus.begin(), cpus.end());
        std::vector<std::uint32_t> groups(static_cast<std::size_t>(highest) / 32 + 1);
        for (const int cpu : cpus) groups[static_cast<std::size_t>(cpu) / 32] |= 1U << (cpu % 32);
        std::string result;
        for (std::size_t i = groups.size(); i-- > 0;) {
            std::array<char, 16> text{};
            std::snprintf(text.data(), text.size(), "%08x%s", groups[i], i == 0 ? "" : ",");
            result += text.data();
        }
        return result;
    }

    static constexpr double kb_per_second = 512;

    std::filesystem::path tracefs_;
    std::filesystem::path folder_;
    std::string clock_;
    std::int64_t buffer_kb_ = 0;
    std::string why_no_osnoise_;
    std::string why_;
};

}  // namespace idlewave::probe
