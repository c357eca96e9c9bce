#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "base/inline_vector.hpp"
#include "base/time.hpp"
#include "goal/listing.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// Where a rank stands that has not come to its end.
struct Stand {
    enum class Kind : std::uint8_t {
        ops,          ///< among its ops, some of which have not become ready
        instruction,  ///< at an instruction, `at` of `of`
        collective,   ///< in a collective operation, instruction `at` of `of`
        operation     ///< in operation `at`
    };
    Kind kind = Kind::ops;
    std::uint32_t at = 0;
    std::uint32_t of = 0;
};

/// For sources that know an op by its place alone.
struct NoCookie {};

inline constexpr std::uint32_t nobody = 0xffffffff;

/// Of a receive, where the source has `exchanges`: a send of the same size, tag, CPU and NIC, which is the next op, is
/// ready for this rank as soon as the receive has started, of which the source is then not told. Only sources that know
/// an op by its place have such.
template <class Cookie>
struct SendAlong {};
template <>
struct SendAlong<NoCookie> {
    std::uint32_t to = nobody;
};

/// An op whose requirements are met, and when they were. `cookie` is the source's own and comes back with every
/// notice of that op.
template <class Cookie, class Moment = Time>
struct ReadyOp {
    Moment at = {};
    Op op = {};
    Place place = 0;
    [[no_unique_address]] Cookie cookie = {};
    [[no_unique_address]] SendAlong<Cookie> along = {};
};

/// Ops that have just become ready.
template <class Cookie, class Moment = Time>
using ReadyOps = InlineVector<ReadyOp<Cookie, Moment>, 4>;

/// An op that has started or ended.
template <class Cookie, class Moment = Time>
struct Notice {
    const Moment& time;  ///< may lie ahead: an end may be told as soon as it is certain
    Place place = 0;
    [[no_unique_address]] Cookie cookie = {};
};

/// Where the simulated ranks get their ops from. A source is shared and immutable; all that changes in a run is in a
/// `State` per rank. It is told when ops start and end, and answers with the ops that this makes ready: in a list, but
/// for one that it may write to `next`, which it then says; else `next` means nothing. What it has to work out again
/// and again it may keep in a `Scratch`, of which every thread has its own. `one_of_each` says that no rank has more
/// than one CPU and one NIC, `exchanges` that some receives bring a send along.
///
/// `stand` says where a rank stands, or nothing if it has come to its end: all its ops were ready. `listing` is one
/// rank's ops and their requirements, each op at the place by which the source knows it.
///
/// `call` says of an op that is just starting to which operation it belongs, as a number (collectives/call_name.hpp).
///
/// A source whose State cannot be copied byte by byte has `keep`, which shows it to an archive (base/archive.hpp).
///
/// What is said here of times holds for every type of moment: a source compares and keeps them, `latest` of several is
/// the one that counts, and it makes none but the first, `Moment{}`.
template <class S>
concept Source =
    requires(const S& source, typename S::template State<Time>& state, const typename S::template State<Time>& view,
             typename S::Scratch& scratch, std::uint32_t rank, const Notice<typename S::Cookie>& notice,
             ReadyOp<typename S::Cookie>& next, ReadyOps<typename S::Cookie>& ready) {
        { source.ranks() } -> std::convertible_to<std::uint32_t>;
        { source.cpus() } -> std::convertible_to<std::uint32_t>;
        { source.nics() } -> std::convertible_to<std::uint32_t>;
        source.begin(rank, state, scratch, ready);
        { source.started(rank, state, scratch, notice, next, ready) } -> std::same_as<bool>;
        { source.ended(rank, state, scratch, notice, next, ready) } -> std::same_as<bool>;
        { S::one_of_each } -> std::convertible_to<bool>;
        { S::exchanges } -> std::convertible_to<bool>;
        { source.name(rank, Place{}) } -> std::convertible_to<std::string>;
        { source.stand(rank, view) } -> std::same_as<std::optional<Stand>>;
        { source.listing(rank) } -> std::same_as<Listing>;
        { source.call(rank, view, notice.cookie) } -> std::same_as<std::uint16_t>;
    };

}  // namespace idlewave
