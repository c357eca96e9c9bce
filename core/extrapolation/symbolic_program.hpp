#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/program.hpp"
#include "collectives/structure.hpp"
#include "extrapolation/actions.hpp"

/// The one program of which all ranks execute a part: what a rank does as a function of where it lies on the grid.
///
/// Of a trace an Action is a call of a rank. A Site is a kind of call: the peer or communicator, by a rule, and the
/// tag. An Item is a site at its place in the sequence of calls. A Series are items that are repeated with other peers.
/// A PlannedCall is an item as a rank on some grid executes it.
namespace idlewave::extrapolation {

using collectives::CommunicatorRule;
using collectives::PeerRule;
using collectives::ProcessGrid;

/// A tag as the program's calls name it.
struct TagRule {
    bool world = true;  ///< of MPI_COMM_WORLD, which `communicator` is then
    CommunicatorRule communicator = {};
    std::uint32_t duplicate = 0;  ///< among the communicators with the same ranks
    std::uint32_t space = 0;      ///< as in MappedTag
    std::uint32_t ordinal = 0;
    std::uint32_t tag = 0;

    auto operator<=>(const TagRule&) const = default;
};

/// A collective as all its ranks call it.
struct CollectiveRule {
    CommunicatorRule communicator = {};
    std::uint32_t duplicate = 0;  ///< among the communicators with the same ranks
    std::uint32_t tags = 0;  ///< among the ranges of tags of the communicator: persistent collectives have their own
    collectives::Collective collective = collectives::Collective::barrier;
    collectives::StepFunction step = nullptr;
    collectives::UseOfRules rules_used = collectives::UseOfRules::none;
    bool nonblocking = false;
    std::uint32_t root = 0;  ///< rank of the communicator
    bool last_is_root = false;
    bool sends_counts = false;  ///< a v-variant; all counts are equal
    bool recvs_counts = false;

    bool operator==(const CollectiveRule&) const = default;

    /// For maps.
    using Key =
        std::tuple<CommunicatorRule, std::uint32_t, std::uint32_t, std::uintptr_t, std::uint32_t, std::uint32_t>;
    [[nodiscard]] Key key() const {
        // Two bits of rules_used, and one of each of the others.
        const std::uint32_t flags = static_cast<std::uint32_t>(rules_used) | (nonblocking ? 4U : 0U) |
                                    (last_is_root ? 8U : 0U) | (sends_counts ? 16U : 0U) | (recvs_counts ? 32U : 0U) |
                                    static_cast<std::uint32_t>(collective) << 8;
        return {communicator, duplicate, tags, reinterpret_cast<std::uintptr_t>(step), flags, root};
    }
};

/// A call of the program that ranks with a peer for it make. Calls that are the same but for their size and their place
/// in the sequence share one.
struct Site {
    Action::Kind kind = Action::Kind::wait;
    std::vector<PeerRule> peers = {};  ///< of a message: rules that all give the traced peers; the first is the best
    TagRule tag = {};
    CollectiveRule collective = {};
};

/// A call at its place in the sequence of calls.
struct Item {
    /// How the peer depends on the iteration of the series to which the item belongs.
    enum class Role : std::uint8_t { none, forward, backward };

    Action::Kind kind = Action::Kind::wait;
    Role role = Role::none;
    std::uint32_t site = 0;           ///< of a wait none
    std::uint32_t awaited_begin = 0;  ///< of a wait in SymbolicProgram::awaited
    std::uint32_t awaited_end = 0;
};

/// Items that are repeated with other peers as often as the grid has ranks, or bits of their numbers.
struct Series {
    enum class Kind : std::uint8_t {
        none,            ///< one iteration
        flip_ascending,  ///< the bits of a coordinate are flipped, the lowest first
        flip_descending,
        shift,   ///< by 1, 2, … along a periodic dimension
        other,   ///< all other ranks in turn
        workers  ///< of rank 0 all other ranks in turn
    };

    Kind kind = Kind::none;
    std::uint8_t dimension = 0;
    std::uint32_t first = 0;       ///< item
    std::uint32_t length = 1;      ///< items of an iteration
    std::uint32_t iterations = 1;  ///< of the traced program

    /// How many iterations it has on a grid; none if it has no such series, as with 12 ranks and bits.
    [[nodiscard]] std::optional<std::uint32_t> iterations_on(const ProcessGrid& grid) const;
    /// The peer of an item's message in an iteration on a grid.
    [[nodiscard]] PeerRule peer(const PeerRule& rule, Item::Role role, std::uint32_t iteration,
                                const ProcessGrid& grid) const;
};

struct SymbolicProgram {
    bool uniform = false;   ///< all ranks make all calls
    ProcessGrid grid = {};  ///< of the trace that it was recognised in
    std::vector<Site> sites;
    std::vector<Item> items;             ///< with all iterations of the series
    std::vector<std::uint32_t> awaited;  ///< items, for which waits wait
    std::vector<Series> series;          ///< in order; each item belongs to one
    /// Dimensions along which no traced rank has neighbours on both sides: which of them comes first was taken from the
    /// other dimensions.
    std::vector<std::uint8_t> one_sided_dimensions;

    [[nodiscard]] std::span<const std::uint32_t> awaited_by(const Item& wait) const {
        return std::span(awaited).subspan(wait.awaited_begin, wait.awaited_end - wait.awaited_begin);
    }
};

/// One call of a rank on a grid.
struct PlannedCall {
    std::uint32_t item = 0;  ///< of the traced iteration that stands for this one
    std::uint32_t iteration = 0;
    const Series* series = nullptr;
    PeerRule rule = {};      ///< of a message
    std::uint32_t peer = 0;  ///< of a message
    std::span<const std::uint32_t> awaited =
        {};  ///< of a wait: numbers of the rank's calls, in order; until the next call
};

/// Goes through the calls that a rank makes on a grid.
class Walk {
  public:
    Walk(const SymbolicProgram& program, const ProcessGrid& grid);

    /// Calls `use` with each PlannedCall of the rank until it returns false. Returns whether it never did.
    template <class Use>
    bool operator()(std::uint32_t rank, Use use) {
        std::uint32_t calls = 0;
        ++round_;
        for (std::size_t s = 0; s < program_.series.size(); ++s) {
            const Series& series = program_.series[s];
            for (std::uint32_t i = 0; i < iterations_[s]; ++i) {
                const std::uint32_t traced = std::min(i, series.iterations - 1);
                for (std::uint32_t x = 0; x < series.length; ++x) {
                    PlannedCall call{
                        .item = series.first + traced * series.length + x, .iteration = i, .series = &series};
                    if (plan(rank, series.first + x, calls, call)) {
                        ++calls;
                        if (!use(static_cast<const PlannedCall&>(call))) {
                            return false;
                        }
                    }
                }
            }
        }
        return true;
    }

    /// A dimension on whose extent the program has no series; none if it has all.
    [[nodiscard]] std::optional<std::uint8_t> impossible_dimension() const { return impossible_; }

  private:
    bool plan(std::uint32_t rank, std::uint32_t first_item, std::uint32_t number, PlannedCall& call);
    const SymbolicProgram& program_;
    const ProcessGrid grid_;
    std::vector<std::uint32_t> iterations_;  ///< by series
    std::optional<std::uint8_t> impossible_;
    std::vector<std::uint32_t> first_of_;  ///< by item: that of the first iteration of its series
    // By item of a first iteration: the rank's calls for which no wait has waited, and the round they belong to.
    std::vector<std::vector<std::uint32_t>> posted_;
    std::vector<std::uint32_t> round_of_;
    std::vector<std::uint32_t> awaited_;
    std::uint32_t round_ = 0;
};

/// The rule of the communicator with these members, which are world ranks; none if they are not in the grid's order.
std::optional<CommunicatorRule> communicator_rule(std::span<const std::uint32_t> members, const ProcessGrid& grid);

/// A shift along one dimension.
struct StraightShift {
    std::uint8_t dimension = 0;
    std::int32_t distance = 0;  ///< in ranks; negative: downwards

    [[nodiscard]] bool upwards() const { return distance > 0; }
};

/// The shift of a rule that shifts along one dimension; none of other rules.
std::optional<StraightShift> straight_shift(const PeerRule& rule);

/// "send", "receive", …: what a call of this kind is, for messages to people.
std::string name_of(Action::Kind kind);

/// A rule in words, such as "+1 along dimension 1".
std::string text_of(const PeerRule& rule);

}  // namespace idlewave::extrapolation
