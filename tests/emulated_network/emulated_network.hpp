// The simulator's rules (docs/model.md) for two ranks, each with one CPU and one NIC; times in ps.
//
// A rank's program is sequential, so it has at most one op under way. Of all that waits, what can start first starts
// first; ties by the rules' order. One thing differs from the simulator: a message whose CPU was busy computing while
// its last byte came is processed when the CPU is done with it, because nothing but the CPU's work is left to do. By
// the simulator's rule the bytes would begin to come only then. No PRTT has such a message.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/failure.hpp"

namespace idlewave::probe::network {

using Picoseconds = std::int64_t;

struct NetworkRange {
    std::int64_t from = 1;
    Picoseconds L = 0, o_s = 0, o_r = 0, g = 0;
    double G = 0, O = 0;  // ps per byte
};

struct NetworkModel {
    std::int64_t S = std::numeric_limits<std::int64_t>::max();
    std::vector<NetworkRange> ranges;  // ascending, the first from 1

    const NetworkRange& of(std::int64_t size) const {
        const NetworkRange* found = &ranges.front();
        for (const NetworkRange& range : ranges) {
            if (std::max<std::int64_t>(size, 1) >= range.from) found = &range;
        }
        return *found;
    }
};

// `bytes` further bytes at a cost each, rounded once, halves up.
inline Picoseconds per_byte(double cost, std::int64_t size) {
    const std::int64_t bytes = std::max<std::int64_t>(size - 1, 0);
    return static_cast<Picoseconds>(std::floor(static_cast<double>(bytes) * cost + 0.5));
}

// First line: S in bytes, or inf. Others: from L o_s o_r g G O, times in ps.
inline NetworkModel read_network(const std::string& file) {
    std::ifstream input(file);
    if (!input) throw refused(file + " cannot be read");
    NetworkModel model;
    int number = 0;
    for (std::string line; std::getline(input, line);) {
        ++number;
        std::istringstream fields(line);
        const std::string place = file + ", line " + std::to_string(number) + ": ";
        if (number == 1) {
            if (line.substr(0, 3) != "inf" && (!(fields >> model.S) || model.S < 0)) {
                throw refused(place + "expected S in bytes or inf, found '" + line.append("'"));
            }
            continue;
        }
        NetworkRange r;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        std::string rest;
        const bool whole = static_cast<bool>(fields >> r.from >> r.L >> r.o_s >> r.o_r >> r.g >> r.G >> r.O);
        if (!whole || fields >> rest) {
            throw refused(place + "expected seven numbers, from L o_s o_r g G O in ps, found '" + line.append("'"));
        }
        const bool order = model.ranges.empty() ? r.from == 1 : r.from > model.ranges.back().from;
        if (!order) throw refused(place + "ranges ascend, the first is from 1; found " + std::to_string(r.from));
        const auto time = [](Picoseconds t) { return t >= 0 && t <= 1'000'000'000'000; };
        const auto cost = [](double c) { return c >= 0 && c <= 1e9; };
        if (!time(r.L) || !time(r.o_s) || !time(r.o_r) || !time(r.g) || !cost(r.G) || !cost(r.O)) {
            throw refused(place + "times are 0 to a second, costs per byte 0 to a millisecond");
        }
        model.ranges.push_back(r);
    }
    if (model.ranges.empty()) throw refused(file + ": expected S, and a line for each range of sizes");
    return model;
}

class EmulatedNetwork {
  public:
    explicit EmulatedNetwork(NetworkModel model) : model_(std::move(model)) {}

    // ---- what a rank's program does: begin an op, and ask whether it has ended. Its own time is `now`.
    void begin_compute(int rank, Picoseconds length) { begin_op(rank, {Kind::calc, now(rank), length, 0}); }
    void begin_send(int rank, std::int64_t size) { begin_op(rank, {Kind::send, now(rank), 0, size}); }
    void post(int rank) {
        posted_[rank].push_back(now(rank));
        answer_requests(rank);
    }
    // The oldest receive posted that was not awaited before.
    void begin_wait(int rank) {
        ranks_[rank].waits = true;
        ranks_[rank].ended = false;
    }

    bool ended(int rank) {
        RankState& me = ranks_[rank];
        if (me.ended) return true;
        if (!me.waits) return false;
        const std::size_t number = me.awaited;
        if (number >= messages_[rank].size() || !messages_[rank][number].processed) return false;
        me.now = std::max({me.now, *messages_[rank][number].processed, posted_[rank][number]});
        ++me.awaited;
        me.waits = false;
        me.ended = true;
        return true;
    }

    Picoseconds now(int rank) const { return ranks_[rank].now; }
    void no_sooner_than(int rank, Picoseconds time) { ranks_[rank].now = std::max(ranks_[rank].now, time); }

    // When both ranks' CPUs and NICs are free of messages.
    Picoseconds idle_from() const {
        Picoseconds latest = 0;
        for (const RankState& rank : ranks_) {
            latest = std::max({latest, rank.transmit, rank.receive, rank.computing ? 0 : rank.cpu});
        }
        return latest;
    }

    // Start what can start first. False if nothing waits to.
    bool step() {
        std::optional<std::pair<Place, Request>> first;
        std::size_t at = 0;
        for (int rank = 0; rank < 2; ++rank) {
            for (std::size_t i = 0; i < requests_[rank].size(); ++i) {
                const Request& request = requests_[rank][i];
                const Place place = place_of(rank, request);
                if (first && first->first <= place) continue;
                first = {place, request};
                at = i;
            }
        }
        if (!first) return false;
        const int rank = std::get<1>(first->first);
        requests_[rank].erase(requests_[rank].begin() + static_cast<std::ptrdiff_t>(at));
        start(rank, first->second, std::get<0>(first->first));
        return true;
    }

    // Between samples, when every message was received: a long run needs no more memory than a short one.
    void forget() {
        for (int rank = 0; rank < 2; ++rank) {
            messages_[rank].clear();
            posted_[rank].clear();
            ranks_[rank].awaited = 0;
            ranks_[rank].sent = 0;
        }
    }

  private:
    // In the order in which they go first at one time on one rank.
    enum class Kind { arrival, protocol, send, calc };
    enum class Content { eager, request, clear, data };

    struct Request {
        Kind kind = Kind::calc;
        Picoseconds ready = 0;
        Picoseconds length = 0;  // of a calc
        std::int64_t size = 0;   // of the message
        Content content = Content::eager;
        std::size_t message = 0;  // its number among those of its direction
        std::int64_t count = 0;   // of its sender's transmissions
    };

    struct Message {
        std::int64_t size = 0;
        std::optional<Picoseconds> requested;  // its request is processed
        std::optional<Picoseconds> processed;
        bool cleared = false;
    };

    struct RankState {
        Picoseconds now = 0;
        Picoseconds cpu = 0, transmit = 0, receive = 0;  // free from
        bool computing = false;                          // what the CPU did last was the program's own
        bool ended = true;
        bool waits = false;
        std::size_t awaited = 0;
        std::size_t sent = 0;
        std::int64_t transmissions = 0;
    };

    using Place = std::tuple<Picoseconds, int, Picoseconds, Kind, std::int64_t>;

    void begin_op(int rank, Request request) {
        ranks_[rank].ended = false;
        requests_[rank].push_back(request);
    }

    Place place_of(int rank, const Request& request) const {
        const RankState& me = ranks_[rank];
        Picoseconds start = std::max(request.ready, me.cpu);
        if (request.kind == Kind::arrival) start = std::max(start, me.receive);
        if (request.kind == Kind::send || request.kind == Kind::protocol) start = std::max(start, me.transmit);
        return {start, rank, request.ready, request.kind, request.count};
    }

    void start(int rank, const Request& request, Picoseconds t) {
        RankState& me = ranks_[rank];
        switch (request.kind) {
            case Kind::calc:
                me.cpu = t + request.length;
                me.computing = true;
                end_op(rank, me.cpu);
                return;
            case Kind::send:
                start_send(rank, request, t);
                return;
            case Kind::protocol:
                transmit(rank, request.content, request.content == Content::data ? request.size : 1, request.message,
                         request.size, t);
                if (request.content == Content::data) end_op(rank, me.cpu);
                return;
            case Kind::arrival:
                arrive(rank, request, t);
                return;
        }
    }

    void end_op(int rank, Picoseconds time) {
        ranks_[rank].now = std::max(ranks_[rank].now, time);
        ranks_[rank].ended = true;
    }

    void start_send(int rank, const Request& request, Picoseconds t) {
        const std::size_t number = ranks_[rank].sent++;
        auto& inbox = messages_[1 - rank];
        if (inbox.size() <= number) inbox.resize(number + 1);
        inbox[number].size = request.size;
        if (request.size > model_.S) {
            transmit(rank, Content::request, 1, number, request.size, t);
            return;  // it ends with the data
        }
        transmit(rank, Content::eager, request.size, number, request.size, t);
        end_op(rank, ranks_[rank].cpu);
    }

    void transmit(int rank, Content content, std::int64_t bytes, std::size_t message, std::int64_t size,
                  Picoseconds t) {
        RankState& me = ranks_[rank];
        const NetworkRange& p = model_.of(bytes);
        me.cpu = t + p.o_s + per_byte(p.O, bytes);
        me.transmit = t + p.g + per_byte(p.G, bytes);
        me.computing = false;
        requests_[1 - rank].push_back({Kind::arrival, t + p.o_s + p.L, 0, size, content, message, me.transmissions++});
    }

    void arrive(int rank, const Request& request, Picoseconds t) {
        RankState& me = ranks_[rank];
        const bool payload = request.content == Content::eager || request.content == Content::data;
        const std::int64_t bytes = payload ? request.size : 1;
        const NetworkRange& p = model_.of(bytes);
        const Picoseconds bytes_come = per_byte(p.G, bytes);
        const bool was_computing = me.computing && me.cpu == t && request.ready + p.o_r + bytes_come <= t;
        me.cpu = t + p.o_r + per_byte(p.O, bytes);
        me.receive = t + p.g + bytes_come;
        me.computing = false;
        const Picoseconds processed = was_computing ? me.cpu : std::max(me.cpu, t + p.o_r + bytes_come);
        if (request.content == Content::clear) {
            requests_[rank].push_back({Kind::protocol, processed, 0, request.size, Content::data, request.message,
                                       ranks_[rank].transmissions});
            return;
        }
        Message& message = messages_[rank][request.message];
        (payload ? message.processed : message.requested) = processed;
        if (!payload) unanswered_[rank] = request.message;
        answer_requests(rank);
    }

    // A request that is processed, and whose receive is posted, is answered.
    void answer_requests(int rank) {
        if (!unanswered_[rank]) return;
        const std::size_t number = *unanswered_[rank];
        if (number >= posted_[rank].size()) return;
        const Message& message = messages_[rank][number];
        unanswered_[rank].reset();
        requests_[rank].push_back({Kind::protocol, std::max(*message.requested, posted_[rank][number]), 0, message.size,
                                   Content::clear, number, ranks_[rank].transmissions});
    }

    NetworkModel model_;
    std::array<RankState, 2> ranks_;
    std::array<std::vector<Request>, 2> requests_;
    std::array<std::deque<Message>, 2> messages_;  // to that rank
    std::array<std::deque<Picoseconds>, 2> posted_;
    std::array<std::optional<std::size_t>, 2> unanswered_;
};

}  // namespace idlewave::probe::network
