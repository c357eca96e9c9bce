// Any program as a victim: it is started for each iteration, and timed as a whole, until it has ended.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/stop.hpp"
#include "contention/counters.hpp"
#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

// A child that waits until it is let go, or ends with who started it.
class Gate {
  public:
    Gate() {
        if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw failed("the command cannot be started: " + system_word(errno));
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate() {
        for (const int end : ends_) close(end);
    }

    // In the child. Returns whether it was let go.
    [[nodiscard]] bool wait() {
        close(ends_[1]);
        char go = 0;
        return read(ends_[0], &go, 1) == 1;
    }
    void open() {
        constexpr char go = 1;
        if (write(ends_[1], &go, 1) != 1) throw failed("the command cannot be started: " + system_word(errno));
    }

  private:
    std::array<int, 2> ends_{};
};

// The program runs on the core of the thread that calls run(). Its output goes to the error stream.
class Program : public Victim {
  public:
    Program(std::vector<std::string> words, CounterSource& source, std::optional<std::uint64_t> l2_event)
        : words_(std::move(words)), source_(source), l2_event_(l2_event) {}

    void reset() override {}

    double run() override {
        Gate gate;
        const pid_t child = fork();
        if (child < 0) throw failed("the command cannot be started: " + system_word(errno));
        if (child == 0) become(gate);
        counters_ = std::make_unique<Counters>(source_, l2_event_, Counted{child});
        gate.open();
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status) && !stop_asked()) {
            throw failed("the command " + words_.front() + " was ended by signal " + std::to_string(WTERMSIG(status)));
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && !stop_asked()) {
            throw failed("the command " + words_.front() + " failed: its exit status is " +
                         std::to_string(WEXITSTATUS(status)) +
                         (WEXITSTATUS(status) == missing ? ", as if not found" : ""));
        }
        return 0;
    }

    [[nodiscard]] bool is_right(double /*result*/) const override { return true; }
    [[nodiscard]] const Counters* counters() const override { return counters_.get(); }

  private:
    static constexpr int missing = 127;

    [[noreturn]] void become(Gate& gate) {
        std::vector<char*> arguments;
        arguments.reserve(words_.size() + 1);
        for (std::string& word : words_) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        if (!gate.wait()) _exit(missing);
        signal(SIGPIPE, SIG_DFL);  // which this process ignores
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(arguments.front(), arguments.data());
        _exit(missing);
    }

    std::vector<std::string> words_;
    CounterSource& source_;
    std::optional<std::uint64_t> l2_event_;
    std::unique_ptr<Counters> counters_;
};

}  // namespace idlewave::probe::contention
