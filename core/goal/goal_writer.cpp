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
#include "goal/op_words.hpp"

namespace idlewave::goal {
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

void write_source(std::string& out, std::uint32_t source) {
    source == any ? put(out, "-1") : put(out, source);
}
void write_tag(std::string& out, std::uint32_t tag) {
    if (tag == any) {
        put(out, " tag -1");
    } else if (tag != 0) {
        put(out, " tag ", tag);
    }
}

void write_op(std::string& out, const Op& op) {
    switch (op.kind) {
        case OpKind::calc:
            put(out, "calc ", op.size);
            break;
        case OpKind::send:
            put(out, "send ", bytes_of(op.size), "b to ", op.peer);
            write_tag(out, op.tag);
            put(out, is_synchronous(op.size) ? " synchronous" : "");
            break;
        case OpKind::recv:
            put(out, "recv ", op.size, "b from ");
            write_source(out, op.peer);
            write_tag(out, op.tag);
            break;
        case OpKind::put:
            put(out, "put ", op.size, "b to ", op.peer);
            if (op.tag != no_notification) {
                put(out, " tag ", op.tag);
            }
            break;
        case OpKind::get:
            put(out, "get ", op.size, "b from ", op.peer);
            break;
        case OpKind::await:
            put(out, "await from ");
            write_source(out, op.peer);
            write_tag(out, op.tag);
            break;
        case OpKind::lock:
        case OpKind::shared_lock:
        case OpKind::unlock:
            put(out, word_of(op.kind), " at ", op.peer);
            write_tag(out, op.tag);
            break;
    }
    if (op.cpu != 0) {
        put(out, " cpu ", op.cpu);
    }
    if (op.nic != 0) {
        put(out, " nic ", op.nic);
    }
}

/// The requirements, sorted by successor if that keeps the order in which successors become ready; otherwise unchanged.
std::vector<Requirement> in_writing_order(const RankSchedule& schedule) {
    const auto by_successor = [](const Requirement& a, const Requirement& b) { return a.successor < b.successor; };
    std::vector<Requirement> by_predecessor = schedule.requirements;
    if (std::is_sorted(by_predecessor.begin(), by_predecessor.end(), by_successor)) {
        return by_predecessor;
    }
    const auto list_of = [](const Requirement& r) { return std::pair(r.predecessor, r.edge); };
    std::stable_sort(by_predecessor.begin(), by_predecessor.end(),
                     [&](const Requirement& a, const Requirement& b) { return list_of(a) < list_of(b); });
    const bool ascending = std::adjacent_find(by_predecessor.begin(), by_predecessor.end(),
                                              [&](const Requirement& a, const Requirement& b) {
                                                  return list_of(a) == list_of(b) && a.successor > b.successor;
                                              }) == by_predecessor.end();
    if (ascending) {
        std::stable_sort(by_predecessor.begin(), by_predecessor.end(), by_successor);
    }
    return by_predecessor;
}

}  // namespace

void write_rank(std::string& out, std::uint32_t rank, const RankSchedule& schedule) {
    put(out, "\nrank ", rank, " {\n");
    for (std::uint64_t op_index = 0; op_index < schedule.ops.size(); ++op_index) {
        put(out, "l", op_index + 1, ": ");
        write_op(out, schedule.ops[op_index]);
        put(out, "\n");
    }
    for (const Requirement& r : in_writing_order(schedule)) {
        put(out, "l", std::uint64_t{r.successor} + 1, r.edge == Edge::end ? " requires l" : " irequires l",
            std::uint64_t{r.predecessor} + 1, "\n");
    }
    put(out, "}\n");
}

GoalWriter::GoalWriter(OutputFile& out, std::uint32_t ranks, const std::string& origin)
    : out_(out), has_origin_(!origin.empty()) {
    if (has_origin_) {
        out_.append(std::string(comment_begin) + origin + "\n");
    }
    append("num_ranks " + std::to_string(ranks) + "\n");
}

void GoalWriter::add(const RankSchedule& rank) {
    text_.clear();
    write_rank(text_, written_++, rank);
    append(text_);
}

void GoalWriter::finish() {
    if (has_origin_) {
        std::array<char, 9> digits{};
        static_cast<void>(std::snprintf(digits.data(), digits.size(), "%08x", crc_));
        out_.append(std::string(comment_begin) + "CRC-32C " + digits.data() + "\n");
    }
}

void GoalWriter::append(const std::string& text) {
    out_.append(text);
    if (has_origin_) {
        crc_ = crc32c(std::as_bytes(std::span(text)), crc_);
    }
}

}  // namespace idlewave::goal
