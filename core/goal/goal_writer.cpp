#include "goal/goal_writer.hpp"

#include <algorithm>
#include <ostream>

namespace idlewave {
namespace {

void write_op(std::ostream& out, const Op& op) {
    if (op.kind == OpKind::calc) {
        out << "calc " << op.size;
    } else {
        const bool send = op.kind == OpKind::send;
        out << (send ? "send " : "recv ") << op.size << (send ? "b to " : "b from ");
        op.peer == any ? out << "-1" : out << op.peer;
        if (op.tag == any) {
            out << " tag -1";
        } else if (op.tag != 0) {
            out << " tag " << op.tag;
        }
    }
    if (op.cpu != 0) {
        out << " cpu " << static_cast<unsigned>(op.cpu);
    }
    if (op.nic != 0) {
        out << " nic " << static_cast<unsigned>(op.nic);
    }
}

}  // namespace

void write_rank(std::ostream& out, std::uint32_t rank, const Listing& listing) {
    out << "\nrank " << rank << " {\n";
    for (Place place = 0; place < listing.ops.size(); ++place) {
        out << 'l' << place + 1 << ": ";
        write_op(out, listing.ops[place]);
        out << '\n';
    }
    for (const Requirement& r : listing.requirements) {
        out << 'l' << r.waiting + 1 << (r.edge == Edge::end ? " requires l" : " irequires l") << r.other + 1 << '\n';
    }
    out << "}\n";
}

Listing listing(const Graph& graph, std::uint32_t rank) {
    Listing result;
    const auto ops = graph.ops(rank);
    result.ops.assign(ops.begin(), ops.end());
    for (Place place = 0; place < ops.size(); ++place) {
        for (const Edge edge : {Edge::start, Edge::end}) {
            for (const Place follower : graph.followers(rank, place, edge)) {
                result.requirements.push_back({follower, place, edge});
            }
        }
    }
    std::stable_sort(result.requirements.begin(), result.requirements.end(),
                     [](const Requirement& a, const Requirement& b) { return a.waiting < b.waiting; });
    return result;
}

}  // namespace idlewave
