#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/archive.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/inbox.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/placement.hpp"
#include "pdes/snapshot.hpp"

/// A partition's LPs, pending events and committed records, into a snapshot and out of it.
namespace idlewave::pdes {

/// Which LPs of a run are in a partition, and the index of each: those of its placement, in their order. A scheduler
/// that keeps its LPs in another way has a struct of its own with these members.
struct PlacedLps {
    const Placement& placement;
    std::uint32_t partition;

    /// The number of LPs of the run.
    [[nodiscard]] std::uint32_t all() const { return placement.lps(); }
    /// Whether an LP of the run is here.
    [[nodiscard]] bool has(std::uint32_t lp) const { return placement.of(lp).partition == partition; }
    /// The index of an LP that is here.
    [[nodiscard]] std::uint32_t index_of(std::uint32_t lp) const { return placement.of(lp).local; }
    /// Calls `use` with the index and the number of each LP.
    template <class Use>
    void each(Use use) const {
        for (std::uint32_t i = 0; i < placement.size(partition); ++i) {
            use(i, placement.lp_of(partition, i));
        }
    }
};

/// The parts of a partition that a snapshot reads and writes; `Own` says which LPs it has, as PlacedLps does.
template <WindowModel M, class Own>
struct PartitionContents {
    Own own;
    typename M::Worker& worker;
    Lps<typename M::State>& lps;
    PayloadPool<typename M::Payload>& payloads;
    std::vector<typename EmittedOf<M>::Type>& output;
    std::uint32_t& restored_lps;

    /// Whether an LP of the snapshot is here. Throws InputError if the run has no such LP.
    [[nodiscard]] bool has(std::uint32_t lp) const {
        if (lp >= own.all()) {
            throw InputError("a snapshot of the run has an LP " + std::to_string(lp) + ", of " +
                             std::to_string(own.all()));
        }
        return own.has(lp);
    }
};

template <WindowModel M>
class PartitionSnapshot {
  public:
    using State = typename M::State;
    using Payload = typename M::Payload;
    using Emitted = typename EmittedOf<M>::Type;

    /// Restores what is placed here: LPs and committed records into `to`, an event by `push(event)`, a timer by
    /// `set_timer(index, time)`. Throws InputError if a section is damaged.
    template <class Contents, class Push, class SetTimer>
    static void restore(std::span<const Snapshot::Section> sections, Contents to, Push push, SetTimer set_timer) {
        for (const Snapshot::Section& section : sections) {
            Deserialiser deserialiser(section);
            while (!deserialiser.done()) {
                restore_entry(deserialiser, to, push, set_timer);
            }
        }
    }

    /// Throws InputError if not all `lps` of a partition were restored.
    static void check(std::uint32_t lps, std::uint32_t restored) {
        if (restored != lps) {
            throw InputError("a snapshot of the run has " + std::to_string(restored) + " of the " +
                             std::to_string(lps) + " LPs of a partition");
        }
    }

    /// Adds LPs and committed records to the snapshot, sorted by the partitions of `next`.
    template <class Contents>
    static void save_lps(const Placement& next, Snapshot& snapshot, Contents from) {
        from.own.each([&](std::uint32_t index, std::uint32_t lp) {
            save_lp(from.lps[index], lp, from.worker, snapshot.open(next.of(lp).partition));
        });
        for (const Emitted& emitted : from.output) {
            if constexpr (requires { emitted.lp; }) {
                Serialiser serialiser(snapshot.open(next.of(emitted.lp).partition));
                serialiser(SnapshotEntry::record);
                serialiser(emitted);
            }
        }
    }

    /// Adds an event or a timer of the LP `lp`; `begins`: of its cell.
    static void save_queued(const QueuedEvent& event, std::uint32_t lp, Time begins, const Delivery<M>& delivery,
                            Snapshot::Section& section) {
        if (event.source == QueuedEvent::timer) {
            save_timer(begins + event.offset, lp, section);
        } else {
            save_event(delivery.deliver(event, begins), lp, section);
        }
    }

  private:
    template <class Contents, class Push, class SetTimer>
    static void restore_entry(Deserialiser& deserialiser, Contents& to, Push& push, SetTimer& set_timer) {
        switch (deserialiser.next<SnapshotEntry>()) {
            case SnapshotEntry::lp:
                restore_lp(deserialiser, to);
                return;
            case SnapshotEntry::timer: {
                const auto lp = deserialiser.next<std::uint32_t>();
                const auto time = deserialiser.next<Time>();
                if (to.has(lp)) {
                    set_timer(to.own.index_of(lp), time);
                }
                return;
            }
            case SnapshotEntry::event:
                restore_event(deserialiser, to, push);
                return;
            case SnapshotEntry::record:
                restore_record(deserialiser, to);
                return;
        }
        throw InputError("a snapshot of the run is damaged");
    }

    template <class Contents>
    static void restore_lp(Deserialiser& deserialiser, Contents& to) {
        const auto number = deserialiser.next<std::uint32_t>();
        const auto bytes = deserialiser.next<std::uint32_t>();
        Deserialiser own = deserialiser.part(bytes);
        if (!to.has(number)) {
            return;
        }
        Lp<State>& lp = to.lps.make(to.own.index_of(number));
        ++to.restored_lps;
        own(lp.sequence);
        if constexpr (serialises<M>) {
            to.worker.unpack(lp.state, number, own);
        } else {
            own(lp.state);
        }
    }

    template <class Contents, class Push>
    static void restore_event(Deserialiser& deserialiser, Contents& to, Push& push) {
        PendingEvent event;
        deserialiser(event.time);
        const auto lp = deserialiser.next<std::uint32_t>();
        deserialiser(event.source);
        deserialiser(event.sequence);
        Payload payload{};
        if constexpr (!std::is_empty_v<Payload>) {
            deserialiser(payload);
            event.code = QueuedEvent::pooled;
        }
        if (!to.has(lp)) {
            return;
        }
        event.lp = to.own.index_of(lp);
        if (event.code == QueuedEvent::pooled) {
            take_payload<M>(event, payload, to.worker, to.payloads);
        }
        push(event);
    }

    template <class Contents>
    static void restore_record(Deserialiser& deserialiser, Contents& to) {
        Emitted emitted{};
        deserialiser(emitted);
        if constexpr (requires { emitted.lp; }) {
            if (to.has(emitted.lp)) {
                to.output.push_back(emitted);
            }
        }
    }

    static void save_lp(const Lp<State>& lp, std::uint32_t number, typename M::Worker& worker,
                        Snapshot::Section& section) {
        Serialiser serialiser(section);
        serialiser(SnapshotEntry::lp);
        serialiser(number);
        serialiser(std::uint32_t{0});  // the number of bytes that follow, known below
        const std::size_t begin = section.size();
        serialiser(lp.sequence);
        if constexpr (serialises<M>) {
            worker.pack(lp.state, number, serialiser);
        } else {
            serialiser(lp.state);
        }
        store(section.data() + begin - sizeof(std::uint32_t), static_cast<std::uint32_t>(section.size() - begin));
    }

    static void save_timer(Time time, std::uint32_t lp, Snapshot::Section& section) {
        Serialiser serialiser(section);
        serialiser(SnapshotEntry::timer);
        serialiser(lp);
        serialiser(time);
    }

    static void save_event(const Event<Payload>& event, std::uint32_t lp, Snapshot::Section& section) {
        Serialiser serialiser(section);
        serialiser(SnapshotEntry::event);
        serialiser(event.time);
        serialiser(lp);
        serialiser(event.source);
        serialiser(event.sequence);
        if constexpr (!std::is_empty_v<Payload>) {
            serialiser(*event.payload);
        }
    }
};

}  // namespace idlewave::pdes
