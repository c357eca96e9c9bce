// The kernel's osnoise tracer, without the threads by which it measures unless it is told not to (from Linux 6.2 on):
// they would be noise to the probe. That they are off is a setting of the whole machine, put back at the end.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "common/files.hpp"

namespace idlewave {

class OsnoiseSetting {
  public:
    // An instance whose name ends so has the duty to put the setting back, whichever process made it.
    static constexpr const char* duty = ".osnoise";

    explicit OsnoiseSetting(const std::filesystem::path& tracefs) : tracefs_(tracefs) {
        const std::string options = read_line(options_file()).value_or("");
        if (options.find("OSNOISE_WORKLOAD") == std::string::npos) {
            why_ = options.empty() ? "the kernel has no osnoise tracer"
                                   : "the kernel's osnoise tracer has no option to do without its own threads";
            return;
        }
        const bool threads = options.find("NO_OSNOISE_WORKLOAD") == std::string::npos;
        for_each_tracer([&](const std::string& tracer, const std::string& instance) {
            // It cannot run beside timerlat, and whoever measures by its threads would lose them.
            if (tracer == "timerlat" || (tracer == "osnoise" && threads)) why_ = tracer + " is already in use";
            if (tracer == "osnoise" && has_duty(instance)) ours_ = true;
        });
        ours_ = ours_ || threads;
    }

    bool usable() const { return why_.empty(); }
    const std::string& why_not() const { return why_; }
    bool ours() const { return usable() && ours_; }

    static bool has_duty(const std::string& instance) {
        const std::string end = duty;
        return instance.size() > end.size() && instance.compare(instance.size() - end.size(), end.size(), end) == 0;
    }

    // Empty if it worked.
    std::string turn_threads_off() const { return write_text(options_file(), "NO_OSNOISE_WORKLOAD"); }

    // Not while someone still traces without them.
    static void put_back(const std::filesystem::path& tracefs) {
        bool in_use = false;
        const OsnoiseSetting now(tracefs);
        now.for_each_tracer([&](const std::string& tracer, const std::string&) { in_use |= tracer == "osnoise"; });
        if (!in_use) write_text(now.options_file(), "OSNOISE_WORKLOAD");
    }

  private:
    std::filesystem::path options_file() const { return tracefs_ / "osnoise/options"; }

    // Of the machine ("") and of all instances.
    template <class Use>
    void for_each_tracer(Use use) const {
        use(read_line(tracefs_ / "current_tracer").value_or(""), "");
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(tracefs_ / "instances", error)) {
            use(read_line(entry.path() / "current_tracer").value_or(""), entry.path().filename());
        }
    }

    std::filesystem::path tracefs_;
    bool ours_ = false;
    std::string why_;
};

}  // namespace idlewave
