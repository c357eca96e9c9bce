#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// A run between two segments: all events before `from` are committed.
struct Checkpoint {
    Time from = 0;
    double seconds = 0;     ///< of the run so far
    Statistics statistics;  ///< summed over all processes
    std::vector<Snapshot::Section> sections;
};

/// The directory of the checkpoints of one run: a file for each process, and the file `latest`, which names the files
/// of one checkpoint and is written after them. Older files are removed after that.
class CheckpointFolder {
  public:
    /// `description` names the model and its parameters in one line. Only a run with the same description, of the same
    /// version of Idlewave, can continue from a checkpoint.
    CheckpointFolder(std::string directory, std::string run);

    /// Prepares the directory for a new run. Throws InputError if it has a checkpoint, or none can be written.
    void prepare() const;

    /// All processes call it; each writes its own sections. Throws InputError if a file cannot be written, and
    /// TransportError.
    void write(const Checkpoint& header, const Snapshot& snapshot, const idlewave_transport* transport);

    /// Reads the last complete checkpoint, with the sections of all processes. Throws InputError if there is none, or
    /// it is damaged or of another run.
    [[nodiscard]] Checkpoint read() const;

  private:
    struct Latest {
        std::uint64_t number = 0;
        std::uint32_t files = 0;
    };

    [[nodiscard]] std::string name_of(std::uint64_t number, std::uint32_t process) const;
    [[nodiscard]] std::string name_of_latest() const;
    [[nodiscard]] Latest latest() const;
    void remove_others(std::uint64_t number) const;
    void read_file(const Latest& latest, std::uint32_t process, Checkpoint& checkpoint) const;

    std::string directory_;
    std::string run_;
};

}  // namespace idlewave::pdes
