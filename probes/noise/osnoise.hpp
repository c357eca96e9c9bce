// The kernel's osnoise tracer, without the threads by which it measures unless it is told not to (from Linux 6.2 on):
// they would be noise to the probe. That they are off is a setting of the whole machine, put back at the end. Who looks
// and changes it holds the lock of tracefs: the probes of a job begin and end together.
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
        const std::string options = read_options();
        if (options.find("OSNOISE_WORKLOAD") == std::string::npos) {
            why_ = options.empty() ? "the kernel shows no osnoise tracer"
                                   : "the kernel's osnoise tracer has no option to do without its own threads";
            return;
        }
        const bool threads = !threads_are_off();
        for_each_tracer([&](const std::string& tracer, const std::string& instance) {
            // It cannot run beside timerlat, and whoever measures by its threads would lose them.
            if (tracer == "timerlat" || (tracer == "osnoise" && threads)) why_ = tracer + " is already in use";
            ours_ = ours_ || has_duty(instance);
        });
        ours_ = ours_ || threads;
    }

    bool usable() const { return why_.empty(); }
    const std::string& why_not() const { return why_; }
    bool ours() const { return usable() && ours_; }

    static bool has_duty(const std::string& instance) { return instance.ends_with(duty); }

    bool threads_are_off() const { return read_options().find("NO_OSNOISE_WORKLOAD") != std::string::npos; }

    // Empty if it worked.
    std::string turn_threads_off() const { return write_text(options_file(), "NO_OSNOISE_WORKLOAD"); }

    // Not while another with the duty traces.
    static void put_back(const std::filesystem::path& tracefs) {
        bool another = false;
        const OsnoiseSetting now(tracefs);
        now.for_each_tracer([&](const std::string&, const std::string& name) { another |= has_duty(name); });
        if (!another) write_text(now.options_file(), "OSNOISE_WORKLOAD");
    }

  private:
    std::filesystem::path options_file() const { return tracefs_ / "osnoise/options"; }

    std::string read_options() const { return read_line(options_file()).value_or(""); }

    // Of the machine ("") and of all instances. Without exceptions: it is also put back when a run fails.
    template <class Use>
    void for_each_tracer(Use use) const {
        use(read_line(tracefs_ / "current_tracer").value_or(""), "");
        std::error_code error;
        std::filesystem::directory_iterator instance(tracefs_ / "instances", error);
        for (const std::filesystem::directory_iterator end; !error && instance != end; instance.increment(error)) {
            use(read_line(instance->path() / "current_tracer").value_or(""), instance->path().filename());
        }
    }

    std::filesystem::path tracefs_;
    bool ours_ = false;
    std::string why_;
};

}  // namespace idlewave
