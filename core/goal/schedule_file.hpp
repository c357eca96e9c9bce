#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/input_file.hpp"
#include "base/output_file.hpp"
#include "goal/goal_binary_reader.hpp"
#include "goal/goal_binary_writer.hpp"
#include "goal/goal_reader.hpp"
#include "goal/goal_writer.hpp"
#include "goal/graph.hpp"
#include "goal/idg_reader.hpp"
#include "goal/idg_writer.hpp"

namespace idlewave {

/// In which form a schedule is in a file.
enum class ScheduleFormat : std::uint8_t {
    goal,       ///< GOAL text
    loggopsim,  ///< LogGOPSim's binary
    idg         ///< Idlewave's binary
};

/// Is called for every rank with how many were read or written, and of how many; may throw to end the work.
using RankProgress = std::function<void(std::uint32_t done, std::uint32_t ranks)>;

/// The format of a file, by its first bytes. Throws InputError if it is empty or cannot be read.
ScheduleFormat format_of(InputFile& file);

/// Reads a file of any format into memory. Throws InputError that names file, place, what was found and expected.
Graph read_schedule(const std::string& path, const RankProgress& progress = {});

/// Reads a file of any format and writes it in another, a rank at a time. `to` is there whole or not at all; `origin`
/// as for `ScheduleWriter`. Throws InputError as `read_schedule`, and if `to` cannot be written.
void convert_schedule(const std::string& from, const std::string& to, ScheduleFormat format,
                      const RankProgress& progress = {}, const std::string& origin = {});

/// Writes ranks into a file of any format. `origin` is a line that says what the schedule was made from; GOAL text has
/// it as a comment, the binary forms have no room for it.
class ScheduleWriter {
  public:
    ScheduleWriter(OutputFile& out, ScheduleFormat format, std::uint32_t ranks, const std::string& origin = {});

    void add(const Listing& rank);
    void finish();

  private:
    std::variant<std::monostate, GoalWriter, GoalBinaryWriter, IdgWriter> writer_;
};

/// Writes a schedule of `ranks` ranks, each as `list(rank, listing)` writes it out. The file is there whole or not at
/// all; `origin` as for `ScheduleWriter`. Throws InputError if it cannot be written.
template <class List>
void write_schedule(const std::string& path, ScheduleFormat format, std::uint32_t ranks, List list,
                    const RankProgress& progress = {}, const std::string& origin = {}) {
    OutputFile out(path);
    ScheduleWriter writer(out, format, ranks, origin);
    Listing listing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        list(rank, listing);
        writer.add(listing);
        if (progress) {
            progress(rank + 1, ranks);
        }
    }
    writer.finish();
    out.commit();
}

}  // namespace idlewave
