#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "pdes/image.hpp"
#include "pdes/statistics.hpp"
#include "pdes/wire.h"

namespace idlewave::pdes {

/// A run as it was between two legs: all before `from` is done.
struct Checkpoint {
    Time from = 0;
    double seconds = 0;     ///< that it took
    Statistics statistics;  ///< of all processes
    std::vector<Image::Piece> pieces;
};

/// Where checkpoints of one run are: a directory with a file for each process, and `latest`, which says which files
/// belong together, and is written when all are there. What is older is removed then, and not before.
class CheckpointFolder {
  public:
    /// `run` says in a line which model runs, and with what: only such a run, by the same version of Idlewave, can go
    /// on from what is there.
    CheckpointFolder(std::string directory, std::string run);

    /// Before a run begins that does not go on from what is there. Throws InputError if a checkpoint is there already,
    /// or none can be written.
    void prepare() const;

    /// All processes write, each its own pieces. Throws InputError if a file cannot be written, TransportError.
    void write(const Checkpoint& header, const Image& image, const idlewave_wire* wire);

    /// The last one that is whole, of all processes. Throws InputError if there is none, it is damaged, or of another
    /// run.
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
