#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/grid.hpp"
#include "collectives/program.hpp"
#include "trace/tags.hpp"

/// Programs as a tracer would record them, written as what a rank does.
namespace idlewave::testing {

/// Writes what one rank does. A peer that is none is MPI_PROC_NULL.
class RankWriter {
  public:
    using Peer = std::optional<std::uint32_t>;

    void compute(std::uint64_t ns) { program_.instructions.extend_calc(ns); }

    void send(Peer to, std::uint64_t bytes, std::uint32_t tag = 0) {
        message(collectives::Instruction::Kind::send, to, bytes, tag, true);
    }
    void recv(Peer from, std::uint64_t bytes, std::uint32_t tag = 0) {
        message(collectives::Instruction::Kind::recv, from, bytes, tag, true);
    }
    void isend(Peer to, std::uint64_t bytes, std::uint32_t tag = 0) {
        message(collectives::Instruction::Kind::send, to, bytes, tag, false);
    }
    void irecv(Peer from, std::uint64_t bytes, std::uint32_t tag = 0) {
        message(collectives::Instruction::Kind::recv, from, bytes, tag, false);
    }

    /// Waits for all that it has started.
    void wait() {
        if (open_.empty()) {
            return;
        }
        program_.instructions.push_back({.kind = collectives::Instruction::Kind::wait,
                                         .begin = static_cast<std::uint32_t>(program_.slot_lists.size()),
                                         .count = static_cast<std::uint32_t>(open_.size())});
        program_.slot_lists.insert(program_.slot_lists.end(), open_.begin(), open_.end());
        open_.clear();
        started_ = 0;
    }

    /// A collective with its default algorithm, on the communicator with this index, of which it is `rank`.
    void collective(collectives::Collective which, std::uint32_t communicator, std::uint32_t rank, std::uint64_t bytes,
                    bool nonblocking = false) {
        program_.instructions.push_back({.kind = collectives::Instruction::Kind::collective,
                                         .slot = nonblocking ? new_slot() : collectives::no_slot,
                                         .begin = static_cast<std::uint32_t>(program_.collectives.size())});
        program_.collectives.push_back({.step = collectives::algorithm(which, "").step,
                                        .communicator = communicator,
                                        .rank = rank,
                                        .tag = trace::Tags::of_collectives(communicator),
                                        .counter = communicator,
                                        .bytes = bytes,
                                        .collective = which});
        program_.counters = std::max(program_.counters, communicator + 1);
    }

    collectives::RankProgram take() {
        program_.instructions.fold();
        return std::move(program_);
    }

  private:
    std::uint32_t new_slot() {
        open_.push_back(started_++);
        program_.slots = std::max(program_.slots, started_);
        return open_.back();
    }

    void message(collectives::Instruction::Kind kind, Peer peer, std::uint64_t bytes, std::uint32_t tag,
                 bool blocking) {
        if (peer) {
            program_.instructions.push_back({.kind = kind,
                                             .blocking = blocking,
                                             .slot = blocking ? collectives::no_slot : new_slot(),
                                             .peer = *peer,
                                             .tag = tag,
                                             .size = bytes});
        }
    }

    collectives::RankProgram program_;
    std::vector<std::uint32_t> open_;
    std::uint32_t started_ = 0;
};

/// The program whose rank r of P does `what(writer, r, P)`, on MPI_COMM_WORLD, which has the index 0.
inline collectives::Program written_program(
    std::uint32_t ranks, const std::function<void(RankWriter&, std::uint32_t rank, std::uint32_t ranks)>& what) {
    collectives::Program program;
    program.communicators.emplace_back();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankWriter writer;
        what(writer, rank, ranks);
        program.communicators[0].push_back(rank);
        program.ranks.push_back(writer.take());
    }
    return program;
}

}  // namespace idlewave::testing
