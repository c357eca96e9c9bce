// Where a process runs: its host and CPU, and its place among those that a launcher started (by the launcher's
// variables, so without MPI).
#pragma once

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "common/cpus.hpp"
#include "common/failure.hpp"
#include "common/json.hpp"

namespace idlewave::probe {

// Processes may send it to each other byte by byte.
struct ProcessPlace {
    std::array<char, 256> host_text{};
    int rank = 0;
    int size = 1;
    int cpus = 0;  // number of CPUs that it may use
    int cpu = -1;  // the CPU to which it is bound; -1: to none, or to several
    bool pinned_by_probe = false;

    std::string host() const { return host_text.data(); }
};

// The place with the host's name alone.
inline ProcessPlace place_on_host() {
    ProcessPlace place;
    gethostname(place.host_text.data(), place.host_text.size() - 1);
    return place;
}

inline std::string host_name() {
    return place_on_host().host();
}

// The place with the CPUs that the process may use.
inline ProcessPlace place_among_cpus() {
    ProcessPlace place = place_on_host();
    const std::vector<int> allowed = allowed_cpus();
    place.cpus = static_cast<int>(allowed.size());
    if (allowed.size() == 1) place.cpu = allowed.front();
    return place;
}

// Binds the process to one of the CPUs that it may use. If the system refuses, the process stays unbound.
inline void bind_to(ProcessPlace& place, int cpu) {
    place.pinned_by_probe = try_pin({cpu});
    place.cpu = place.pinned_by_probe ? cpu : -1;
}

inline json::Object describe(const ProcessPlace& place) {
    return json::Object().add("host", place.host()).add("cpu", place.cpu).add("pinned_by_probe", place.pinned_by_probe);
}

namespace detail {

struct Launcher {
    const char* rank;
    const char* size;
};

// Open MPI and MPICH come before Slurm: within an allocation, mpiexec's processes may have the batch script's
// variables, too. (srun sets its own variables and PMI's to the same values.)
constexpr std::array<Launcher, 3> launchers = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
}};

inline std::string variable(const char* name) {
    const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread is started
    return text == nullptr ? "" : text;
}

inline std::optional<int> number_of(const char* name) {
    const std::string text = variable(name);
    if (text.empty()) return std::nullopt;
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (*end != '\0' || value < 0 || value > 100'000'000) {
        throw failed(std::string(name) + ": expected the launcher to set a number, found '" + text + "'");
    }
    return static_cast<int>(value);
}

// The name of a job: that of the job step, else the number of the launcher's process on this host.
inline std::string name_of_job() {
    for (const char* const name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"}) {
        if (const std::string job = variable(name); !job.empty()) return job;
    }
    if (const std::string job = variable("SLURM_JOB_ID"); !job.empty()) return job + "." + variable("SLURM_STEP_ID");
    return std::to_string(getppid());
}

}  // namespace detail

inline ProcessPlace place_by_launcher() {
    ProcessPlace place = place_on_host();
    for (const detail::Launcher& launcher : detail::launchers) {
        const std::optional<int> rank = detail::number_of(launcher.rank);
        const std::optional<int> size = detail::number_of(launcher.size);
        if (!rank || !size) continue;
        if (*rank >= *size) {
            throw failed(std::string(launcher.rank) + ": expected a rank below the " + std::to_string(*size) + " of " +
                         launcher.size + ", found " + std::to_string(*rank));
        }
        place.rank = *rank;
        place.size = *size;
        break;
    }
    return place;
}

// A name that is the same for all processes that were started together on this host; empty for a single process.
inline std::string job_of(const ProcessPlace& place) {
    return place.size > 1 ? detail::name_of_job() : "";
}

}  // namespace idlewave::probe
