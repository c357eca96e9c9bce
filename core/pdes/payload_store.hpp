#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/huge_memory.hpp"

namespace idlewave::pdes {

/// A payload that does not fit into the 16 bytes of a QueuedEvent, and the sequence of its event.
template <class Payload>
struct PooledPayload {
    std::uint32_t sequence = 0;
    Payload payload;
};

/// The payloads of all threads. The sender's thread takes a free slot, the receiver's thread frees it.
template <class Payload>
class PayloadStore {
  public:
    static constexpr std::uint32_t slab_size = 1 << 12;

    PooledPayload<Payload>& operator[](std::uint32_t number) { return slabs_[number / slab_size][number % slab_size]; }

    /// Appends free slots to `numbers`, at least one.
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
        owned_.push_back(std::make_unique<PooledPayload<Payload>[]>(slab_size));
        slabs_[count_] = owned_.back().get();
        for (std::uint32_t i = slab_size; i-- > 0;) {
            numbers.push_back(static_cast<std::uint32_t>(count_) * slab_size + i);
        }
        ++count_;
    }

    /// Takes as many free slots as a slab has from the end of `numbers`.
    void give(std::vector<std::uint32_t>& numbers) {
        const std::lock_guard lock(mutex_);
        left_over_.insert(left_over_.end(), numbers.end() - slab_size, numbers.end());
        numbers.erase(numbers.end() - slab_size, numbers.end());
    }

  private:
    std::mutex mutex_;
    std::vector<std::uint32_t> left_over_;
    std::size_t count_ = 0;
    std::vector<std::unique_ptr<PooledPayload<Payload>[]>> owned_;
    /// The directory has its full size from the beginning, so that it never moves while another thread reads it.
    HugeArray<PooledPayload<Payload>*> slabs_{1 << 18, Pages::small};
};

/// The free slots of a thread, and access to all payloads.
template <class Payload>
class PayloadPool {
  public:
    explicit PayloadPool(PayloadStore<Payload>& store) : store_(store) {}

    template <class... Arguments>
    [[gnu::always_inline]] std::uint32_t put(std::uint32_t sequence, const Arguments&... payload) {
        if (free_slots_.empty()) {
            store_.take(free_slots_);
        }
        const std::uint32_t number = free_slots_.back();
        free_slots_.pop_back();
        PooledPayload<Payload>& slot = store_[number];
        slot.sequence = sequence;
        std::construct_at(&slot.payload, payload...);
        return number;
    }

    [[nodiscard]] const PooledPayload<Payload>& operator[](std::uint32_t number) const { return store_[number]; }

    /// Brings a payload into the cache.
    [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
        const auto* bytes = reinterpret_cast<const char*>(&store_[number]);
        for (std::size_t byte = 0; byte < sizeof(PooledPayload<Payload>); byte += 64) {
            __builtin_prefetch(bytes + byte);
        }
    }

    void remove(std::uint32_t number) {
        free_slots_.push_back(number);
        if (free_slots_.size() >= 4 * PayloadStore<Payload>::slab_size) {
            store_.give(free_slots_);
        }
    }

  private:
    PayloadStore<Payload>& store_;
    std::vector<std::uint32_t> free_slots_;
};

}  // namespace idlewave::pdes
