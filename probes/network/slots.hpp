// The buffers of messages.
//
// Each message of a train is sent from a slot of its own, and every slot is written shortly before, as a program's
// messages are: a buffer sent twice would be in both sides' caches the second time, and its bytes would seem cheap.
//
// If the kernel copies from process to process, each page costs time. So every slot begins at the same byte of a page,
// chosen so that messages extend into another page at sizes at which no library changes its protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "common/page.hpp"

namespace idlewave::probe::network {

class Slots {
  public:
    static constexpr std::size_t in_page = 1088;  // where a slot begins: at a cache line, far from powers of two

    // The transport uses `head` bytes before each message.
    explicit Slots(int max_size, int head = 0)
        : head_(static_cast<std::size_t>(head)),
          stride_(whole_pages(in_page + head_ + static_cast<std::size_t>(max_size))),
          slots_(static_cast<int>(std::clamp<std::size_t>(limit / stride_, 1, most))),
          outgoing_(new_pages(stride_ * static_cast<std::size_t>(slots_))),
          incoming_(new_pages(stride_)) {}

    void refresh(int size, int messages) {
        ++value_;
        for (int i = 0; i < std::min(messages, slots_); ++i) {
            std::memset(outgoing(i) + head_, value_, static_cast<std::size_t>(size));
        }
    }

    char* outgoing(int message) {
        return outgoing_.get() + stride_ * static_cast<std::size_t>(message % slots_) + in_page;
    }
    char* incoming() { return incoming_.get() + in_page; }
    int count() const { return slots_; }

  private:
    static constexpr std::size_t limit = 33'554'432;  // bytes in all slots together
    static constexpr std::size_t most = 64;

    std::size_t head_;
    std::size_t stride_;
    int slots_;
    PageMemory outgoing_;
    PageMemory incoming_;
    char value_ = 1;
};

}  // namespace idlewave::probe::network
