#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/random.hpp"
#include "pdes/model.hpp"

namespace idlewave::pdes {

/// A digest of the number of an LP and of some bytes.
inline std::uint64_t digest_of_bytes(std::uint32_t lp, std::span<const std::byte> bytes) {
    std::uint64_t digest = philox({lp, bytes.size(), 0, 0}, {0, 0})[0];
    while (!bytes.empty()) {
        std::array<std::uint64_t, 3> words = {};
        const std::size_t taken = std::min(bytes.size(), sizeof words);
        std::memcpy(words.data(), bytes.data(), taken);
        digest = philox({digest, words[0], words[1], words[2]}, {0, 0})[0];
        bytes = bytes.subspan(taken);
    }
    return digest;
}

/// What an LP adds to the digest of a run: what the model computes (has_digest), else a digest of the state's bytes.
template <Model M>
std::uint64_t digest_of(const M& model, std::uint32_t lp, const typename M::State& state) {
    using State = typename M::State;
    if constexpr (has_digest<M>) {
        return model.digest(lp, state);
    } else if constexpr (std::is_empty_v<State>) {
        return digest_of_bytes(lp, {});
    } else {
        static_assert(
            std::has_unique_object_representations_v<State>,
            "has_digest: equal states may have different bytes, because of padding or floating-point members; "
            "reorder the members, or give the model a function std::uint64_t digest(lp, state)");
        return digest_of_bytes(lp, std::as_bytes(std::span(&state, 1)));
    }
}

}  // namespace idlewave::pdes
