#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "collectives/pattern.hpp"
#include "dice.hpp"
#include "outcome.hpp"

/// What theory says of whole collective operations must come out to the picosecond: all ranks idle at 0, eager.
namespace idlewave::loggops {
namespace {

using testing::Dice;

/// A machine with o at both ends, and what a message of `size` bytes costs on it.
struct Case {
    Time L, o, g;
    double G, O;
    std::uint64_t size;

    [[nodiscard]] machine::Machine machine() const { return testing::simple_machine(L, o, g, G, O); }
    [[nodiscard]] Time cost(double per) const {
        return std::llround(per * static_cast<double>(size > 0 ? size - 1 : 0));
    }
    [[nodiscard]] Time kG() const { return cost(G); }
    [[nodiscard]] Time kO() const { return cost(O); }
    /// Between two messages that one rank sends, or receives.
    [[nodiscard]] Time gap() const { return std::max(o + kO(), g + kG()); }
    /// From the start of a send to the end of its reception, between idle ranks.
    [[nodiscard]] Time hop() const { return 2 * o + L + std::max(kO(), kG()); }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << "L=" << c.L << " o=" << c.o << " g=" << c.g << " G=" << c.G << " O=" << c.O << " size=" << c.size;
}

Case random_case(Dice& dice) {
    constexpr double costs[] = {0, 0.25, 1, 2.5, 17};
    const auto time = [&dice](Time most) { return dice.one_in(6) ? 0 : dice.between(0, most); };
    Case c{.L = time(9000),
           .o = time(3000),
           .g = time(4000),
           .G = costs[dice.roll(5)],
           .O = costs[dice.roll(5)],
           .size = 0};
    c.size = dice.one_in(3) ? dice.roll(3) : dice.roll(1500);
    return c;
}

/// Common parameter sets: LogP's own example scaled, an InfiniBand cluster's, bandwidth-bound, overhead-bound.
constexpr std::array usual{Case{6000, 2000, 4000, 0, 0, 1},
                           Case{5'300'000, 2'300'000, 2'000'000, 2500, 1000, 1},
                           Case{5'300'000, 2'300'000, 2'000'000, 2500, 1000, 4096},
                           Case{1000, 100, 50, 10, 1, 100},
                           Case{1000, 100, 50, 1, 10, 100},
                           Case{1000, 1500, 50, 1, 10, 300}};

std::vector<Case> cases(std::uint64_t seed, int random) {
    std::vector<Case> result(usual.begin(), usual.end());
    Dice dice(seed);
    for (int i = 0; i < random; ++i) {
        result.push_back(random_case(dice));
    }
    return result;
}

Time last_finish(collectives::Collective collective, const char* name, std::uint32_t ranks, const Case& c) {
    const auto finish =
        testing::finish_of(pattern(collectives::algorithm(collective, name), ranks, c.size, 0), c.machine());
    return *std::max_element(finish.begin(), finish.end());
}

Time ceil_log2(std::uint32_t ranks) {
    return std::bit_width(ranks - 1U);
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint32_t largest_dissemination = 65'536;
#else
constexpr std::uint32_t largest_dissemination = 1'048'576;
#endif

constexpr std::array many_ranks{2U, 3U, 4U, 5U, 7U, 8U, 12U, 16U, 31U, 33U, 64U, 100U, 255U, 256U, 1000U};

TEST(ClosedForm, LinearGatherAndScatter) {
    for (const Case& c : cases(1, 60)) {
        for (const std::uint32_t P : many_ranks) {
            const Time expected = 2 * c.o + c.L + (P - 2) * c.gap() + std::max(c.kO(), c.kG());
            ASSERT_EQ(last_finish(collectives::Collective::gather, "linear", P, c), expected)
                << "gather, P=" << P << ' ' << c;
            ASSERT_EQ(last_finish(collectives::Collective::scatter, "linear", P, c), expected)
                << "scatter, P=" << P << ' ' << c;
        }
    }
}

TEST(ClosedForm, LinearGatherAndScatterArePublishedUnlessTheArmsSplit) {
    for (const Case& c : cases(2, 60)) {
        if ((c.o < c.g && c.kO() > c.kG()) || (c.o > c.g && c.kO() < c.kG())) {
            continue;
        }
        for (const std::uint32_t P : {2U, 3U, 17U, 64U}) {
            const Time cpu = (P - 2) * c.o + (P - 1) * c.kO();
            const Time nic = (P - 2) * c.g + (P - 1) * c.kG();
            const Time published = 2 * c.o + c.L + std::max(cpu, nic);
            ASSERT_EQ(last_finish(collectives::Collective::gather, "linear", P, c), published) << "P=" << P << ' ' << c;
            ASSERT_EQ(last_finish(collectives::Collective::scatter, "linear", P, c), published)
                << "P=" << P << ' ' << c;
        }
    }
}

Time dissemination(std::uint32_t ranks, const Case& c) {
    const Time per = std::max<Time>(0, c.kO() - c.L) + c.hop();
    return (ceil_log2(ranks) - 1) * std::max(per, c.g + c.kG()) + per;
}

TEST(ClosedForm, Dissemination) {
    for (const Case& c : cases(3, 80)) {
        for (const std::uint32_t P : many_ranks) {
            const auto finish = testing::finish_of(
                pattern(collectives::algorithm(collectives::Collective::barrier, "dissemination"), P, c.size, 0),
                c.machine());
            for (const Time t : finish) {
                ASSERT_EQ(t, dissemination(P, c)) << "P=" << P << ' ' << c;
            }
        }
    }
}

TEST(ClosedForm, DisseminationIsPublishedUnlessTheGapIsLonger) {
    for (const Case& c : usual) {
        if (c.g + c.kG() > c.hop() || c.kO() > c.L) {
            continue;
        }
        for (const std::uint32_t P : many_ranks) {
            ASSERT_EQ(last_finish(collectives::Collective::barrier, "dissemination", P, c), ceil_log2(P) * c.hop());
        }
    }
}

TEST(ClosedForm, DisseminationAtScale) {
    ASSERT_EQ(last_finish(collectives::Collective::barrier, "dissemination", 65'536, usual[2]),
              dissemination(65'536, usual[2]));
    ASSERT_EQ(last_finish(collectives::Collective::barrier, "dissemination", largest_dissemination, usual[1]),
              dissemination(largest_dissemination, usual[1]));
}

/// When the last rank of the doubling tree is done: rank v < 2^k tells v + 2^k in round k, one message after the other.
Time binomial_tree(std::uint32_t ranks, const Case& c) {
    std::vector<Time> ready(ranks);
    std::vector<Time> told(ranks);
    Time last = 0;
    for (std::uint32_t v = 1; v < ranks; ++v) {
        const std::uint32_t parent = v - std::bit_floor(v);
        const Time start = ready[parent] + told[parent]++ * c.gap();
        ready[v] = start + c.hop();
        last = std::max({last, ready[v], start + c.o + c.kO()});
    }
    return last;
}

TEST(ClosedForm, BinomialBroadcastOnAPowerOfTwo) {
    for (const Case& c : cases(4, 80)) {
        if (c.gap() > c.hop()) {
            continue;
        }
        for (const std::uint32_t P : {2U, 4U, 8U, 16U, 64U, 512U, 1024U}) {
            ASSERT_EQ(last_finish(collectives::Collective::bcast, "binomial", P, c), ceil_log2(P) * c.hop())
                << "P=" << P << ' ' << c;
        }
    }
}

TEST(ClosedForm, BinomialBroadcastIsTheTreesRecurrence) {
    for (const Case& c : cases(5, 80)) {
        for (const std::uint32_t P : many_ranks) {
            ASSERT_EQ(last_finish(collectives::Collective::bcast, "binomial", P, c), binomial_tree(P, c))
                << "P=" << P << ' ' << c;
        }
    }
}

TEST(ClosedForm, BinomialBroadcastAtScale) {
    for (const std::uint32_t P : {65'536U, 1'048'576U}) {
        ASSERT_EQ(last_finish(collectives::Collective::bcast, "binomial", P, usual[1]), ceil_log2(P) * usual[1].hop());
    }
    ASSERT_EQ(last_finish(collectives::Collective::bcast, "binomial", 1'000'000, usual[5]),
              binomial_tree(1'000'000, usual[5]));
}

}  // namespace
}  // namespace idlewave::loggops
