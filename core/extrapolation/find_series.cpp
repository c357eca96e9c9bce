#include <algorithm>
#include <bit>

#include "extrapolation/recognition.hpp"

namespace idlewave::extrapolation {
namespace {

/// Finds series in a program whose ranks all make the same calls.
class SeriesSearch {
  public:
    explicit SeriesSearch(SymbolicProgram& program) : program_(program) {}

    bool run() {
        std::uint32_t item = 0;
        std::uint32_t plain = 0;  // where the items without series begin
        while (item < program_.items.size()) {
            const Series found = at(item);
            if (found.kind == Series::Kind::none) {
                ++item;
                continue;
            }
            add_plain(plain, item);
            program_.series.push_back(found);
            item += found.length * found.iterations;
            plain = item;
        }
        add_plain(plain, item);
        return std::ranges::none_of(program_.items, [this](const Item& one) { return is_with_each_rank(one); });
    }

  private:
    /// Whether it is a message with one of all ranks, and belongs to no series of messages with all.
    [[nodiscard]] bool is_with_each_rank(const Item& item) const {
        if (!is_message(item.kind) || item.role != Item::Role::none) {
            return false;
        }
        const PeerRule::Kind kind = program_.sites[item.site].peers.front().kind;
        return kind == PeerRule::Kind::other || kind == PeerRule::Kind::worker;
    }

    void add_plain(std::uint32_t begin, std::uint32_t end) {
        if (begin != end) {
            program_.series.push_back({.first = begin, .length = end - begin});
        }
    }

    [[nodiscard]] bool may_have(const Item& item, const PeerRule& rule) const {
        const auto& peers = program_.sites[item.site].peers;
        return std::ranges::any_of(peers, [&](const PeerRule& peer) { return same(peer, rule); });
    }

    /// Whether two rules are the same on the grid: shifts may go round it.
    [[nodiscard]] bool same(const PeerRule& a, const PeerRule& b) const {
        if (a.kind != b.kind || a.kind != PeerRule::Kind::shift) {
            return a == b;
        }
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            const auto extent = static_cast<std::int32_t>(program_.grid.extents[d]);
            if ((a.shift[d] - b.shift[d]) % extent != 0) {
                return false;
            }
        }
        return true;
    }

    /// The series that begins with an item.
    Series at(std::uint32_t item) {
        if (!is_message(program_.items[item].kind)) {
            return {};
        }
        for (std::uint8_t d = 0; d < ProcessGrid::dimensions; ++d) {
            for (const Series::Kind kind : {Series::Kind::flip_ascending, Series::Kind::flip_descending,
                                            Series::Kind::shift, Series::Kind::other, Series::Kind::workers}) {
                Series series{.kind = kind, .dimension = d, .first = item};
                const auto iterations = series.iterations_on(program_.grid);
                if (!iterations || *iterations < least(kind) ||
                    (d > 0 && (kind == Series::Kind::other || kind == Series::Kind::workers))) {
                    continue;
                }
                series.iterations = *iterations;
                for (const Item::Role role : {Item::Role::forward, Item::Role::backward}) {
                    if (fits(series, role)) {
                        set_roles(series);
                        return series;
                    }
                }
            }
        }
        return {};
    }

    /// Whether the items from the first one on are a series in which that one has the role; finds its length.
    bool fits(Series& series, Item::Role role) const {
        const Item& first = program_.items[series.first];
        if (!may_have(first, series.peer({}, role, 0, program_.grid))) {
            return false;
        }
        const PeerRule second = series.peer({}, role, 1, program_.grid);
        const auto left = static_cast<std::uint32_t>(program_.items.size()) - series.first;
        for (series.length = 1; std::uint64_t{series.length} * series.iterations <= left; ++series.length) {
            const Item& next = program_.items[series.first + series.length];
            if (is_message(next.kind) && next.kind == first.kind && may_have(next, second) && repeats(series)) {
                return true;
            }
            if (series.length == longest) {
                break;
            }
        }
        return false;
    }

    /// Whether all iterations have the same calls, with the peers of the series or always the same.
    [[nodiscard]] bool repeats(const Series& series) const {
        for (std::uint32_t x = 0; x < series.length; ++x) {
            if (!role_of(series, x)) {
                return false;
            }
        }
        return true;
    }

    /// The role of the x-th item of an iteration; none if it has none that all iterations confirm.
    [[nodiscard]] std::optional<Item::Role> role_of(const Series& series, std::uint32_t x) const {
        const Item& first = program_.items[series.first + x];
        std::optional<Item::Role> found;
        for (const Item::Role role : {Item::Role::forward, Item::Role::backward, Item::Role::none}) {
            bool fits = true;
            for (std::uint32_t i = 0; i < series.iterations && fits; ++i) {
                const Item& item = program_.items[series.first + i * series.length + x];
                if (item.kind != first.kind) {
                    return std::nullopt;
                }
                if (is_message(item.kind) && program_.sites[item.site].tag != program_.sites[first.site].tag) {
                    return std::nullopt;
                }
                if (!is_message(item.kind)) {
                    fits = role == Item::Role::none &&
                           (item.kind != Action::Kind::collective || item.site == first.site) &&
                           (item.kind != Action::Kind::wait || waits_alike(series, i, first, item));
                } else {
                    fits = role == Item::Role::none ? item.site == first.site
                                                    : may_have(item, series.peer({}, role, i, program_.grid));
                }
            }
            if (fits && !found) {
                found = role;
            }
        }
        return found;
    }

    /// Whether a wait of an iteration waits for what that of the first one waits for, in its own iteration.
    [[nodiscard]] bool waits_alike(const Series& series, std::uint32_t iteration, const Item& first,
                                   const Item& item) const {
        const auto a = program_.awaited_by(first);
        const auto b = program_.awaited_by(item);
        return std::ranges::equal(a, b, [&](std::uint32_t before, std::uint32_t now) {
            return before >= series.first && now == before + iteration * series.length;
        });
    }

    void set_roles(const Series& series) {
        for (std::uint32_t x = 0; x < series.length; ++x) {
            const Item::Role role = *role_of(series, x);
            for (std::uint32_t i = 0; i < series.iterations; ++i) {
                program_.items[series.first + i * series.length + x].role = role;
            }
        }
    }

    /// How many iterations a series has at least: two shifts are the neighbours on both sides of a row of three.
    [[nodiscard]] static std::uint32_t least(Series::Kind kind) {
        return kind == Series::Kind::flip_ascending || kind == Series::Kind::flip_descending ? 2 : 3;
    }

    static constexpr std::uint32_t longest = 64;  ///< items of an iteration

    SymbolicProgram& program_;
};

}  // namespace

bool find_series(SymbolicProgram& program) {
    return SeriesSearch(program).run();
}

}  // namespace idlewave::extrapolation
