// How a probe gives up: thrown, so that everything that was set up is taken down on the way to main.
#pragma once

#include <cstring>
#include <string>

namespace idlewave {

constexpr int status_failed = 1;
constexpr int status_usage = 2;

struct Failure {
    int status = status_failed;
    std::string message;
};

inline Failure failed(std::string message) {
    return {status_failed, std::move(message)};
}

inline Failure refused(std::string message) {
    return {status_usage, std::move(message)};
}

// The system's word for a number of errno.
inline std::string system_word(int number) {
    return std::strerror(number);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
}

}  // namespace idlewave
