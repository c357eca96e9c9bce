// The error that ends a probe. It is thrown, so that destructors undo everything that was set up.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace idlewave::probe {

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

// Runs `body`. Returns its failure, if there is one.
template <class Body>
std::optional<Failure> failure_of(const Body& body) {
    try {
        body();
        return std::nullopt;
    } catch (const Failure& failure) {
        return failure;
    } catch (const std::exception& error) {
        return failed(error.what());
    }
}

// Prints the message to standard error. Returns the exit status.
inline int report(const std::string& program, const Failure& failure) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), failure.what());
    std::fflush(stderr);
    return failure.status();
}

// Runs `body` as a program's main. Returns the exit status.
template <class Body>
int report_failures(const std::string& program, const Body& body) {
    const std::optional<Failure> failure = failure_of(body);
    return failure ? report(program, *failure) : 0;
}

// The system's message for a value of errno.
inline std::string system_word(int number) {
    return std::strerror(number);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

}  // namespace idlewave::probe
