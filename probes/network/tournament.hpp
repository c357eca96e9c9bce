// The pairs of ranks in each round: in a round no rank is in two pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace idlewave::probe {

struct RankPair {
    int a = 0;
    int b = 0;  // the higher rank

    auto operator<=>(const RankPair&) const = default;
};

using Round = std::vector<RankPair>;

inline RankPair pair_of(int one, int other) {
    return {std::min(one, other), std::max(one, other)};
}

// All pairs, by the circle method: one rank stays in its place, the others rotate (of an odd number one pauses).
inline std::vector<Round> all_pairs(int ranks, std::mt19937_64& random) {
    std::vector<int> circle(static_cast<std::size_t>(ranks + ranks % 2));
    for (int i = 0; i < static_cast<int>(circle.size()); ++i) circle[static_cast<std::size_t>(i)] = i < ranks ? i : -1;
    std::shuffle(circle.begin(), circle.end(), random);
    std::vector<Round> rounds;
    for (std::size_t turn = 0; turn + 1 < circle.size(); ++turn) {
        Round round;
        for (std::size_t i = 0; i < circle.size() / 2; ++i) {
            const int one = circle[i];
            const int other = circle[circle.size() - 1 - i];
            if (one >= 0 && other >= 0) round.push_back(pair_of(one, other));
        }
        rounds.push_back(std::move(round));
        std::rotate(circle.begin() + 1, circle.end() - 1, circle.end());
    }
    return rounds;
}

// Each pair goes into the first round in which both of its ranks are free.
inline std::vector<Round> rounds_of(const std::vector<RankPair>& pairs, int ranks) {
    std::vector<Round> rounds;
    std::vector<std::set<std::size_t>> taken(static_cast<std::size_t>(ranks));
    for (const RankPair& pair : pairs) {
        auto& of_a = taken[static_cast<std::size_t>(pair.a)];
        auto& of_b = taken[static_cast<std::size_t>(pair.b)];
        std::size_t round = 0;
        while (of_a.count(round) != 0 || of_b.count(round) != 0) ++round;
        if (round == rounds.size()) rounds.emplace_back();
        rounds[round].push_back(pair);
        of_a.insert(round);
        of_b.insert(round);
    }
    return rounds;
}

// A sample of `count` pairs: first a chain through the ranks of each host and a chain through the hosts, so that all
// ranks are connected within their host and beyond; then pairs at random, every second one within a host as long as
// such are found. `count` is at least ranks - 1, and less than the number of all pairs.
inline std::vector<RankPair> sample_pairs(const std::vector<std::string>& hosts, int count, std::mt19937_64& random) {
    std::vector<int> order(hosts.size());
    std::map<std::string, std::vector<int>> members;
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
        order[static_cast<std::size_t>(rank)] = rank;
        members[hosts[static_cast<std::size_t>(rank)]].push_back(rank);
    }
    const auto host = [&](int rank) -> const std::string& { return hosts[static_cast<std::size_t>(rank)]; };
    std::shuffle(order.begin(), order.end(), random);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return host(a) < host(b); });
    std::set<RankPair> chosen;
    for (std::size_t i = 1; i < order.size(); ++i) chosen.insert(pair_of(order[i - 1], order[i]));

    const auto any_of = [&](const std::vector<int>& ranks) {
        return ranks[std::uniform_int_distribution<std::size_t>(0, ranks.size() - 1)(random)];
    };
    const auto take = [&](int one, int other) { return one != other && chosen.insert(pair_of(one, other)).second; };
    constexpr int tries = 64;
    while (static_cast<int>(chosen.size()) < count) {
        bool taken = false;
        for (int i = 0; i < tries && chosen.size() % 2 == 0 && !taken; ++i) {
            const int one = any_of(order);
            taken = take(one, any_of(members[host(one)]));
        }
        while (!taken) taken = take(any_of(order), any_of(order));
    }
    std::vector<RankPair> pairs(chosen.begin(), chosen.end());
    std::shuffle(pairs.begin(), pairs.end(), random);
    return pairs;
}

}  // namespace idlewave::probe
