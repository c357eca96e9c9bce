#include "goal/goal_binary_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "goal/goal_binary.hpp"
#include "goal/rank_block.hpp"

namespace idlewave::goal {

using namespace binary;

namespace {

/// The kind of an op whose type is valid.
OpKind kind_of(const std::byte* op) {
    return static_cast<OpKind>(load<std::uint8_t>(op + node::type) - 1);
}

/// Nonzero if an op differs from that of the last rank in more than its value. A calc that is long there has no value.
std::uint64_t difference(const std::byte* op, const std::byte* last) {
    static_assert(node::type == 4 && node::peer == 5 && node::size == 9 && node_size == 39);
    constexpr std::uint64_t before_peer = (std::uint64_t{1} << 8 * node::peer) - 1;
    const auto differ = [=](std::size_t at) { return load<std::uint64_t>(op + at) ^ load<std::uint64_t>(last + at); };
    const bool calc = kind_of(op) == OpKind::calc;
    const std::uint64_t size =
        calc ? load<std::uint64_t>(last + node::size) & ~op_word::longest_calc : differ(node::size);
    return (differ(0) & before_peer) | size | differ(17) | differ(25) | differ(node_size - 8);
}

std::string up_to(std::uint64_t largest) {
    return std::to_string(largest) + " or less";
}

}  // namespace

const std::byte* GoalBinaryReader::RankRecord::node(OpIndex op_index) const {
    return bytes.data() + nodes_begin + node_size * op_index;
}

GoalBinaryReader::GoalBinaryReader(const InputFile& file)
    : file_(file), table_(file, FileWindow::ahead_in_table), body_(file, FileWindow::ahead_in_body) {
    if (!file.regular()) {
        throw InputError(file.name() + ": expected a file that can be read anywhere, found a pipe or device");
    }
    if (file.size() < table_begin) {
        fail(0, "a header of " + std::to_string(table_begin) + " bytes", file.size());
    }
    const std::byte* header = table_.view(0, table_begin).data();
    const auto found = load<std::uint64_t>(header);
    if (found == magic_used_up) {
        throw InputError(file.name() +
                         ": expected a binary schedule, found what LogGOPSim --save-mem has left of one; make it anew");
    }
    if (found != magic) {
        fail(0, "the number " + std::to_string(magic), found);
    }
    ranks_ = load<std::uint32_t>(header + base);
    highest_cpu_ = load<std::uint8_t>(header + base + 4);
    highest_nic_ = load<std::uint8_t>(header + base + 5);
    const std::uint64_t room = (file.size() - table_begin) / table_entry;
    if (ranks_ == 0 || ranks_ > most_ranks || ranks_ > room) {
        fail(
            base,
            "from 1 to " + std::to_string(std::min<std::uint64_t>(room, most_ranks)) + " ranks, as the file is so long",
            ranks_);
    }
}

bool GoalBinaryReader::next(RankSchedule& rank) {
    rank.clear();
    if (read_ == ranks_) {
        return false;
    }
    const RankRecord p = next_record();
    requirement_counts_.assign(p.nodes, 0);
    successors_ = 0;
    rank.ops.resize(p.nodes);
    for (OpIndex op_index = 0; op_index < p.nodes; ++op_index) {
        read(p, op_index, rank.ops[op_index]);
        successors(p, op_index, Edge::start, rank.requirements);
        successors(p, op_index, Edge::end, rank.requirements);
    }
    check_requirements(p);
    if (remembers_) {
        last_bytes_.assign(p.bytes.begin(), p.bytes.end());
        last_ = p;
        last_.bytes = last_bytes_;
    }
    done(p);
    return true;
}

bool GoalBinaryReader::next_with_other_values(std::vector<std::uint32_t>& values) {
    if (read_ == 0 || read_ == ranks_) {
        return false;
    }
    const RankRecord p = next_record();
    if (!differs_in_values_only(p)) {
        return false;
    }
    values.resize(p.nodes);
    const std::byte* n = p.node(0);
    for (std::uint32_t& value : values) {
        const auto peer = load<std::uint32_t>(n + node::peer);
        const auto size = load<std::uint64_t>(n + node::size);
        const bool calc = kind_of(n) == OpKind::calc;
        if (!is_sound(kind_of(n), peer) || (calc && size > RankBlock::largest_value)) {
            return false;
        }
        value = calc ? static_cast<std::uint32_t>(size) : peer;
        n += node_size;
    }
    done(p);
    return true;
}

/// Whether the record differs from the last one in its values only.
bool GoalBinaryReader::differs_in_values_only(const RankRecord& record) const {
    const auto same = [&](std::uint64_t begin, std::uint64_t end) {
        return std::memcmp(record.bytes.data() + begin, last_.bytes.data() + begin, end - begin) == 0;
    };
    if (record.bytes.size() != last_.bytes.size() || !same(0, rank_header) || !same(rank_header, record.nodes_begin) ||
        !same(record.appendix_begin, record.bytes.size())) {
        return false;
    }
    const std::byte* n = record.node(0);
    const std::byte* before = last_.node(0);
    std::uint64_t different = 0;
    for (OpIndex op_index = 0; op_index < record.nodes; ++op_index) {
        different |= difference(n, before);
        n += node_size;
        before += node_size;
    }
    return different == 0;
}

/// Whether an op of this kind may have this peer.
bool GoalBinaryReader::is_sound(OpKind kind, std::uint32_t peer) const {
    return peer < (kind == OpKind::calc ? 1 : ranks_) || (kind == OpKind::recv && peer == any);
}

void GoalBinaryReader::done(const RankRecord& record) {
    bytes_read_ += record.bytes.size();
    ++read_;
}

/// Finds the record of the next rank. Records must not overlap: otherwise a small file could describe a huge schedule.
GoalBinaryReader::RankRecord GoalBinaryReader::next_record() {
    const std::uint64_t entry = table_begin + table_entry * read_;
    const std::byte* bytes = table_.view(entry, table_entry).data();
    const auto begin = load<std::uint64_t>(bytes);
    const auto end = load<std::uint64_t>(bytes + 8);
    const std::uint64_t first = table_begin - base + table_entry * ranks_;
    const std::uint64_t last = file_.size() - base;
    if (begin < first || begin > last) {
        fail(
            entry,
            "rank " + std::to_string(read_) + " to begin from " + std::to_string(first) + " to " + std::to_string(last),
            begin);
    }
    if (end > last || end < begin || end - begin < rank_header) {
        fail(entry + 8,
             "rank " + std::to_string(read_) + " to end from " + std::to_string(begin + rank_header) + " to " +
                 std::to_string(last),
             end);
    }
    if (bytes_read_ + (end - begin) > last - first) {
        fail(entry, "ranks that do not overlap", begin);
    }
    RankRecord p{.begin = base + begin, .bytes = body_.view(base + begin, end - begin)};
    p.nodes = load<std::uint32_t>(p.bytes.data());
    p.roots = load<std::uint32_t>(p.bytes.data() + 4);
    p.nodes_begin = rank_header + 4 * std::uint64_t{p.roots};
    p.appendix_begin = p.nodes_begin + node_size * p.nodes;
    if (p.nodes > most_ops || p.roots > p.nodes || p.appendix_begin > p.bytes.size()) {
        fail(p.begin,
             "rank " + std::to_string(read_) + " with ops and roots of " + up_to(p.bytes.size() - rank_header) +
                 " bytes",
             node_size * p.nodes + 4 * std::uint64_t{p.roots});
    }
    p.appendix_size = (p.bytes.size() - p.appendix_begin) / 4;
    return p;
}

void GoalBinaryReader::read(const RankRecord& record, OpIndex op_index, Op& op) const {
    const std::byte* n = record.node(op_index);
    const auto type = load<std::uint8_t>(n + node::type);
    if (type < 1 || type > 3) {
        fail(record, op_index, node::type, "1 (send), 2 (recv) or 3 (calc)", type);
    }
    op.size = load<std::uint64_t>(n + node::size);
    op.peer = load<std::uint32_t>(n + node::peer);
    op.tag = load<std::uint32_t>(n + node::tag);
    op.kind = kind_of(n);
    op.cpu = load<std::uint8_t>(n + node::cpu);
    op.nic = load<std::uint8_t>(n + node::nic);
    const bool calc = op.kind == OpKind::calc;
    if (op.size > (calc ? largest_calc : largest_size)) {
        fail(record, op_index, node::size, up_to(calc ? largest_calc : largest_size), op.size);
    }
    if (!is_sound(op.kind, op.peer)) {
        fail(record, op_index, node::peer, calc ? "0, as a calc has no peer" : "a rank below " + std::to_string(ranks_),
             op.peer);
    }
    if (calc && op.tag != 0) {
        fail(record, op_index, node::tag, "0, as a calc has no tag", op.tag);
    }
    if (op.cpu > highest_cpu_) {
        fail(record, op_index, node::cpu, "a CPU of " + up_to(highest_cpu_) + ", as the header says", op.cpu);
    }
    if (op.nic > (calc ? 0 : highest_nic_)) {
        fail(record, op_index, node::nic,
             calc ? "0, as a calc has no NIC" : "a NIC of " + up_to(highest_nic_) + ", as the header says", op.nic);
    }
}

/// Reads an op's list of successors. Lists must lie in the appendix and must not overlap: otherwise a small file could
/// describe very many requirements.
void GoalBinaryReader::successors(const RankRecord& record, OpIndex op_index, Edge edge,
                                  std::vector<Requirement>& requirements) {
    const std::size_t count_at = edge == Edge::end ? node::done_count : node::started_count;
    const std::size_t begin_at = edge == Edge::end ? node::done_begin : node::started_begin;
    const std::byte* n = record.node(op_index);
    const auto count = load<std::uint32_t>(n + count_at);
    const auto begin = load<std::uint32_t>(n + begin_at);
    if (count == 0) {
        return;
    }
    successors_ += count;
    if (successors_ > record.appendix_size) {
        fail(record, op_index, count_at, "successors of " + up_to(record.appendix_size) + " in all", successors_);
    }
    if (begin > record.appendix_size - count) {
        fail(record, op_index, begin_at, up_to(record.appendix_size - count), begin);
    }
    const std::uint64_t list = record.appendix_begin + 4 * std::uint64_t{begin};
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto successor = load<std::uint32_t>(record.bytes.data() + list + 4 * i);
        if (successor >= record.nodes) {
            fail(record.begin + list + 4 * i,
                 "rank " + std::to_string(read_) + ", a successor of op " + std::to_string(op_index) + " below " +
                     std::to_string(record.nodes),
                 successor);
        }
        ++requirement_counts_[successor];
        requirements.push_back({successor, op_index, edge});
    }
}

/// Checks each op's number of requirements, and that the ops without any are the roots, in order.
void GoalBinaryReader::check_requirements(const RankRecord& record) {
    std::uint32_t roots = 0;
    for (OpIndex op_index = 0; op_index < record.nodes; ++op_index) {
        const auto said = load<std::uint32_t>(record.node(op_index) + node::indegree);
        if (said != requirement_counts_[op_index]) {
            fail(record, op_index, node::indegree,
                 std::to_string(requirement_counts_[op_index]) + ", as so many ops name it", said);
        }
        if (said != 0) {
            continue;
        }
        const std::uint64_t at = rank_header + 4 * std::uint64_t{roots};
        const bool missing = roots == record.roots;
        const std::uint64_t root = missing ? 0 : load<std::uint32_t>(record.bytes.data() + at);
        if (missing || root != op_index) {
            fail(record.begin + (missing ? 4 : at),
                 "rank " + std::to_string(read_) + ", op " + std::to_string(op_index) + " as root number " +
                     std::to_string(roots),
                 missing ? record.roots : root);
        }
        ++roots;
    }
    if (roots != record.roots) {
        fail(record.begin + 4, "rank " + std::to_string(read_) + " with " + std::to_string(roots) + " roots",
             record.roots);
    }
}

void GoalBinaryReader::fail(std::uint64_t byte, const std::string& expected, std::uint64_t found) const {
    throw InputError(file_.name() + ": byte " + std::to_string(byte) + ": expected " + expected + ", found " +
                     std::to_string(found));
}

void GoalBinaryReader::fail(const RankRecord& record, OpIndex op_index, std::size_t field, const std::string& expected,
                            std::uint64_t found) const {
    const std::uint64_t byte = record.begin + record.nodes_begin + node_size * op_index + field;
    throw InputError(file_.name() + ": byte " + std::to_string(byte) + ", rank " + std::to_string(read_) + ", op " +
                     std::to_string(op_index) + ": expected " + expected + ", found " + std::to_string(found));
}

}  // namespace idlewave::goal
