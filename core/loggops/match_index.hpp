#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "goal/op.hpp"

namespace idlewave {

inline constexpr std::size_t no_place = ~std::size_t{0};

/// Places of a list by source and tag, oldest first.
class PlacesByKey {
  public:
    void add(std::uint32_t source, std::uint32_t tag, std::size_t place) {
        lists_[key(source, tag)].places.push_back(place);
    }

    /// The oldest place of a key that still `waits`, or no_place.
    template <class Waits>
    [[nodiscard]] std::size_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        const auto found = lists_.find(key(source, tag));
        if (found == lists_.end()) {
            return no_place;
        }
        Places& list = found->second;
        while (list.next < list.places.size() && !waits(list.places[list.next])) {
            ++list.next;
        }
        if (list.next == list.places.size()) {
            lists_.erase(found);
            return no_place;
        }
        return list.places[list.next];
    }

    void clear() { lists_.clear(); }

  private:
    struct Places {
        std::vector<std::size_t> places;
        std::size_t next = 0;  ///< those before it are gone
    };

    static std::uint64_t key(std::uint32_t source, std::uint32_t tag) { return std::uint64_t{source} << 32 | tag; }

    struct Hash {
        std::size_t operator()(std::uint64_t k) const { return (k ^ k >> 29) * 0x9e3779b97f4a7c15U; }
    };
    std::unordered_map<std::uint64_t, Places, Hash> lists_;
};

/// An index of posted receives, each filed as it was posted, wildcards included. A message asks under the four ways in
/// which a receive can agree with it; only one without a tag would have to ask under every tag.
class PostedIndex {
  public:
    [[nodiscard]] static bool answers(std::uint32_t source, std::uint32_t tag) { return source != any && tag != any; }
    static bool extend_for(std::uint32_t /*source*/, std::uint32_t /*tag*/) { return false; }
    void add(std::uint32_t source, std::uint32_t tag, std::size_t place) {
        places_.add(source, tag, place);
        wild_ = wild_ || source == any || tag == any;
    }
    void clear() {
        places_.clear();
        wild_ = false;
    }

    template <class Waits>
    std::size_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        if (!wild_) {
            return places_.oldest(source, tag, waits);
        }
        return std::min(std::min(places_.oldest(source, tag, waits), places_.oldest(any, tag, waits)),
                        std::min(places_.oldest(source, any, waits), places_.oldest(any, any, waits)));
    }

  private:
    PlacesByKey places_;
    bool wild_ = false;  ///< a wildcard was posted
};

/// An index of unexpected messages. A receive asks once, as it is; from the first one with a wildcard on, messages are
/// filed under all that such a receive may ask for. Messages without a tag agree with any, and cannot be filed.
class UnexpectedIndex {
  public:
    [[nodiscard]] bool answers(std::uint32_t /*source*/, std::uint32_t /*tag*/) const { return without_tag_ == 0; }

    /// Whether the index has to be built again before it can answer.
    bool extend_for(std::uint32_t source, std::uint32_t tag) {
        const bool more = !wild_ && (source == any || tag == any);
        wild_ = wild_ || more;
        return more;
    }

    void add(std::uint32_t source, std::uint32_t tag, std::size_t place) {
        places_.add(source, tag, place);
        without_tag_ += tag == any ? 1 : 0;
        if (wild_) {
            places_.add(any, tag, place);
            places_.add(source, any, place);
            places_.add(any, any, place);
        }
    }

    void clear() {
        places_.clear();
        without_tag_ = 0;
    }

    template <class Waits>
    std::size_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        return places_.oldest(source, tag, waits);
    }

  private:
    PlacesByKey places_;
    bool wild_ = false;
    std::size_t without_tag_ = 0;
};

}  // namespace idlewave
