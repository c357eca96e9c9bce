#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/program.hpp"
#include "goal/rank_schedule.hpp"
#include "goal/source.hpp"

namespace idlewave::collectives {

/// A program of ranks with several threads as a source of ops (`Program::first_threads`). Each thread executes its
/// instructions in order, as the rank of a ProgramSource does, on its own CPU; the threads of a rank share its NIC.
/// They meet where one waits for what is in a shared slot of another.
///
/// The op indices of a rank are those of its first thread, then those of the second, and so on.
class ThreadedProgramSource {
  public:
    struct Cookie {
        std::uint32_t thread = 0;
        ProgramSource::Cookie own = 0;  ///< of the thread
    };
    struct Scratch {
        ProgramSource::Scratch own = {};
        std::vector<std::uint32_t> resumed = {};  ///< threads that can go on
    };
    static constexpr bool single_cpu_and_nic = false;
    static constexpr bool has_exchanges = false;

    /// The states of a rank's threads.
    template <class Moment>
    struct State {
        std::unique_ptr<ProgramSource::State<Moment>[]> threads;
        std::uint32_t count = 0;
    };

    ThreadedProgramSource(const std::shared_ptr<const Program>& program, std::uint32_t copies);

    [[nodiscard]] std::uint32_t ranks() const { return own_.ranks(); }
    [[nodiscard]] std::uint32_t copies() const { return own_.copies(); }
    [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
    [[nodiscard]] static std::uint32_t nics() { return 1; }
    [[nodiscard]] const std::shared_ptr<const Program>& program() const { return own_.program(); }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const goal::Notice<Cookie, Moment>& notice,
                 goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const goal::Notice<Cookie, Moment>& notice,
               goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    [[nodiscard]] std::uint16_t call(std::uint32_t rank, const State<Moment>& state, const Cookie& cookie) const {
        return own_.call(rank, state.threads[cookie.thread], cookie.own);
    }
    [[nodiscard]] static std::string name(std::uint32_t rank, goal::OpIndex op_index) {
        return ProgramSource::name(rank, op_index);
    }
    template <class Moment>
    [[nodiscard]] std::optional<goal::StopPosition> stop_position(std::uint32_t rank, const State<Moment>& state) const;
    template <class Moment, class Archive>
    void serialise(std::uint32_t rank, State<Moment>& state, Archive& archive) const;

    /// As those of a ProgramSource.
    [[nodiscard]] std::uint64_t least_ops() const;
    [[nodiscard]] std::uint64_t wildcard_receives() const { return own_.wildcard_receives(); }
    [[nodiscard]] std::uint64_t unknown_receives() const { return own_.unknown_receives(); }
    [[nodiscard]] goal::RankSchedule rank_schedule(std::uint32_t rank) const;

    /// The first rank that has several threads.
    [[nodiscard]] std::uint32_t first_threaded_rank() const;

  private:
    /// How many ops a thread has, without those of collectives; and how often it calls which of its collectives.
    struct OpCount {
        std::uint64_t plain = 0;
        std::vector<std::uint64_t> calls;
    };

    template <class Moment>
    using Found = goal::ReadyOps<ProgramSource::Cookie, Moment>;
    template <class Moment>
    using FoundOp = goal::ReadyOp<ProgramSource::Cookie, Moment>;

    [[nodiscard]] std::vector<goal::OpIndex> first_ops(std::uint32_t base, std::uint32_t copy) const;
    [[nodiscard]] const RankProgram& program_of(std::uint32_t base, std::uint32_t thread) const {
        return program()->ranks[program()->first_threads[base] + thread];
    }
    [[nodiscard]] std::uint32_t threads_of(std::uint32_t base) const {
        return program()->first_threads[base + 1] - program()->first_threads[base];
    }
    template <class Moment>
    void hand_out(const State<Moment>& state, std::uint32_t thread, const FoundOp<Moment>& found,
                  goal::ReadyOp<Cookie, Moment>& op) const;
    template <class Moment>
    void take(State<Moment>& state, Scratch& scratch, std::uint32_t thread, const Found<Moment>& found,
              goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    void end_shared(State<Moment>& state, Scratch& scratch, std::uint32_t thread, std::uint32_t slot,
                    const Moment& time) const;
    template <class Moment>
    void resume(State<Moment>& state, Scratch& scratch, goal::ReadyOps<Cookie, Moment>& ready) const;

    ProgramSource own_;            ///< executes the threads
    std::vector<OpCount> counts_;  ///< by program
    std::uint32_t cpus_ = 1;
};

static_assert(goal::Source<ThreadedProgramSource>);

}  // namespace idlewave::collectives
