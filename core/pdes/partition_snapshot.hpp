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
#include "pdes/event.hpp"
#include "pdes/event_queue.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/placement.hpp"
#include "pdes/snapshot.hpp"

/// A partition's LPs, pending events and committed records, into a snapshot and out of it.
namespace idlewave::pdes {

/// Gives an event its payload, which came from outside of this process: the model's code for it, or a slot.
template <WindowModel M>
void take_payload(PendingEvent& event, typename M::Payload& payload, typename M::Worker& worker,
                  PayloadPool<typename M::Payload>& payloads) {
    if constexpr (assigns_codes<M>) {
        event.code = worker.assign_code(payload);
    }
    if (event.code == QueuedEvent::pooled) {
        event.sequence = payloads.put(event.sequence, payload);
    }
}

/// The parts of a partition that a snapshot reads and writes.
template <WindowModel M>
struct PartitionContents {
    const Placement& placement;
    std::uint32_t self;
    typename M::Worker& worker;
    Lps<typename M::State>& lps;
    PayloadPool<typename M::Payload>& payloads;
    std::vector<typename EmittedOf<M>::Type>& output;
    std::uint32_t& restored_lps;

    /// Whether an LP of the snapshot is placed here. Throws InputError if there is no such LP.
    [[nodiscard]] bool has(std::uint32_t lp) const {
        if (lp >= placement.lps()) {
            throw InputError("a snapshot of the run has an LP " + std::to_string(lp) + ", of " +
                             std::to_string(placement.lps()));
        }
        return placement.of(lp).partition == self;
    }
};

template <WindowModel M>
class PartitionSnapshot {
  public:
    using State = typename M::State;
    using Payload = typename M::Payload;
    using Emitted = typename EmittedOf<M>::Type;
    using Contents = PartitionContents<M>;

    /// Restores what is placed here: LPs and committed records into `to`, an event by `push(event)`, a timer by
    /// `set_timer(local, time)`. Throws InputError if a part is damaged.
    template <class Push, class SetTimer>
    static void restore(std::span<const Snapshot::Part> parts, Contents to, Push push, SetTimer set_timer) {
        for (const Snapshot::Part& part : parts) {
            Deserialiser unpacker(part);
            while (!unpacker.done()) {
                restore_entry(unpacker, to, push, set_timer);
            }
        }
    }

    /// Throws InputError if not all LPs of a partition were restored.
    static void check(const Lps<State>& lps, std::uint32_t restored) {
        if (restored != lps.size()) {
            throw InputError("a snapshot of the run has " + std::to_string(restored) + " of the " +
                             std::to_string(lps.size()) + " LPs of a partition");
        }
    }

    /// Adds a paused partition to the snapshot, sorted by the partitions of `next`; empties the queue.
    static void save(const Placement& next, Snapshot& snapshot, Contents from, EventQueue<M>& queue) {
        for (std::uint32_t i = 0; i < from.lps.size(); ++i) {
            save_lp(i, from, snapshot.open(next.of(from.placement.lp_of(from.self, i)).partition));
        }
        save_events(next, snapshot, from, queue);
        for (const Emitted& emitted : from.output) {
            if constexpr (requires { emitted.lp; }) {
                Serialiser packer(snapshot.open(next.of(emitted.lp).partition));
                packer(SnapshotEntry::record);
                packer(emitted);
            }
        }
    }

  private:
    template <class Push, class SetTimer>
    static void restore_entry(Deserialiser& unpacker, Contents& to, Push& push, SetTimer& set_timer) {
        switch (unpacker.next<SnapshotEntry>()) {
            case SnapshotEntry::lp:
                restore_lp(unpacker, to);
                return;
            case SnapshotEntry::timer: {
                const auto lp = unpacker.next<std::uint32_t>();
                const auto time = unpacker.next<Time>();
                if (to.has(lp)) {
                    set_timer(to.placement.of(lp).local, time);
                }
                return;
            }
            case SnapshotEntry::event:
                restore_event(unpacker, to, push);
                return;
            case SnapshotEntry::record:
                restore_record(unpacker, to);
                return;
        }
        throw InputError("a snapshot of the run is damaged");
    }

    static void restore_lp(Deserialiser& unpacker, Contents& to) {
        const auto number = unpacker.next<std::uint32_t>();
        const auto bytes = unpacker.next<std::uint32_t>();
        Deserialiser own = unpacker.part(bytes);
        if (!to.has(number)) {
            return;
        }
        Lp<State>& lp = to.lps.make(to.placement.of(number).local);
        ++to.restored_lps;
        own(lp.sequence);
        if constexpr (serialises<M>) {
            to.worker.unpack(lp.state, number, own);
        } else {
            own(lp.state);
        }
    }

    template <class Push>
    static void restore_event(Deserialiser& unpacker, Contents& to, Push& push) {
        PendingEvent event;
        unpacker(event.time);
        const auto lp = unpacker.next<std::uint32_t>();
        unpacker(event.source);
        unpacker(event.sequence);
        Payload payload{};
        if constexpr (!std::is_empty_v<Payload>) {
            unpacker(payload);
            event.code = QueuedEvent::pooled;
        }
        if (!to.has(lp)) {
            return;
        }
        event.lp = to.placement.of(lp).local;
        if (event.code == QueuedEvent::pooled) {
            take_payload<M>(event, payload, to.worker, to.payloads);
        }
        push(event);
    }

    static void restore_record(Deserialiser& unpacker, Contents& to) {
        Emitted emitted{};
        unpacker(emitted);
        if constexpr (requires { emitted.lp; }) {
            if (to.has(emitted.lp)) {
                to.output.push_back(emitted);
            }
        }
    }

    static void save_lp(std::uint32_t local, Contents& from, Snapshot::Part& part) {
        const Lp<State>& lp = from.lps[local];
        const std::uint32_t number = from.placement.lp_of(from.self, local);
        Serialiser packer(part);
        packer(SnapshotEntry::lp);
        packer(number);
        packer(std::uint32_t{0});  // the number of bytes that follow, known below
        const std::size_t begin = part.size();
        packer(lp.sequence);
        if constexpr (serialises<M>) {
            from.worker.pack(lp.state, number, packer);
        } else {
            packer(lp.state);
        }
        store(part.data() + begin - sizeof(std::uint32_t), static_cast<std::uint32_t>(part.size() - begin));
    }

    static void save_events(const Placement& next, Snapshot& snapshot, Contents& from, EventQueue<M>& queue) {
        const Grid& grid = queue.grid();
        for (std::int64_t cell = queue.first_cell(); cell != CalendarQueue::none; cell = queue.first_cell()) {
            if (!queue.has_buckets(cell)) {
                queue.advance(cell);
                continue;
            }
            const std::uint32_t block = queue.take_block(cell);
            const Time begins = grid.begin_of(cell);
            queue.each_lp([&](std::span<const QueuedEvent> events, bool has_anti_messages) {
                const std::uint32_t lp =
                    from.placement.lp_of(from.self, (block << grid.block_shift) + events.front().lp);
                for (const QueuedEvent& event : has_anti_messages ? queue.remaining(events, begins) : events) {
                    Snapshot::Part& part = snapshot.open(next.of(lp).partition);
                    if (event.source == QueuedEvent::timer) {
                        save_timer(begins + event.offset, lp, part);
                    } else {
                        save_event(queue.delivery().deliver(event, begins), lp, part);
                    }
                }
            });
        }
    }

    static void save_timer(Time time, std::uint32_t lp, Snapshot::Part& part) {
        Serialiser packer(part);
        packer(SnapshotEntry::timer);
        packer(lp);
        packer(time);
    }

    static void save_event(const Event<Payload>& event, std::uint32_t lp, Snapshot::Part& part) {
        Serialiser packer(part);
        packer(SnapshotEntry::event);
        packer(event.time);
        packer(lp);
        packer(event.source);
        packer(event.sequence);
        if constexpr (!std::is_empty_v<Payload>) {
            packer(*event.payload);
        }
    }
};

}  // namespace idlewave::pdes
