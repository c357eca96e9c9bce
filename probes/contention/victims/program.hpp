// Any program as a victim: it is started for each iteration, and timed as a whole, until it has ended.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/stop.hpp"
#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

// The program runs on the core of the thread that calls run(). Its output goes to the error stream.
class Program : public Victim {
  public:
    explicit Program(std::vector<std::string> words) : words_(std::move(words)) {}

    void reset() override {}

    double run() override {
        const pid_t child = fork();
        if (child < 0) throw failed("the command cannot be started: " + system_word(errno));
        if (child == 0) become();
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

  private:
    static constexpr int missing = 127;

    [[noreturn]] void become() {
        std::vector<char*> arguments;
        arguments.reserve(words_.size() + 1);
        for (std::string& word : words_) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        signal(SIGPIPE, SIG_DFL);  // which this process ignores
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(arguments.front(), arguments.data());
        _exit(missing);
    }

    std::vector<std::string> words_;
};

}  // namespace idlewave::probe::contention
