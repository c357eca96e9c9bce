// SIGINT and SIGTERM ask for an end; what was recorded stays.
#pragma once

#include <csignal>

namespace idlewave::network {

inline volatile std::sig_atomic_t interrupt_flag = 0;

inline bool interrupted() {
    return interrupt_flag != 0;
}

// Calls of the system go on: the sample that is under way ends first.
inline void catch_interrupts() {
    struct sigaction action{};
    action.sa_handler = [](int) { interrupt_flag = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

}  // namespace idlewave::network
