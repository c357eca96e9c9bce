// The kernel's osnoise tracer without its own measuring threads (an option from Linux 6.2 on), which would be noise to
// the probe. That they are off is a setting of the whole machine, which is restored at the end. A process that reads
// and changes the setting holds the lock of tracefs, because the probes of a job begin and end together.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "common/files.hpp"

namespace idlewave::probe {

class OsnoiseSetting {
  public:
    // An instance whose name ends so must restore the setting at its end, whichever process made it.
    static constexpr const char* duty = ".osnoise";

    explicit OsnoiseSetting(const std::filesystem::path& tracefs) : tracefs_(tracefs) {
        if (read_options().find("OSNOISE_WORKLOAD") == std::string::npos) {
            std::error_code error;
            why_ = std::filesystem::exists(tracefs_ / "osnoise", error)
                       ? "the kernel's osnoise tracer has no option to do without its own threads"
                       : "the kernel shows no osnoise tracer";
            return;
        }
        const bool threads = !threads_are_off();
        for_each_tracer([&](const std::string& tracer, const std::string& instance) {
            // It cannot run beside timerlat, and a user who measures by its threads would lose them.
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

    // Returns an empty text on success. If the threads are off nothing is written: a write alone interrupts every
    // recording of net lengths for a moment.
    std::string turn_threads_off() const {
        return threads_are_off() ? "" : write_text(options_file(), "NO_OSNOISE_WORKLOAD");
    }

    // Called by the instance that must restore the setting, at its end. Does nothing while another instance must
    // restore it, or while somebody else uses the tracer or timerlat: a write would end their threads.
    void put_back(const std::string& instance) const {
        bool in_use = false;
        for_each_tracer([&](const std::string& tracer, const std::string& name) {
            const bool runs = tracer == "osnoise" || tracer == "timerlat";
            in_use = in_use || (name != instance && (runs || has_duty(name)));
        });
        if (!in_use && threads_are_off()) write_text(options_file(), "OSNOISE_WORKLOAD");
    }

  private:
    std::filesystem::path options_file() const { return tracefs_ / "osnoise/options"; }

    std::string read_options() const { return read_line(options_file()).value_or(""); }

    // Calls `use` with the tracer of the machine ("") and of all instances. Throws nothing: the setting is also
    // restored when a run fails.
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

}  // namespace idlewave::probe
