#include "goal/goal_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"

namespace idlewave {
namespace {

constexpr std::string_view comment_begin = "// idlewave: ";

void put(std::string& out, std::string_view text) {
    out += text;
}
void put(std::string& out, std::unsigned_integral auto number) {
    std::array<char, 24> digits{};
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), std::uint64_t{number}).ptr;
    out.append(digits.data(), end);
}
template <class First, class... Rest>
    requires(sizeof...(Rest) > 0)
void put(std::string& out, First first, Rest... rest) {
    put(out, first);
    put(out, rest...);
}

void write_op(std::string& out, const Op& op) {
    if (op.kind == OpKind::calc) {
        put(out, "calc ", op.size);
    } else {
        const bool send = op.kind == OpKind::send;
        put(out, send ? "send " : "recv ", op.size, send ? "b to " : "b from ");
        op.peer == any ? put(out, "-1") : put(out, op.peer);
        if (op.tag == any) {
            put(out, " tag -1");
        } else if (op.tag != 0) {
            put(out, " tag ", op.tag);
        }
    }
    if (op.cpu != 0) {
        put(out, " cpu ", op.cpu);
    }
    if (op.nic != 0) {
        put(out, " nic ", op.nic);
    }
}

/// The requirements, each op's together where that keeps the order in which followers become ready; else as they are.
std::vector<Requirement> in_good_order(const Listing& listing) {
    const auto by_waiting = [](const Requirement& a, const Requirement& b) { return a.waiting < b.waiting; };
    std::vector<Requirement> by_other = listing.requirements;
    if (std::is_sorted(by_other.begin(), by_other.end(), by_waiting)) {
        return by_other;
    }
    const auto list_of = [](const Requirement& r) { return std::pair(r.other, r.edge); };
    std::stable_sort(by_other.begin(), by_other.end(),
                     [&](const Requirement& a, const Requirement& b) { return list_of(a) < list_of(b); });
    const bool ascending =
        std::adjacent_find(by_other.begin(), by_other.end(), [&](const Requirement& a, const Requirement& b) {
            return list_of(a) == list_of(b) && a.waiting > b.waiting;
        }) == by_other.end();
    if (ascending) {
        std::stable_sort(by_other.begin(), by_other.end(), by_waiting);
    }
    return by_other;
}

}  // namespace

void write_rank(std::string& out, std::uint32_t rank, const Listing& listing) {
    put(out, "\nrank ", rank, " {\n");
    for (std::uint64_t place = 0; place < listing.ops.size(); ++place) {
        put(out, "l", place + 1, ": ");
        write_op(out, listing.ops[place]);
        put(out, "\n");
    }
    for (const Requirement& r : in_good_order(listing)) {
        put(out, "l", std::uint64_t{r.waiting} + 1, r.edge == Edge::end ? " requires l" : " irequires l",
            std::uint64_t{r.other} + 1, "\n");
    }
    put(out, "}\n");
}

GoalWriter::GoalWriter(OutputFile& out, std::uint32_t ranks, const std::string& origin)
    : out_(out), sealed_(!origin.empty()) {
    if (sealed_) {
        out_.append(std::string(comment_begin) + origin + "\n");
    }
    append("num_ranks " + std::to_string(ranks) + "\n");
}

void GoalWriter::add(const Listing& rank) {
    text_.clear();
    write_rank(text_, written_++, rank);
    append(text_);
}

void GoalWriter::finish() {
    if (sealed_) {
        std::array<char, 9> digits{};
        static_cast<void>(std::snprintf(digits.data(), digits.size(), "%08x", crc_));
        out_.append(std::string(comment_begin) + "CRC-32C " + digits.data() + "\n");
    }
}

void GoalWriter::append(const std::string& text) {
    out_.append(text);
    if (sealed_) {
        crc_ = crc32c(std::as_bytes(std::span(text)), crc_);
    }
}

}  // namespace idlewave
