// Functions for probes of all ranks of a job: the ranks' places, and waiting that does not disturb measuring ranks.
#pragma once

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/json.hpp"
#include "common/place.hpp"
#include "network/mpi_program.hpp"

namespace idlewave::probe {

// ---- the command line

// Every rank gets the same result. Returns false if the command line asks for help.
inline bool parse_on_all_ranks(const CommandLine& program, int argc, char* const* argv, const std::string& output) {
    if (!parse(program, argc, argv, rank_of(MPI_COMM_WORLD) == 0)) return false;
    if (output.empty()) throw refused("--output: expected the folder for what is recorded");
    if (size_of(MPI_COMM_WORLD) < 2) throw wrong_number_of_ranks("at least two ranks are needed");
    return true;
}

// ---- ranks and places

// A value of every rank, in the order of ranks.
template <class T>
std::vector<T> gather(const T& mine, MPI_Comm ranks = MPI_COMM_WORLD) {
    std::vector<T> all(static_cast<std::size_t>(size_of(ranks)));
    MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, ranks);
    return all;
}

// A rank that is bound to one CPU stays there. Ranks of a host that may use the same CPUs take one each, if there are
// enough. If not, they stay unbound, and measuring ranks are bound meanwhile (Bound).
inline std::vector<ProcessPlace> take_places(MPI_Comm ranks = MPI_COMM_WORLD) {
    ProcessPlace mine = place_among_cpus();
    const CpuSet allowed = allowed_set();
    const std::vector<ProcessPlace> all = gather(mine, ranks);
    const std::vector<CpuSet> sets = gather(allowed, ranks);
    const auto rank = static_cast<std::size_t>(rank_of(ranks));
    std::size_t before = 0;
    int alike = 0;
    for (std::size_t other = 0; other < all.size(); ++other) {
        if (all[other].host() != mine.host() || !(sets[other] == allowed)) continue;
        ++alike;
        before += other < rank ? 1 : 0;
    }
    if (mine.cpus > 1 && alike <= mine.cpus) bind_to(mine, allowed.list()[before]);
    return gather(mine, ranks);
}

inline std::vector<json::Object> describe(const std::vector<ProcessPlace>& places) {
    std::vector<json::Object> result;
    result.reserve(places.size());
    for (const ProcessPlace& place : places) result.push_back(describe(place));
    return result;
}

// Binds two measuring ranks to different CPUs for its lifetime, if ranks share CPUs. The system may leave both on one:
// it moves busy processes, and a rank that waits for a message yields.
class Bound {
  public:
    enum class Where { first, last };

    // Pairs that measure at once are numbered: each takes two CPUs of its own as far as there are enough.
    Bound(const ProcessPlace& place, Where where, std::int64_t pair = 0) {
        if (place.cpu >= 0 || place.cpus < 2) return;
        allowed_ = allowed_cpus();
        if (allowed_.size() < 2) return;
        const std::size_t half = allowed_.size() / 2;
        const std::size_t place_in_half = static_cast<std::size_t>(pair) % half;
        // If pairs share CPUs, each shared CPU has clients and servers.
        const bool turned = static_cast<std::size_t>(pair) / half % 2 == 1;
        const bool low = (where == Where::first) != turned;
        try_pin({low ? allowed_[place_in_half] : allowed_[allowed_.size() - 1 - place_in_half]});
    }
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;
    ~Bound() {
        if (!allowed_.empty()) try_pin(allowed_);
    }

  private:
    std::vector<int> allowed_;
};

// ---- waiting

inline void nap() {
    constexpr timespec length{0, 200'000};
    nanosleep(&length, nullptr);
}

// Waits until such a message can be received. Returns its status. The waiting rank sleeps, which leaves its core to
// measuring ranks.
inline MPI_Status await_message(int source, int tag) {
    MPI_Status status;
    int there = 0;
    while (true) {
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, &status);
        if (there != 0) return status;
        nap();
    }
}

// Waits until all ranks are here.
inline void wait_for_all_ranks() {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) nap();
}

}  // namespace idlewave::probe
