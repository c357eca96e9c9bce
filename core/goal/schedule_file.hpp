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

namespace idlewave::goal {

/// The format of a schedule file.
enum class ScheduleFormat : std::uint8_t {
    goal,       ///< GOAL text
    loggopsim,  ///< LogGOPSim's binary
    idg         ///< Idlewave's binary
};

/// Called after every rank with the number of ranks done and the number of all ranks. It may throw to abort.
using RankProgress = std::function<void(std::uint32_t done, std::uint32_t ranks)>;

/// The format of a file, recognised by its first bytes. Throws InputError if the file is empty or cannot be read.
ScheduleFormat format_of(InputFile& file);

/// Reads a file of any format into memory. Throws an InputError with the file, the place, and what was expected and
/// found.
Graph read_schedule(const std::string& path, const RankProgress& progress = {});

/// Converts a file of any format to `format`, a rank at a time. `to` appears whole or not at all. `origin` is as in
/// ScheduleWriter. Throws the errors of `read_schedule`, and InputError if `to` cannot be written.
void convert_schedule(const std::string& from, const std::string& to, ScheduleFormat format,
                      const RankProgress& progress = {}, const std::string& origin = {});

/// Writes ranks into a file of any format. `origin` is a line that says what the schedule was made from. GOAL text
/// holds it in a comment; the binary formats do not hold it.
class ScheduleWriter {
  public:
    ScheduleWriter(OutputFile& out, ScheduleFormat format, std::uint32_t ranks, const std::string& origin = {});

    void add(const RankSchedule& rank);
    void finish();

  private:
    std::variant<std::monostate, GoalWriter, GoalBinaryWriter, IdgWriter> writer_;
};

/// Writes a schedule of `ranks` ranks, each as `list(rank, schedule)` returns it. The file appears whole or not at all.
/// `origin` is as in ScheduleWriter. Throws InputError if the file cannot be written.
template <class List>
void write_schedule(const std::string& path, ScheduleFormat format, std::uint32_t ranks, List list,
                    const RankProgress& progress = {}, const std::string& origin = {}) {
    OutputFile out(path);
    ScheduleWriter writer(out, format, ranks, origin);
    RankSchedule schedule;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        list(rank, schedule);
        writer.add(schedule);
        if (progress) {
            progress(rank + 1, ranks);
        }
    }
    writer.finish();
    out.commit();
}

}  // namespace idlewave::goal
