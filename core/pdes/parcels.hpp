#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/huge_memory.hpp"

namespace idlewave::pdes {

/// A payload that does not fit into an event's 16 bytes.
template <class Payload>
struct Parcel {
    std::uint32_t sequence = 0;
    Payload payload;
};

/// Where parcels lie, for all threads: whoever sends one takes it, whoever is told gives it back.
template <class Payload>
class ParcelStore {
  public:
    static constexpr std::uint32_t slab_size = 1 << 12;

    Parcel<Payload>& operator[](std::uint32_t number) { return slabs_[number / slab_size][number % slab_size]; }

    /// Numbers that nobody uses, at least one.
    void take(std::vector<std::uint32_t>& numbers) {
        const std::lock_guard lock(mutex_);
        if (!left_over_.empty()) {
            numbers.insert(numbers.end(), left_over_.end() - slab_size, left_over_.end());
            left_over_.erase(left_over_.end() - slab_size, left_over_.end());
            return;
        }
        if (count_ == slabs_.size()) {
            throw InputError("more than " + std::to_string(slabs_.size() * slab_size) +
                             " large messages are under way at one time");
        }
        owned_.push_back(std::make_unique<Parcel<Payload>[]>(slab_size));
        slabs_[count_] = owned_.back().get();
        for (std::uint32_t i = slab_size; i-- > 0;) {
            numbers.push_back(static_cast<std::uint32_t>(count_) * slab_size + i);
        }
        ++count_;
    }

    /// Takes one slab's worth of numbers from the end of `numbers`.
    void give(std::vector<std::uint32_t>& numbers) {
        const std::lock_guard lock(mutex_);
        left_over_.insert(left_over_.end(), numbers.end() - slab_size, numbers.end());
        numbers.erase(numbers.end() - slab_size, numbers.end());
    }

  private:
    std::mutex mutex_;
    std::vector<std::uint32_t> left_over_;
    std::size_t count_ = 0;
    std::vector<std::unique_ptr<Parcel<Payload>[]>> owned_;
    /// A directory of its full size, so that a reader never meets one that grows.
    HugeArray<Parcel<Payload>*> slabs_{1 << 18};
};

/// A thread's parcels.
template <class Payload>
class ParcelPool {
  public:
    explicit ParcelPool(ParcelStore<Payload>& store) : store_(store) {}

    template <class... Parts>
    [[gnu::always_inline]] std::uint32_t put(std::uint32_t sequence, const Parts&... payload) {
        if (numbers_.empty()) {
            store_.take(numbers_);
        }
        const std::uint32_t number = numbers_.back();
        numbers_.pop_back();
        Parcel<Payload>& parcel = store_[number];
        parcel.sequence = sequence;
        std::construct_at(&parcel.payload, payload...);
        return number;
    }

    [[nodiscard]] const Parcel<Payload>& operator[](std::uint32_t number) const { return store_[number]; }

    /// Bring a parcel into the cache.
    [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
        const auto* bytes = reinterpret_cast<const char*>(&store_[number]);
        for (std::size_t byte = 0; byte < sizeof(Parcel<Payload>); byte += 64) {
            __builtin_prefetch(bytes + byte);
        }
    }

    void remove(std::uint32_t number) {
        numbers_.push_back(number);
        if (numbers_.size() >= 4 * ParcelStore<Payload>::slab_size) {
            store_.give(numbers_);
        }
    }

  private:
    ParcelStore<Payload>& store_;
    std::vector<std::uint32_t> numbers_;
};

}  // namespace idlewave::pdes
