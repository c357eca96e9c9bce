#include "goal/goal_binary_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "goal/goal_binary.hpp"

namespace idlewave {

using namespace goal_binary;

namespace {

constexpr std::size_t table_ahead = std::size_t{1} << 16;
constexpr std::size_t body_ahead = std::size_t{1} << 19;

/// Of an op whose type is sound.
OpKind kind_of(const std::byte* op) {
    return static_cast<OpKind>(load<std::uint8_t>(op + node::type) - 1);
}

/// Not 0 if two ops differ in more than their peers.
std::uint64_t difference(const std::byte* a, const std::byte* b) {
    static_assert(node::type == 4 && node::peer == 5 && node::size == 9 && node_size == 39);
    constexpr std::uint64_t before_peer = (std::uint64_t{1} << 8 * node::peer) - 1;
    const auto differ = [=](std::size_t at) { return load<std::uint64_t>(a + at) ^ load<std::uint64_t>(b + at); };
    return (differ(0) & before_peer) | differ(node::size) | differ(17) | differ(25) | differ(node_size - 8);
}

std::string up_to(std::uint64_t largest) {
    return std::to_string(largest) + " or less";
}

}  // namespace

const std::byte* GoalBinaryReader::Part::node(Place place) const {
    return bytes.data() + nodes_begin + node_size * place;
}

GoalBinaryReader::GoalBinaryReader(const InputFile& file)
    : file_(file), table_(file, table_ahead), body_(file, body_ahead) {
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

bool GoalBinaryReader::next(Listing& rank) {
    rank.clear();
    if (read_ == ranks_) {
        return false;
    }
    const Part p = part();
    waits_.assign(p.nodes, 0);
    listed_ = 0;
    rank.ops.resize(p.nodes);
    for (Place place = 0; place < p.nodes; ++place) {
        read(p, place, rank.ops[place]);
        followers(p, place, Edge::start, rank.requirements);
        followers(p, place, Edge::end, rank.requirements);
    }
    check_waiting(p);
    if (keeps_last_) {
        last_bytes_.assign(p.bytes.begin(), p.bytes.end());
        last_ = p;
        last_.bytes = last_bytes_;
    }
    done(p);
    return true;
}

bool GoalBinaryReader::next_like_last(std::vector<std::uint32_t>& peers) {
    if (read_ == 0 || read_ == ranks_) {
        return false;
    }
    const Part p = part();
    if (!is_like_last(p)) {
        return false;
    }
    peers.resize(p.nodes);
    const std::byte* n = p.node(0);
    for (std::uint32_t& peer : peers) {
        peer = load<std::uint32_t>(n + node::peer);
        if (!is_sound(kind_of(n), peer)) {
            return false;
        }
        n += node_size;
    }
    done(p);
    return true;
}

/// Whether all but the peers is the same.
bool GoalBinaryReader::is_like_last(const Part& part) const {
    const auto same = [&](std::uint64_t begin, std::uint64_t end) {
        return std::memcmp(part.bytes.data() + begin, last_.bytes.data() + begin, end - begin) == 0;
    };
    if (part.bytes.size() != last_.bytes.size() || !same(0, rank_header) || !same(rank_header, part.nodes_begin) ||
        !same(part.appendix_begin, part.bytes.size())) {
        return false;
    }
    const std::byte* n = part.node(0);
    const std::byte* before = last_.node(0);
    std::uint64_t different = 0;
    for (Place place = 0; place < part.nodes; ++place) {
        different |= difference(n, before);
        n += node_size;
        before += node_size;
    }
    return different == 0;
}

/// Whether an op may have this peer.
bool GoalBinaryReader::is_sound(OpKind kind, std::uint32_t peer) const {
    return peer < (kind == OpKind::calc ? 1 : ranks_) || (kind == OpKind::recv && peer == any);
}

void GoalBinaryReader::done(const Part& part) {
    bytes_read_ += part.bytes.size();
    ++read_;
}

/// Finds the next rank's part. Ranks must not overlap, or a small file could be a large schedule.
GoalBinaryReader::Part GoalBinaryReader::part() {
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
    Part p{.begin = base + begin, .bytes = body_.view(base + begin, end - begin)};
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

void GoalBinaryReader::read(const Part& part, Place place, Op& op) const {
    const std::byte* n = part.node(place);
    const auto type = load<std::uint8_t>(n + node::type);
    if (type < 1 || type > 3) {
        fail(part, place, node::type, "1 (send), 2 (recv) or 3 (calc)", type);
    }
    op.size = load<std::uint64_t>(n + node::size);
    op.peer = load<std::uint32_t>(n + node::peer);
    op.tag = load<std::uint32_t>(n + node::tag);
    op.kind = kind_of(n);
    op.cpu = load<std::uint8_t>(n + node::cpu);
    op.nic = load<std::uint8_t>(n + node::nic);
    const bool calc = op.kind == OpKind::calc;
    if (op.size > (calc ? largest_calc : largest_size)) {
        fail(part, place, node::size, up_to(calc ? largest_calc : largest_size), op.size);
    }
    if (!is_sound(op.kind, op.peer)) {
        fail(part, place, node::peer, calc ? "0, as a calc has no peer" : "a rank below " + std::to_string(ranks_),
             op.peer);
    }
    if (calc && op.tag != 0) {
        fail(part, place, node::tag, "0, as a calc has no tag", op.tag);
    }
    if (op.cpu > highest_cpu_) {
        fail(part, place, node::cpu, "a CPU of " + up_to(highest_cpu_) + ", as the header says", op.cpu);
    }
    if (op.nic > (calc ? 0 : highest_nic_)) {
        fail(part, place, node::nic,
             calc ? "0, as a calc has no NIC" : "a NIC of " + up_to(highest_nic_) + ", as the header says", op.nic);
    }
}

/// Lists must lie in the appendix, and not in each other, or a small file could have very many dependencies.
void GoalBinaryReader::followers(const Part& part, Place place, Edge edge, std::vector<Requirement>& requirements) {
    const std::size_t count_at = edge == Edge::end ? node::done_count : node::started_count;
    const std::size_t begin_at = edge == Edge::end ? node::done_begin : node::started_begin;
    const std::byte* n = part.node(place);
    const auto count = load<std::uint32_t>(n + count_at);
    const auto begin = load<std::uint32_t>(n + begin_at);
    if (count == 0) {
        return;
    }
    listed_ += count;
    if (listed_ > part.appendix_size) {
        fail(part, place, count_at, "followers of " + up_to(part.appendix_size) + " in all", listed_);
    }
    if (begin > part.appendix_size - count) {
        fail(part, place, begin_at, up_to(part.appendix_size - count), begin);
    }
    const std::uint64_t list = part.appendix_begin + 4 * std::uint64_t{begin};
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto follower = load<std::uint32_t>(part.bytes.data() + list + 4 * i);
        if (follower >= part.nodes) {
            fail(part.begin + list + 4 * i,
                 "rank " + std::to_string(read_) + ", a follower of op " + std::to_string(place) + " below " +
                     std::to_string(part.nodes),
                 follower);
        }
        ++waits_[follower];
        requirements.push_back({follower, place, edge});
    }
}

/// Ops must say as many requirements as there are; those without any must be the roots, in order.
void GoalBinaryReader::check_waiting(const Part& part) {
    std::uint32_t roots = 0;
    for (Place place = 0; place < part.nodes; ++place) {
        const auto said = load<std::uint32_t>(part.node(place) + node::indegree);
        if (said != waits_[place]) {
            fail(part, place, node::indegree, std::to_string(waits_[place]) + ", as so many ops name it", said);
        }
        if (said != 0) {
            continue;
        }
        const std::uint64_t at = rank_header + 4 * std::uint64_t{roots};
        const bool missing = roots == part.roots;
        const std::uint64_t root = missing ? 0 : load<std::uint32_t>(part.bytes.data() + at);
        if (missing || root != place) {
            fail(part.begin + (missing ? 4 : at),
                 "rank " + std::to_string(read_) + ", op " + std::to_string(place) + " as root number " +
                     std::to_string(roots),
                 missing ? part.roots : root);
        }
        ++roots;
    }
    if (roots != part.roots) {
        fail(part.begin + 4, "rank " + std::to_string(read_) + " with " + std::to_string(roots) + " roots", part.roots);
    }
}

void GoalBinaryReader::fail(std::uint64_t byte, const std::string& expected, std::uint64_t found) const {
    throw InputError(file_.name() + ": byte " + std::to_string(byte) + ": expected " + expected + ", found " +
                     std::to_string(found));
}

void GoalBinaryReader::fail(const Part& part, Place place, std::size_t field, const std::string& expected,
                            std::uint64_t found) const {
    const std::uint64_t byte = part.begin + part.nodes_begin + node_size * place + field;
    throw InputError(file_.name() + ": byte " + std::to_string(byte) + ", rank " + std::to_string(read_) + ", op " +
                     std::to_string(place) + ": expected " + expected + ", found " + std::to_string(found));
}

}  // namespace idlewave
