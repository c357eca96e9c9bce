#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/archive.hpp"
#include "base/error.hpp"
#include "pdes/partition.hpp"

/// Whether a model undoes what it did and does the same twice: visits made on trial (Manner::check).
namespace idlewave::pdes {

/// Makes a visit, undoes it and compares, and makes it a second time: whoever makes it a third time finds all as it
/// was. Throws LogicError if the model does not undo what it did, or does not do the same twice.
template <Model M, class Port>
[[gnu::noinline]] void Partition<M, Port>::check_visit(const Context& context, std::span<const Stored> told,
                                                       Time begins) {
    Context trial = context;
    trial.logged = true;
    trial.dry = true;
    trial.journal = &journal_;
    trial.withdrawn = nullptr;
    Lp<State>& lp = *context.record;
    const auto fail = [&](const std::string& what) {
        throw LogicError("LP " + std::to_string(context.lp) + ", from " + std::to_string(begins) + " ps on: " + what);
    };
    const std::vector<std::byte> before = bytes_of(lp.state, context.lp);
    const std::uint32_t sequence = lp.sequence;
    const std::uint32_t timer = lp.timer;
    std::vector<std::byte> after;
    std::vector<Sent> sent;
    for (int time = 0; time < 2; ++time) {
        clear_scratch();
        const std::uint64_t counted = worker_.counted();
        worker_.run(lp.state, opening_.open_all(lp, told, begins, trial.until, grid_), trial.until, trial);
        worker_.counted() = counted;
        if (time == 0) {
            sent = sent_;
            after = bytes_of(lp.state, context.lp);
        } else if (sent != sent_ || after != bytes_of(lp.state, context.lp)) {
            fail("handling the same events a second time leads to something else");
        }
        restore_state(lp, before.data(), journal_, context.lp);
        lp.sequence = sequence;
        lp.timer = timer;
        if (before != bytes_of(lp.state, context.lp)) {
            fail("undoing its events does not lead back to the state before them");
        }
    }
}

/// All that an LP is.
template <Model M, class Port>
std::vector<std::byte> Partition<M, Port>::bytes_of(const State& state, std::uint32_t number) {
    std::vector<std::byte> bytes;
    if constexpr (packs) {
        Serialiser packer(bytes);
        worker_.pack(state, number, packer);
    } else {
        bytes.resize(sizeof state);
        std::memcpy(bytes.data(), &state, sizeof state);  // what lies between the fields, too
    }
    return bytes;
}

}  // namespace idlewave::pdes
