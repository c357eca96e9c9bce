#include "extrapolation/structure_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "collectives/grid.hpp"

namespace idlewave::extrapolation {
namespace {

/// All grids of so many ranks with so many dimensions: the most equal extents first, of those the larger extent first.
/// `least`: ranks along a dimension.
std::vector<ProcessGrid> grids_of(std::uint32_t ranks, std::uint32_t dimensions, std::uint32_t least) {
    std::vector<ProcessGrid> grids;
    const auto add = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) { grids.push_back({{x, y, z}}); };
    if (dimensions == 1) {
        add(ranks, 1, 1);
        return grids;
    }
    for (std::uint32_t x = least; x <= ranks; ++x) {
        if (ranks % x != 0) {
            continue;
        }
        const std::uint32_t left = ranks / x;
        for (std::uint32_t y = least; y <= left; ++y) {
            const bool last = dimensions == 2 ? y == left : left % y == 0 && left / y >= least;
            if (last) {
                add(x, y, dimensions == 2 ? 1 : left / y);
            }
        }
    }
    std::ranges::stable_sort(grids, {}, [&](const ProcessGrid& grid) {
        const auto first = grid.extents.begin();
        const auto [smallest, largest] = std::minmax_element(first, first + dimensions);
        const bool falls = std::is_sorted(first, first + dimensions, std::greater<>());
        const bool rises = std::is_sorted(first, first + dimensions);
        return std::tuple(*largest - *smallest, !falls, !rises);
    });
    return grids;
}

/// Tries structures, one after the other.
class StructureSearch {
  public:
    explicit StructureSearch(std::span<const TracedRun> runs) : runs_(runs) {}

    FoundStructure find() {
        if (runs_.back().ranks() == 1 && runs_.back().has_messages()) {
            throw InputError("a run of one rank shows no structure: expected a trace of more ranks");
        }
        for (dimensions_ = 1; dimensions_ <= ProcessGrid::dimensions; ++dimensions_) {
            for (const ProcessGrid& grid : grids_of(runs_.back().ranks(), dimensions_, 2)) {
                if (!on_grid(grid)) {
                    continue;
                }
                if (best_ && complexity(found_.program) >= complexity(best_->program)) {
                    continue;
                }
                if (best_) {
                    note_other(best_->program);
                }
                best_ = std::move(found_);
                if (complexity(best_->program) == 0) {
                    return take_best();
                }
            }
            if (runs_.back().ranks() == 1) {
                break;
            }
        }
        if (best_) {
            return take_best();
        }
        throw not_recognised();
    }

  private:
    /// How far the rules of peers are from steps to neighbours: of several grids the one with the simplest rules is
    /// taken.
    static std::uint32_t complexity(const SymbolicProgram& program) {
        std::set<PeerRule> rules;
        for (const Item& item : program.items) {
            if (is_message(item.kind) && item.role == Item::Role::none) {
                rules.insert(program.sites[item.site].peers.front());
            }
        }
        std::uint32_t sum = 0;
        for (const PeerRule& rule : rules) {
            if (rule.kind == PeerRule::Kind::flip || rule.kind == PeerRule::Kind::other) {
                sum += 4;
            } else if (rule.kind == PeerRule::Kind::shift) {
                std::uint32_t distance = 0;
                for (const std::int32_t shift : rule.shift) {
                    distance += static_cast<std::uint32_t>(std::abs(shift));
                }
                sum += distance > 1 ? 1 : 0;
            }
        }
        return sum;
    }

    [[nodiscard]] InputError not_recognised() const {
        return InputError("the program's structure was not recognised. The closest: " + closest_);
    }

    /// The best structure, unless one with rules as simple was found before, of which the runs do not show how far its
    /// messages go.
    FoundStructure take_best() {
        if (least_unshown_ && *least_unshown_ <= complexity(best_->program)) {
            throw not_recognised();
        }
        best_->other_structure = std::move(other_);
        return std::move(*best_);
    }

    /// Notes a structure that is not taken because another one has simpler rules. It fits, or fails only because the
    /// runs do not show how far its messages go. On more ranks its messages may go elsewhere.
    void note_other(const SymbolicProgram& program) {
        std::set<std::string> peers;
        for (const Item& item : program.items) {
            if (!is_message(item.kind)) {
                continue;
            }
            const PeerRule& rule = program.sites[item.site].peers.front();
            if (item.role != Item::Role::none || rule.kind != PeerRule::Kind::shift) {
                return;
            }
            if (is_send(item.kind)) {
                peers.insert(text_of(rule));
            }
        }
        std::string all;
        for (const std::string& peer : peers) {
            all += (all.empty() ? "" : " and ") + peer;
        }
        if (other_.empty()) {
            other_ = "a grid of " + text_of_grid(program.grid) + " ranks with messages to " + all;
        }
    }

    static std::string text_of_grid(const ProcessGrid& grid) {
        std::string extents = std::to_string(grid.extents[0]);
        for (std::uint32_t d = 1; d < ProcessGrid::dimensions && grid.extents[d] > 1; ++d) {
            extents += " x " + std::to_string(grid.extents[d]);
        }
        return extents;
    }

    bool on_grid(const ProcessGrid& grid) {
        const RunOnGrid run(runs_.back(), grid);
        Refusal why;
        found_ = {};
        if (is_structure(recognise_uniform(run, why), grid, why)) {
            return true;
        }
        found_.neighbours = NeighbourKind::On::grid;
        for (unsigned periodic = 0; periodic < 1U << dimensions_; ++periodic) {
            NeighbourKind kind;
            for (std::uint32_t d = 0; d < dimensions_; ++d) {
                kind.periodic[d] = (periodic >> d & 1U) != 0;
            }
            if (is_structure(recognise_neighbours(run, kind, why), grid, why)) {
                return true;
            }
        }
        for (const auto on : {NeighbourKind::On::tree, NeighbourKind::On::star}) {
            found_.neighbours = on;
            if (dimensions_ == 1 && runs_.back().ranks() >= least_ranks_of(on) &&
                is_structure(recognise_neighbours(run, {.on = on}, why), grid, why)) {
                return true;
            }
        }
        return false;
    }

    /// Of fewer ranks a line or a ring is a tree or a star, too.
    [[nodiscard]] static std::uint32_t least_ranks_of(NeighbourKind::On on) {
        return on == NeighbourKind::On::tree ? 6 : 4;
    }

    bool is_structure(std::optional<SymbolicProgram> program, const ProcessGrid& grid, const Refusal& why) {
        if (!program) {
            note(why.two_ranks ? 1 : 0, grid, why.what);
            return false;
        }
        program_ = std::move(*program);
        program_.uniform = !found_.neighbours;
        do {
            rule_dropped_ = false;
            found_.runs.assign(runs_.size(), {});
            for (std::size_t run = runs_.size(); run-- > 0 && !rule_dropped_;) {
                if (!fits(run, grid)) {
                    return false;
                }
            }
        } while (rule_dropped_);  // the larger runs are compared with the next rule, too
        if (const std::string growing = distance_that_may_grow(); !growing.empty()) {
            note(2 + std::uint64_t{runs_.size() + 1} * 0x100000000, grid, growing);
            note_other(program_);
            const std::uint32_t unshown = complexity(program_);
            least_unshown_ = least_unshown_ ? std::min(*least_unshown_, unshown) : unshown;
            return false;
        }
        found_.program = std::move(program_);
        return true;
    }

    /// A message that goes further than to a neighbour, where no two runs with different extents show that it goes as
    /// far on every grid; "" if there is none.
    [[nodiscard]] std::string distance_that_may_grow() const {
        const auto is_shown = [&](std::uint32_t dimension, std::uint32_t longer_than) {
            const std::uint32_t largest = program_.grid.extents[dimension];
            return largest > longer_than && std::ranges::any_of(found_.runs, [&](const Measured& run) {
                       return run.grid.extents[dimension] != largest && run.grid.extents[dimension] > longer_than;
                   });
        };
        for (const Item& item : program_.items) {
            const bool message = is_message(item.kind);
            if (!message || item.role != Item::Role::none) {
                continue;
            }
            const PeerRule& rule = program_.sites[item.site].peers.front();
            bool shown = rule.kind != PeerRule::Kind::flip || is_shown(rule.dimension, rule.mask);
            for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
                const auto distance = static_cast<std::uint32_t>(std::abs(rule.shift[d]));
                // Half way round or further, another distance the other way round leads to the same rank.
                shown = shown && (distance <= 1 || is_shown(d, (rule.periodic[d] ? 2 : 1) * distance));
            }
            if (!shown) {
                return "messages go to " + text_of(rule) +
                       ", and no two traces of different extents show that they always go as far";
            }
        }
        return "";
    }

    /// Whether the run is one of the program, on some grid.
    bool fits(std::size_t run, const ProcessGrid& largest) {
        const auto grids =
            run + 1 == runs_.size() ? std::vector{largest} : grids_of(runs_[run].ranks(), dimensions_, 1);
        return std::ranges::any_of(grids, [&](const ProcessGrid& grid) { return fits_on(run, grid, largest); });
    }

    /// Where a message has another peer, and several rules gave those of the largest run, the next one is tried.
    bool fits_on(std::size_t run, const ProcessGrid& grid, const ProcessGrid& largest) {
        const RunOnGrid on_grid(runs_[run], grid);
        const std::vector<Site> sites = program_.sites;
        bool dropped = false;
        while (const auto difference = compare(program_, on_grid, found_.runs[run])) {
            note(2 + std::uint64_t{runs_.size() - run} * 0x100000000 + difference->call, largest, difference->what);
            if (!difference->site || program_.sites[*difference->site].peers.size() < 2) {
                program_.sites = sites;
                return false;
            }
            auto& peers = program_.sites[*difference->site].peers;
            peers.erase(peers.begin());
            dropped = true;
        }
        rule_dropped_ = rule_dropped_ || dropped;
        return true;
    }

    /// Notes why a structure does not fit; the one that fits furthest is reported.
    void note(std::uint64_t likeness, const ProcessGrid& grid, const std::string& why) {
        if (closest_.empty() || likeness > closest_likeness_) {
            closest_likeness_ = likeness;
            closest_ = "on a grid of " + text_of_grid(grid) + " ranks, " + why;
        }
    }

    std::span<const TracedRun> runs_;
    std::uint32_t dimensions_ = 1;
    SymbolicProgram program_;
    FoundStructure found_;
    bool rule_dropped_ = false;
    std::optional<FoundStructure> best_;
    std::string closest_;
    std::uint64_t closest_likeness_ = 0;
    std::string other_;
    std::optional<std::uint32_t> least_unshown_;  ///< the complexity of a structure that may go further on more ranks
};

std::uint32_t dimensions_of(std::span<const Measured> runs) {
    std::uint32_t dimensions = 1;
    for (const Measured& run : runs) {
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            dimensions = run.grid.extents[d] > 1 ? std::max(dimensions, d + 1) : dimensions;
        }
    }
    return dimensions;
}

}  // namespace

FoundStructure find_structure(std::span<const TracedRun> runs) {
    return StructureSearch(runs).find();
}

std::optional<ProcessGrid> continued_grid(std::span<const Measured> runs, std::uint32_t ranks) {
    const std::uint32_t dimensions = dimensions_of(runs);
    const auto near_square = [&](std::uint32_t of, bool rising) {
        ProcessGrid grid{collectives::fitting_dims(of, dimensions)};
        if (rising) {
            std::reverse(grid.extents.begin(), grid.extents.begin() + dimensions);
        }
        return grid;
    };
    for (const bool rising : {false, true}) {
        if (std::ranges::all_of(runs, [&](const Measured& run) {
                return run.grid == near_square(static_cast<std::uint32_t>(run.grid.ranks()), rising);
            })) {
            return near_square(ranks, rising);
        }
    }
    if (runs.size() < 2) {
        return std::nullopt;
    }
    std::optional<std::uint32_t> longer;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
        const std::uint32_t first = runs.front().grid.extents[d];
        if (std::ranges::any_of(runs, [&](const Measured& run) { return run.grid.extents[d] != first; })) {
            if (longer) {
                return std::nullopt;
            }
            longer = d;
        }
    }
    ProcessGrid grid = runs.front().grid;
    grid.extents[longer.value_or(0)] = 1;
    if (ranks % grid.ranks() != 0) {
        return std::nullopt;
    }
    grid.extents[longer.value_or(0)] = static_cast<std::uint32_t>(ranks / grid.ranks());
    return grid;
}

}  // namespace idlewave::extrapolation
