// The posted receive queue of schedule_loop.cpp.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace schedule_loop {

constexpr std::uint32_t none = 0xffffffff;

struct Posted {
    std::uint32_t source;
    std::uint32_t tag;
    std::uint32_t op;
};

/// Receives in the order in which they were posted; an index leads to them once they are many.
class PostedReceives {
  public:
    void add(const Posted& receive) {
        if (waiting_ == 0) {
            receives_.clear();
            index_.clear();
        }
        receives_.push_back(receive);
        ++waiting_;
        if (!index_.empty()) {
            3 * receives_.size() > 2 * index_.size() ? build() : enter(receives_.size() - 1);
        }
    }

    /// The oldest receive that a message matches, or none.
    std::uint32_t take(std::uint32_t source, std::uint32_t tag) {
        if (waiting_ > most_to_search && index_.empty()) {
            build();
        }
        if (index_.empty()) {
            for (Posted& receive : receives_) {
                if (receive.op != none && receive.source == source && receive.tag == tag) {
                    return taken(receive);
                }
            }
            return none;
        }
        for (std::size_t i = home(source, tag); index_[i] != 0; i = (i + 1) & (index_.size() - 1)) {
            Posted& receive = receives_[index_[i] - 1];
            if (receive.op != none && receive.source == source && receive.tag == tag) {
                return taken(receive);
            }
        }
        return none;
    }

    void prefetch(std::uint32_t source, std::uint32_t tag) const {
        if (!index_.empty()) {
            __builtin_prefetch(&index_[home(source, tag)]);
        }
    }
    void prefetch_receive(std::uint32_t source, std::uint32_t tag) const {
        if (!index_.empty()) {
            __builtin_prefetch(receives_.data() + index_[home(source, tag)] - 1, 1);
        }
    }

  private:
    static constexpr std::uint32_t most_to_search = 16;

    std::uint32_t taken(Posted& receive) {
        --waiting_;
        return std::exchange(receive.op, none);
    }
    [[nodiscard]] std::size_t home(std::uint32_t source, std::uint32_t tag) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
        return ((std::uint64_t{source} << 32 | tag) * odd >> 32) & (index_.size() - 1);
    }
    void enter(std::size_t position) {
        std::size_t i = home(receives_[position].source, receives_[position].tag);
        while (index_[i] != 0) {
            i = (i + 1) & (index_.size() - 1);
        }
        index_[i] = static_cast<std::uint32_t>(position + 1);
    }
    void build() {
        std::erase_if(receives_, [](const Posted& receive) { return receive.op == none; });
        std::size_t slots = 4 * most_to_search;
        while (slots < 3 * receives_.size()) {
            slots *= 2;
        }
        index_.assign(slots, 0);
        for (std::size_t position = 0; position < receives_.size(); ++position) {
            enter(position);
        }
    }

    std::vector<Posted> receives_;
    std::vector<std::uint32_t> index_;  ///< 1 + position, by hash with linear probing
    std::uint32_t waiting_ = 0;
};

}  // namespace schedule_loop
