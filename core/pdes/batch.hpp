#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pdes/event.hpp"

namespace idlewave::pdes {

/// The events of a window, LP by LP. They are sorted by LP through an index of 8 bytes an event; the events of one LP
/// are few, and are put in order when their LP's turn comes.
template <class Payload>
class Batch {
  public:
    using Item = Event<Payload>;

    explicit Batch(std::uint32_t lps) : bits_(static_cast<unsigned>(std::bit_width(lps - 1U))) {}

    /// The events to sort; what the vector holds is taken, and an emptied one is left.
    std::vector<Item>& items() { return items_; }

    void sort() {
        index_.clear();
        for (std::size_t i = 0; i < items_.size(); ++i) {
            index_.push_back(std::uint64_t{items_[i].destination} << 32 | i);
        }
        if (index_.size() < fewest_for_radix) {
            std::sort(index_.begin(), index_.end());
        } else {
            sort_by_digits();
        }
        next_ = 0;
    }

    [[nodiscard]] bool done() const { return next_ == index_.size(); }

    /// How many events have not been taken.
    [[nodiscard]] std::size_t left() const { return index_.size() - next_; }

    /// The LP whose events come `ahead` places after the present one's first, or the last.
    [[nodiscard]] std::uint32_t lp(std::size_t ahead) const {
        return static_cast<std::uint32_t>(index_[std::min(next_ + ahead, index_.size() - 1)] >> 32);
    }

    [[nodiscard]] const Item& item(std::size_t ahead) const {
        return items_[index_[std::min(next_ + ahead, index_.size() - 1)] & 0xffffffff];
    }

    /// The events of the next LP, in order; valid until the next call.
    std::span<const Item> take() {
        const std::size_t first = next_;
        const std::uint64_t lp = index_[first] >> 32;
        do {
            ++next_;
        } while (next_ < index_.size() && index_[next_] >> 32 == lp);
        if (next_ == first + 1) {
            return {&items_[index_[first] & 0xffffffff], 1};
        }
        own_.clear();
        for (std::size_t i = first; i < next_; ++i) {
            own_.push_back(items_[index_[i] & 0xffffffff]);
        }
        std::sort(own_.begin(), own_.end(), [](const Item& a, const Item& b) {
            if (a.time != b.time) {
                return a.time < b.time;
            }
            return a.source != b.source ? a.source < b.source : a.sequence < b.sequence;
        });
        return own_;
    }

  private:
    static constexpr std::size_t fewest_for_radix = 256;
    static constexpr unsigned digit_bits = 11;

    /// Least significant digit first; stable, so events stay in the order in which they were sent.
    void sort_by_digits() {
        other_.resize(index_.size());
        for (unsigned done = 0; done < bits_; done += digit_bits) {
            const unsigned shift = 32 + done;
            constexpr std::uint64_t mask = (1U << digit_bits) - 1;
            std::array<std::size_t, mask + 1> begins{};
            for (const std::uint64_t key : index_) {
                ++begins[key >> shift & mask];
            }
            std::size_t sum = 0;
            for (std::size_t& begin : begins) {
                const std::size_t count = begin;
                begin = sum;
                sum += count;
            }
            for (const std::uint64_t key : index_) {
                other_[begins[key >> shift & mask]++] = key;
            }
            index_.swap(other_);
        }
    }

    unsigned bits_;
    std::vector<Item> items_;
    std::vector<std::uint64_t> index_;  ///< LP in the high half, place in items_ in the low one
    std::vector<std::uint64_t> other_;
    std::vector<Item> own_;  ///< the events of one LP
    std::size_t next_ = 0;
};

}  // namespace idlewave::pdes
