// How a probe gives up: thrown, so that everything that was set up is taken down on the way to main.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace idlewave {

constexpr int status_failed = 1;
constexpr int status_usage = 2;

class Failure : public std::runtime_error {
  public:
    Failure(int status, const std::string& message) : std::runtime_error(message), status_(status) {}

    int status() const { return status_; }

  private:
    int status_;
};

inline Failure failed(const std::string& message) {
    return {status_failed, message};
}

inline Failure refused(const std::string& message) {
    return {status_usage, message};
}

// The whole of a program's main around what it does: the error's message and the exit status.
template <class Body>
int report_failures(const std::string& program, const Body& body) {
    try {
        body();
        return 0;
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%s: %s\n", program.c_str(), failure.what());
        return failure.status();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
        return status_failed;
    }
}

// The system's word for a number of errno.
inline std::string system_word(int number) {
    return std::strerror(number);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

}  // namespace idlewave
