#include "base/pinned.hpp"

#include <pthread.h>

namespace idlewave {

Pinned::Pinned(std::uint32_t number) {
    CPU_ZERO(&before_);
    if (::pthread_getaffinity_np(::pthread_self(), sizeof before_, &before_) != 0) {
        return;
    }
    const int count = CPU_COUNT(&before_);
    if (count < 2) {
        return;
    }
    int left = static_cast<int>(number % static_cast<std::uint32_t>(count));
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(processor, &before_) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            pinned_ = ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one) == 0;
            return;
        }
    }
}

Pinned::~Pinned() {
    if (pinned_) {
        ::pthread_setaffinity_np(::pthread_self(), sizeof before_, &before_);
    }
}

}  // namespace idlewave
