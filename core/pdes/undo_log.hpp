#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/huge_memory.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/undo_records.hpp"

namespace idlewave::pdes {

/// The undo log of a partition: for each execution of an LP in a cell a record with which it can be rolled back or
/// committed. The state is restored from a copy, or by a model that undoes itself.
template <WindowModel M>
class UndoLog {
  public:
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Emitted = typename EmittedOf<M>::Type;

    /// What the present execution leaves behind.
    struct Execution {
        std::vector<std::byte> undo_data;  ///< of a model that undoes itself
        std::vector<Emitted> emitted;
        std::vector<SentEvent> sent;
        std::vector<Payload> sent_payloads;  ///< of the pooled events among them, for lazy cancellation

        void clear() {
            sent.clear();
            sent_payloads.clear();
            undo_data.clear();
            emitted.clear();
        }
    };

    explicit UndoLog(std::uint32_t lps) : last_(lps), records_(lps < few_lps ? few_bytes : many_bytes) {}

    [[nodiscard]] Execution& execution() { return execution_; }

    /// Whether the LP was executed in `cell` or after it, and not rolled back.
    [[nodiscard]] bool is_executed_from(std::uint32_t local, std::int64_t cell) const {
        return last_[local].cell_after > cell;
    }

    /// Opens the record of an execution: the LP as it is, and the events that it will execute.
    UndoRecord* open(const Lp<State>& lp, std::uint32_t local, std::int64_t cell, std::span<const QueuedEvent> events) {
        execution_.clear();
        constexpr std::size_t state_bytes = writes_undo<M> ? 0 : UndoRecord::padded(sizeof(State));
        UndoRecord* record = records_.open(sizeof(UndoRecord) + state_bytes + events.size() * sizeof(QueuedEvent));
        const Last& last = last_[local];
        record->before = last.record;
        record->cell_before = last.cell_after;
        record->cell = cell;
        record->lp = local;
        record->events = static_cast<std::uint32_t>(events.size());
        record->sends = 0;
        record->payload_bytes = record->undo_bytes = record->emitted_bytes = 0;
        record->sequence = lp.sequence;
        record->timer = lp.timer;
        record->state_bytes = state_bytes;
        record->rolled_back = false;
        if constexpr (!writes_undo<M>) {
            std::memcpy(record->state(), &lp.state, sizeof(State));
        }
        std::copy(events.begin(), events.end(), record->executed().begin());
        return record;
    }

    /// Closes it with what the execution left behind; `count`: events, as the worker counts them.
    void close(UndoRecord* record, std::uint64_t count) {
        const std::size_t written = record->bytes();
        const std::size_t payload_bytes = execution_.sent_payloads.size() * sizeof(Payload);
        const std::size_t emitted_bytes = execution_.emitted.size() * sizeof(Emitted);
        const std::size_t more = execution_.sent.size() * sizeof(SentEvent) + UndoRecord::padded(payload_bytes) +
                                 UndoRecord::padded(execution_.undo_data.size()) + UndoRecord::padded(emitted_bytes);
        if (more > 0) {
            record = records_.reopen(record, written, written + more);
            record->sends = static_cast<std::uint32_t>(execution_.sent.size());
            record->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
            record->undo_bytes = static_cast<std::uint32_t>(execution_.undo_data.size());
            record->emitted_bytes = static_cast<std::uint32_t>(emitted_bytes);
            std::copy(execution_.sent.begin(), execution_.sent.end(), record->sent().begin());
            copy_into(record->payloads(), execution_.sent_payloads.data());
            copy_into(record->undo_data(), execution_.undo_data.data());
            copy_into(record->emitted(), execution_.emitted.data());
        }
        record->count = static_cast<std::uint32_t>(count);
        records_.close(record);
        last_[record->lp] = {record, record->cell + 1};
    }

    /// Rolls an LP back to the beginning of `cell`: `undo` is called with each record from there on, the latest first.
    template <class Undo>
    void roll_back(std::uint32_t local, std::int64_t cell, Undo undo) {
        Last& last = last_[local];
        while (last.cell_after > cell) {
            undo(*last.record);
            last.record->rolled_back = true;
            last = {last.record->before, last.record->cell_before};
        }
    }

    /// Restores the state of an LP as it was before an execution.
    static void restore(typename M::Worker& worker, Lp<State>& lp, UndoRecord& record, std::uint32_t number) {
        if constexpr (writes_undo<M>) {
            worker.undo(lp.state, record.undo_data(), number);
        } else {
            std::memcpy(&lp.state, record.state(), sizeof(State));
        }
        lp.sequence = record.sequence;
        lp.timer = record.timer;
    }

    /// Fossil collection: passes records before `cell` that were not rolled back to `commit`, and frees their memory.
    template <class Commit>
    void commit_before(std::int64_t cell, Commit commit) {
        records_.commit_before(cell, commit);
    }

    /// Calls `use` with each record that the execution emitted.
    template <class Use>
    static void each_emitted(UndoRecord& record, Use use) {
        for (std::size_t at = 0; at < record.emitted_bytes; at += sizeof(Emitted)) {
            Emitted emitted;
            std::memcpy(&emitted, record.emitted().data() + at, sizeof emitted);
            use(emitted);
        }
    }

    [[gnu::always_inline]] void prefetch(std::uint32_t local) const { __builtin_prefetch(&last_[local], 1); }
    [[nodiscard]] bool empty() const { return records_.empty(); }
    [[nodiscard]] std::size_t bytes_in_use() const { return records_.bytes_in_use(); }
    [[nodiscard]] std::size_t bytes() const { return records_.bytes(); }

  private:
    static constexpr std::uint32_t few_lps = 1 << 14;
    static constexpr std::size_t few_bytes = std::size_t{1} << 16;
    static constexpr std::size_t many_bytes = std::size_t{1} << 21;

    /// The last execution of an LP that can be rolled back.
    struct Last {
        UndoRecord* record = nullptr;
        std::int64_t cell_after = 0;  ///< one past its cell: 0 if there is none
    };

    static void copy_into(std::span<std::byte> bytes, const void* values) {
        if (!bytes.empty()) {
            std::memcpy(bytes.data(), values, bytes.size());
        }
    }

    HugeArray<Last> last_;  ///< by LP
    UndoRecords records_;
    Execution execution_;
};

}  // namespace idlewave::pdes
