#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace idlewave {

/// A hash map from 32-bit keys other than 0xffffffff. Without entries it allocates no memory, as every simulated rank
/// has one. Open addressing; removal leaves no tombstones.
template <class T>
class SmallMap {
  public:
    [[nodiscard]] bool empty() const { return size_ == 0; }

    /// The value of `key`, or null.
    [[nodiscard]] T* find(std::uint32_t key) { return const_cast<T*>(std::as_const(*this).find(key)); }
    [[nodiscard]] const T* find(std::uint32_t key) const {
        if (size_ == 0) {
            return nullptr;
        }
        const Entry& entry = entries_[slot_of(key)];
        return entry.key == key ? &entry.value : nullptr;
    }

    /// Adds a value for a new key. Invalidates pointers.
    void add(std::uint32_t key, const T& value) {
        if (4 * (std::uint64_t{size_} + 1) > 3 * std::uint64_t{capacity_}) {
            grow();
        }
        entries_[slot_of(key)] = {key, value};
        ++size_;
    }

    /// Removes a key, which must be present.
    void remove(std::uint32_t key) {
        std::uint32_t hole = slot_of(key);
        --size_;
        // Entries behind the hole that would no longer be found move into it.
        for (std::uint32_t i = next(hole); entries_[i].key != none; i = next(i)) {
            const std::uint32_t home = hash(entries_[i].key);
            if (((i - home) & (capacity_ - 1)) >= ((i - hole) & (capacity_ - 1))) {
                entries_[hole] = entries_[i];
                hole = i;
            }
        }
        entries_[hole].key = none;
    }

    /// Passes all entries to an archive, in the order of their keys.
    template <class Archive>
    void serialise(Archive& archive) {
        std::vector<Entry> entries;
        for (std::uint32_t i = 0; i < capacity_; ++i) {
            if (entries_[i].key != none) {
                entries.push_back(entries_[i]);
            }
        }
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
        auto count = static_cast<std::uint32_t>(entries.size());
        archive(count);
        if constexpr (Archive::is_loading) {
            *this = {};
        }
        entries.resize(count);
        for (Entry& entry : entries) {
            archive(entry.key);
            archive(entry.value);
            if constexpr (Archive::is_loading) {
                add(entry.key, entry.value);
            }
        }
    }

  private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::uint32_t least = 4;

    struct Entry {
        std::uint32_t key = none;
        T value = {};
    };

    [[nodiscard]] std::uint32_t hash(std::uint32_t key) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
        return static_cast<std::uint32_t>(key * odd >> 32) & (capacity_ - 1);
    }
    [[nodiscard]] std::uint32_t next(std::uint32_t slot) const { return (slot + 1) & (capacity_ - 1); }

    /// The slot of `key`, or the free slot for it.
    [[nodiscard]] std::uint32_t slot_of(std::uint32_t key) const {
        std::uint32_t slot = hash(key);
        while (entries_[slot].key != key && entries_[slot].key != none) {
            slot = next(slot);
        }
        return slot;
    }

    void grow() {
        const std::unique_ptr<Entry[]> old = std::move(entries_);
        const std::uint32_t old_capacity = capacity_;
        capacity_ = old_capacity == 0 ? least : 2 * old_capacity;
        entries_ = std::make_unique<Entry[]>(capacity_);
        for (std::uint32_t i = 0; i < old_capacity; ++i) {
            if (old[i].key != none) {
                entries_[slot_of(old[i].key)] = old[i];
            }
        }
    }

    std::unique_ptr<Entry[]> entries_;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

}  // namespace idlewave
