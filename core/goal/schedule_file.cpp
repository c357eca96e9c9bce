#include "goal/schedule_file.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "goal/goal_binary.hpp"
#include "goal/idg.hpp"

namespace idlewave::goal {
namespace {

/// Calls `use` with a reader of the file's format.
template <class Use>
void with_reader(InputFile& file, Use use) {
    switch (format_of(file)) {
        case ScheduleFormat::goal: {
            GoalReader reader(GoalText(file), file.name());
            use(reader);
            return;
        }
        case ScheduleFormat::loggopsim: {
            GoalBinaryReader reader(file);
            use(reader);
            return;
        }
        case ScheduleFormat::idg: {
            IdgReader reader(file);
            use(reader);
            return;
        }
    }
}

/// Calls `take` with every rank.
template <class Reader, class Take>
void each_rank(Reader& reader, const RankProgress& progress, Take take) {
    RankSchedule schedule;
    for (std::uint32_t done = 1; reader.next(schedule); ++done) {
        take(schedule);
        if (progress) {
            progress(done, reader.ranks());
        }
    }
}

/// Reads blocks, which are the same in memory as in the file.
void read_blocks(IdgReader& reader, const RankProgress& progress, GraphBuilder& builder) {
    std::uint32_t done = 0;
    for (auto words = reader.next_block(); !words.empty(); words = reader.next_block()) {
        builder.append_checked(words);
        if (progress) {
            progress(++done, reader.ranks());
        }
    }
}

/// Of a rank that differs from the one before in its values only, reads only these.
void read_ranks(GoalBinaryReader& reader, const RankProgress& progress, GraphBuilder& builder) {
    RankSchedule rank;
    std::vector<std::uint32_t> values;
    reader.remember_ranks();
    for (std::uint32_t done = 1; done <= reader.ranks(); ++done) {
        if (reader.next_with_other_values(values)) {
            builder.append_with_other_values(values);
        } else {
            reader.next(rank);
            builder.append(rank);
        }
        if (progress) {
            progress(done, reader.ranks());
        }
    }
}

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

ScheduleFormat format_of(InputFile& file) {
    const auto begin = file.peek(8);
    if (begin.empty()) {
        throw InputError(file.name() + ": expected a schedule, found an empty file");
    }
    if (begin.size() == 8) {
        const auto number = load<std::uint64_t>(begin.data());
        if (number == binary::magic || number == binary::magic_used_up) {
            return ScheduleFormat::loggopsim;
        }
        if (load<idg::MagicNumber>(begin.data()) == idg::magic) {
            return ScheduleFormat::idg;
        }
    }
    return ScheduleFormat::goal;
}

Graph read_schedule(const std::string& path, const RankProgress& progress) {
    InputFile file(path);
    GraphBuilder builder;
    with_reader(file, Overloaded{[&](IdgReader& reader) { read_blocks(reader, progress, builder); },
                                 [&](GoalBinaryReader& reader) { read_ranks(reader, progress, builder); },
                                 [&](auto& reader) {
                                     each_rank(reader, progress,
                                               [&](const RankSchedule& rank) { builder.append(rank); });
                                 }});
    return builder.finish();
}

void convert_schedule(const std::string& from, const std::string& to, ScheduleFormat format,
                      const RankProgress& progress, const std::string& origin) {
    InputFile file(from);
    with_reader(file, [&](auto& reader) {
        OutputFile out(to);
        std::optional<ScheduleWriter> writer;
        each_rank(reader, progress, [&](const RankSchedule& rank) {
            if (!writer) {
                writer.emplace(out, format, reader.ranks(), origin);
            }
            writer->add(rank);
        });
        writer->finish();
        out.commit();
    });
}

ScheduleWriter::ScheduleWriter(OutputFile& out, ScheduleFormat format, std::uint32_t ranks, const std::string& origin) {
    switch (format) {
        case ScheduleFormat::goal:
            writer_.emplace<GoalWriter>(out, ranks, origin);
            break;
        case ScheduleFormat::loggopsim:
            writer_.emplace<GoalBinaryWriter>(out, ranks);
            break;
        case ScheduleFormat::idg:
            writer_.emplace<IdgWriter>(out);
            break;
    }
}

void ScheduleWriter::add(const RankSchedule& rank) {
    std::visit(Overloaded{[](std::monostate) {}, [&](auto& writer) { writer.add(rank); }}, writer_);
}

void ScheduleWriter::finish() {
    std::visit(Overloaded{[](std::monostate) {}, [](auto& writer) { writer.finish(); }}, writer_);
}

}  // namespace idlewave::goal
