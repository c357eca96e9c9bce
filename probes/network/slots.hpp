// The memory that messages come from and go to.
//
// Each message of a train is sent from a slot of its own, and every slot is written shortly before, as a program's
// messages are: a buffer sent twice would be in both sides' caches the second time, and its bytes would seem cheap.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

namespace idlewave::network {

class Slots {
  public:
    // `head` bytes before each message are the transport's own.
    explicit Slots(int max_size, int head = 0)
        : head_(static_cast<std::size_t>(head)),
          stride_((static_cast<std::size_t>(max_size) + head_ + 63) / 64 * 64),
          slots_(static_cast<int>(std::clamp<std::size_t>(limit / stride_, 1, most))),
          outgoing_(stride_ * static_cast<std::size_t>(slots_), 1),
          incoming_(stride_, 1) {}

    void refresh(int size, int messages) {
        ++value_;
        for (int i = 0; i < std::min(messages, slots_); ++i) {
            std::memset(outgoing(i) + head_, value_, static_cast<std::size_t>(size));
        }
    }

    char* outgoing(int message) { return outgoing_.data() + stride_ * static_cast<std::size_t>(message % slots_); }
    char* incoming() { return incoming_.data(); }
    int count() const { return slots_; }

  private:
    static constexpr std::size_t limit = 33'554'432;  // bytes in all slots together
    static constexpr std::size_t most = 64;

    std::size_t head_;
    std::size_t stride_;
    int slots_;
    std::vector<char> outgoing_;
    std::vector<char> incoming_;
    char value_ = 1;
};

}  // namespace idlewave::network
