#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "pdes/exchange.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/snapshot.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::loggops {

/// The results of all ranks of a simulation. Each process adds those of its own ranks; the first process gathers all.
template <class Observer>
class RankResults {
  public:
    using Moment = typename Observer::Moment;

    RankResults(const pdes::RunConfiguration& configuration, Observer& observer)
        : configuration_(configuration), observer_(observer), snapshot_(configuration.partitions()) {}

    /// A collective call of all processes of the run: whether there is memory in the first process for the records of
    /// all ranks. Throws InputError in all processes if there is not, and TransportError.
    void check_memory() {
        if constexpr (Observer::records) {
            std::uint64_t bytes = observer_.bytes();
            pdes::sum_over_processes(std::span(&bytes, 1), configuration_.transport);
            if (bytes > observer_.most_bytes()) {
                observer_.refuse_memory();
            }
        }
    }

    /// Adds the finish time of a rank and what the observer has recorded of it, or the unfinished ops and messages of
    /// some ranks. In one process the record stays with the observer.
    void add(std::uint32_t rank, const Moment& finish) {
        put(Item::finish, rank, finish);
        if constexpr (Observer::records) {
            if (configuration_.transport != nullptr) {
                Serialiser serialiser(snapshot_.open(0));
                serialiser(Item::record);
                serialiser(rank);
                observer_.pack(rank, serialiser);
            }
        }
    }
    void add(const standstill::Unfinished& unfinished) {
        for (const standstill::PendingOp& op : unfinished.pending()) {
            put(Item::pending, op);
        }
        for (const standstill::UnfinishedRank& rank : unfinished.ranks()) {
            put(Item::stuck, rank);
        }
        for (const standstill::UnexpectedMessage& message : unfinished.messages()) {
            put(Item::message, message);
        }
        if (const std::uint64_t more = unfinished.message_count() - unfinished.messages().size(); more > 0) {
            put(Item::dropped, more);
        }
    }

    /// A collective call of all processes of the run. The first process gets the finish times of all `ranks`, what was
    /// recorded, and everything that is unfinished; the others get nothing. Throws TransportError.
    standstill::Unfinished gather(std::uint32_t ranks, std::vector<Moment>& finish) {
        if (configuration_.transport != nullptr) {
            pdes::exchange(snapshot_, *configuration_.transport, configuration_.threads);
            if (configuration_.transport->process != 0) {
                return {};
            }
        }
        finish.resize(ranks);
        standstill::Unfinished unfinished;
        for (pdes::Snapshot::Section& section : snapshot_.of(0)) {
            Deserialiser deserialiser(section);
            while (!deserialiser.done()) {
                take(deserialiser, finish, unfinished);
            }
            section = {};
        }
        return unfinished;
    }

  private:
    enum class Item : std::uint8_t { finish, record, pending, stuck, message, dropped };

    template <class... T>
    void put(Item item, const T&... values) {
        Serialiser serialiser(snapshot_.open(0));
        serialiser(item);
        (serialiser(values), ...);
    }

    void take(Deserialiser& deserialiser, std::vector<Moment>& finish, standstill::Unfinished& unfinished) {
        switch (deserialiser.next<Item>()) {
            case Item::finish:
                deserialiser(finish.at(deserialiser.next<std::uint32_t>()));
                break;
            case Item::record:
                if constexpr (Observer::records) {
                    observer_.unpack(deserialiser.next<std::uint32_t>(), deserialiser);
                }
                break;
            case Item::pending:
                unfinished.add(deserialiser.next<standstill::PendingOp>());
                break;
            case Item::stuck:
                unfinished.add(deserialiser.next<standstill::UnfinishedRank>());
                break;
            case Item::message:
                unfinished.add(deserialiser.next<standstill::UnexpectedMessage>());
                break;
            case Item::dropped:
                unfinished.add_dropped(deserialiser.next<std::uint64_t>());
                break;
        }
    }

    const pdes::RunConfiguration& configuration_;
    Observer& observer_;
    pdes::Snapshot snapshot_;
};

}  // namespace idlewave::loggops
