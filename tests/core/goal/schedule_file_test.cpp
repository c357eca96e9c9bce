#include "goal/schedule_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "dice.hpp"
#include "goal/goal_binary_reader.hpp"
#include "goal/goal_writer.hpp"
#include "goal/rank_block.hpp"
#include "random_rank_schedule.hpp"
#include "schedule_damage.hpp"
#include "temporary_file.hpp"
#include "trials.hpp"

namespace idlewave::goal {
namespace {

using testing::Dice;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

constexpr ScheduleFormat all_formats[] = {ScheduleFormat::goal, ScheduleFormat::loggopsim, ScheduleFormat::idg};

/// Every order and kind of attribute and dependency that the tool knows …
constexpr std::string_view small_text =
    "num_ranks 2\nrank 0 {\na: calc 1000 cpu 2\nb: send 10b to 1 tag 7 cpu 1 nic 3\nrecv 5b from -1 tag -1\n"
    "c: calc 5\nc requires b\nb requires a\nc irequires a\nc requires a\n}\n"
    "rank 1 {\nrecv 10b from 0 tag 7\nsend 5b to 0\n}\n";

/// … and what LogGOPSim's own txt2bin makes of it.
constexpr std::string_view small_binary =
    "7f100000000000000200000002032600000000000000e200000000000000e20000000000000040010000000000000400"
    "0000020000000000000002000000000000000300000000e8030000000000000000000002000200000000000000010000"
    "00020000000100000001010000000a000000000000000700000001030100000003000000000000000400000000000000"
    "02ffffffff0500000000000000ffffffff00000000000004000000000000000400000003000000030000000005000000"
    "000000000000000000000000000004000000000000000400000001000000030000000300000003000000020000000200"
    "000000000000010000000000000002000000000a00000000000000070000000000000000000000000000000000000000"
    "00000000000100000000050000000000000000000000000000000000000000000000000000000000";

std::string from_hex(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    }
    return bytes;
}

/// Calcs below and above what a rank has a value of its own for, and what a word holds.
constexpr std::array<std::uint64_t, 6> calc_sizes{
    0, 5, RankBlock::largest_value, RankBlock::largest_value + 1, op_word::longest_calc, op_word::longest_calc + 1};

std::vector<RankSchedule> random_ranks(Dice& dice, std::uint32_t most, bool with_one_sided = false) {
    const std::uint32_t count = 1 + dice.small(5);
    std::vector<RankSchedule> ranks;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i > 0 && dice.one_in(3)) {  // the rank before, with other peers and sometimes other calcs
            ranks.push_back(ranks.back());
            for (Op& op : ranks.back().ops) {
                if (op.kind == OpKind::calc && dice.one_in(2)) {
                    op.size = calc_sizes[dice.roll(calc_sizes.size())];
                }
                const bool from_any = is_receiving(op.kind) && dice.one_in(4);
                op.peer = op.kind == OpKind::calc ? 0 : from_any ? any : dice.small(count);
            }
            continue;
        }
        ranks.push_back(testing::random_rank_schedule(dice, count, most, with_one_sided));
        for (Op& op : ranks.back().ops) {
            op.nic = op.kind == OpKind::calc ? 0 : op.nic;
        }
    }
    return ranks;
}

void write(const std::string& path, ScheduleFormat format, const std::vector<RankSchedule>& ranks) {
    write_schedule(path, format, static_cast<std::uint32_t>(ranks.size()),
                   [&](std::uint32_t rank, RankSchedule& rank_schedule) { rank_schedule = ranks[rank]; });
}

std::string text_of(const Graph& graph) {
    return goal_text(graph.ranks(),
                     [&](std::uint32_t rank, RankSchedule& rank_schedule) { graph.block(rank).decode(rank_schedule); });
}

std::string error_of(const std::string& path) {
    try {
        read_schedule(path);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(ScheduleFile, TheBinaryOfLoggopsimIsWhatItsOwnToolWrites) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    convert_schedule(folder / "in.goal", folder / "out.bin", ScheduleFormat::loggopsim);
    EXPECT_EQ(read_file(folder / "out.bin"), from_hex(small_binary));
}

TEST(ScheduleFile, TheBinaryOfLoggopsimIsReadAsTheTextThatItWasMadeOf) {
    const TemporaryFolder folder;
    write_file(folder / "in.bin", from_hex(small_binary));
    EXPECT_EQ(text_of(read_schedule(folder / "in.bin")), text_of(read_goal(small_text, "text")));
}

TEST(ScheduleFile, EveryFormatLeadsToEveryOtherAndBack) {
    Dice dice(1);
    const TemporaryFolder folder;
    for (std::uint64_t i = 0; i < 60; i += testing::stride(5)) {
        const std::vector<RankSchedule> ranks = random_ranks(dice, 40);
        write(folder / "first", ScheduleFormat::loggopsim, ranks);
        const std::string expected = read_file(folder / "first");
        for (const ScheduleFormat from : all_formats) {
            convert_schedule(folder / "first", folder / "second", from);
            for (const ScheduleFormat to : all_formats) {
                convert_schedule(folder / "second", folder / "third", to);
                convert_schedule(folder / "third", folder / "last", ScheduleFormat::loggopsim);
                ASSERT_EQ(read_file(folder / "last"), expected);
                ASSERT_EQ(text_of(read_schedule(folder / "third")), text_of(read_schedule(folder / "first")));
            }
        }
    }
}

TEST(ScheduleFile, GoalTextSaysWhatItWasMadeFromAndSealsTheRest) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    convert_schedule(folder / "in.goal", folder / "plain.goal", ScheduleFormat::goal);
    convert_schedule(folder / "in.goal", folder / "told.goal", ScheduleFormat::goal, {}, R"({"kind": "schedule"})");
    const std::string plain = read_file(folder / "plain.goal");
    std::array<char, 9> crc{};
    std::snprintf(crc.data(), crc.size(), "%08x", crc32c(std::as_bytes(std::span(plain))));
    EXPECT_EQ(read_file(folder / "told.goal"),
              "// idlewave: {\"kind\": \"schedule\"}\n" + plain + "// idlewave: CRC-32C " + crc.data() + "\n");
    EXPECT_EQ(text_of(read_schedule(folder / "told.goal")), plain);
}

TEST(ScheduleFile, BinaryFormsHaveNoRoomForWhatTheyWereMadeFrom) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    for (const ScheduleFormat format : {ScheduleFormat::loggopsim, ScheduleFormat::idg}) {
        convert_schedule(folder / "in.goal", folder / "plain", format);
        convert_schedule(folder / "in.goal", folder / "told", format, {}, "a line");
        EXPECT_EQ(read_file(folder / "told"), read_file(folder / "plain"));
    }
}

/// All kinds of one-sided ops, with and without tags.
constexpr std::string_view one_sided_text =
    "num_ranks 2\n\nrank 0 {\nl1: calc 5\nl2: put 10b to 1\nl3: put 10b to 1 tag 7 cpu 1 nic 3\nl4: get 5b from 1\n"
    "l5: lock at 1 tag 2\nl6: unlock at 1 tag 2\nl3 requires l1\nl6 requires l5\n}\n"
    "\nrank 1 {\nl1: await from 0 tag 7\nl2: await from -1 tag -1\nl3: shared_lock at 0\n}\n";

TEST(ScheduleFile, IdgHoldsOneSidedOps) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", one_sided_text);
    convert_schedule(folder / "in.goal", folder / "x.idg", ScheduleFormat::idg);
    const Graph graph = read_schedule(folder / "x.idg");
    EXPECT_TRUE(graph.has_one_sided());
    EXPECT_EQ(text_of(graph), one_sided_text);
}

TEST(ScheduleFile, TheBinaryOfLoggopsimHasNoOneSidedOps) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", one_sided_text);
    try {
        convert_schedule(folder / "in.goal", folder / "x.bin", ScheduleFormat::loggopsim);
        FAIL() << "it was written";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what())
                      .find("op 1: expected no one-sided op, as LogGOPSim's format has none; use .goal or .idg"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_EQ(folder.files(), 1U);
}

TEST(ScheduleFile, AnIdgOfTheVersionBeforeIsReadAsIfItWereNew) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    convert_schedule(folder / "in.goal", folder / "x.idg", ScheduleFormat::idg);
    std::string bytes = read_file(folder / "x.idg");
    ASSERT_EQ(bytes[8], 3);
    bytes[8] = 2;
    testing::reseal(bytes);
    write_file(folder / "old.idg", bytes);
    EXPECT_EQ(text_of(read_schedule(folder / "old.idg")), text_of(read_schedule(folder / "x.idg")));
}

TEST(ScheduleFile, IdgKeepsLabels) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    convert_schedule(folder / "in.goal", folder / "out.idg", ScheduleFormat::idg);
    const Graph graph = read_schedule(folder / "out.idg");
    EXPECT_EQ(graph.name(0, 0), "a");
    EXPECT_EQ(graph.name(0, 2), "op 2");
    EXPECT_EQ(graph.name(0, 3), "c");
}

TEST(ScheduleFile, IdgTakesLessThanSixteenBytesAnOp) {
    const TemporaryFolder folder;
    constexpr std::uint32_t ranks = 1000;
    write_schedule(folder / "x.idg", ScheduleFormat::idg, ranks, [](std::uint32_t rank, RankSchedule& rank_schedule) {
        rank_schedule.clear();
        for (std::uint32_t round = 0; round < 10; ++round) {
            const std::uint32_t distance = 1U << round;
            rank_schedule.ops.push_back({.size = 1, .peer = (rank + distance) % ranks, .kind = OpKind::send});
            rank_schedule.ops.push_back({.size = 1, .peer = (rank + ranks - distance) % ranks, .kind = OpKind::recv});
            if (round > 0) {
                rank_schedule.requirements.push_back({2 * round, 2 * round - 1, Edge::end});
            }
        }
    });
    EXPECT_LT(read_file(folder / "x.idg").size(), 12 * 20 * std::size_t{ranks});
}

TEST(ScheduleFile, ALongTextIsReadInPiecesAsIfItWereWhole) {
    Dice dice(5);
    std::string text = "num_ranks 3\n";
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        text.append("rank ").append(std::to_string(rank)).append(" {\n");
        for (int i = 0; i < 20'000; ++i) {
            text.append("x").append(std::to_string(i)).append(": send ").append(std::to_string(dice.roll(1000)));
            text.append("b to 1 tag 3 /* ").append(dice.roll(40), '\n').append(" */\n");
        }
        text += "x7 requires x5\n}\n";
    }
    const TemporaryFolder folder;
    write_file(folder / "in.goal", text);
    EXPECT_EQ(text_of(read_schedule(folder / "in.goal")), text_of(read_goal(text, "text")));
    text += "nonsense";
    write_file(folder / "in.goal", text);
    std::string expected;
    try {
        read_goal(text, folder / "in.goal");
    } catch (const InputError& error) {
        expected = error.what();
    }
    EXPECT_EQ(error_of(folder / "in.goal"), expected);
}

TEST(ScheduleFile, ProgressIsToldForEveryRank) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> told;
    const auto hear = [&](std::uint32_t done, std::uint32_t all) { told.emplace_back(done, all); };
    read_schedule(folder / "in.goal", hear);
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {{1, 2}, {2, 2}};
    EXPECT_EQ(told, expected);
    told.clear();
    convert_schedule(folder / "in.goal", folder / "out.idg", ScheduleFormat::idg, hear);
    EXPECT_EQ(told, expected);
}

TEST(ScheduleFile, WhatCannotBeFinishedLeavesNothingAndTheOldFileAsItWas) {
    const TemporaryFolder folder;
    write_file(folder / "broken.goal", "num_ranks 2\nrank 0 {\ncalc 5\n}\n");
    write_file(folder / "out.bin", "the old one");
    for (const ScheduleFormat format : all_formats) {
        EXPECT_THROW(convert_schedule(folder / "broken.goal", folder / "out.bin", format), InputError);
        EXPECT_EQ(read_file(folder / "out.bin"), "the old one");
        EXPECT_EQ(folder.files(), 2U);
    }
    EXPECT_THROW(convert_schedule(folder / "broken.goal", folder / "no/such/folder.bin", ScheduleFormat::idg),
                 InputError);
}

TEST(ScheduleFile, AFileCanBeReplacedByItselfAndALinkStaysALink) {
    const TemporaryFolder folder;
    write_file(folder / "x", small_text);
    ASSERT_EQ(::chmod((folder / "x").c_str(), 0640), 0);
    ASSERT_EQ(::symlink((folder / "x").c_str(), (folder / "link").c_str()), 0);
    convert_schedule(folder / "link", folder / "link", ScheduleFormat::loggopsim);
    EXPECT_EQ(read_file(folder / "x"), from_hex(small_binary));
    struct stat status{};
    ASSERT_EQ(::lstat((folder / "link").c_str(), &status), 0);
    EXPECT_TRUE(S_ISLNK(status.st_mode));
    ASSERT_EQ(::stat((folder / "x").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(ScheduleFile, NamesWhatCannotBeRead) {
    const TemporaryFolder folder;
    EXPECT_EQ(error_of("nowhere.goal"), "nowhere.goal: cannot be read as a schedule: No such file or directory");
    EXPECT_EQ(error_of("/"), "/: cannot be read as a schedule: Is a directory");
    write_file(folder / "empty", "");
    EXPECT_EQ(error_of(folder / "empty"), (folder / "empty") + ": expected a schedule, found an empty file");
}

// ---- LogGOPSim's binary, damaged

/// `small_binary` with a value put at a byte.
template <class T>
std::string error_with(std::size_t at, T value) {
    std::string bytes = from_hex(small_binary);
    std::memcpy(bytes.data() + at, &value, sizeof value);
    const TemporaryFolder folder;
    write_file(folder / "x.bin", bytes);
    const std::string error = error_of(folder / "x.bin");
    return error.substr(std::min(error.size(), (folder / "x.bin").size() + 2));
}

TEST(GoalBinaryReader, NamesByteRankAndOpAndWhatWasExpected) {
    // Rank 0 begins at byte 46: its 4 ops, 2 roots (0, 2), nodes from 62, successors (2, 1, 3; …) from 218.
    EXPECT_EQ(error_with<std::uint64_t>(0, 2342).substr(0, 29), "expected a binary schedule, f");
    EXPECT_EQ(error_with<std::uint32_t>(8, 0), "byte 8: expected from 1 to 19 ranks, as the file is so long, found 0");
    EXPECT_EQ(error_with<std::uint32_t>(8, 0xffffffff),
              "byte 8: expected from 1 to 19 ranks, as the file is so long, found 4294967295");
    EXPECT_EQ(error_with<std::uint8_t>(12, 1),
              "byte 83, rank 0, op 0: expected a CPU of 1 or less, as the header says, found 2");
    EXPECT_EQ(error_with<std::uint64_t>(14, ~std::uint64_t{0}),
              "byte 14: expected rank 0 to begin from 38 to 320, found 18446744073709551615");
    EXPECT_EQ(error_with<std::uint64_t>(22, 321), "byte 22: expected rank 0 to end from 46 to 320, found 321");
    EXPECT_EQ(error_with<std::uint64_t>(30, 38), "byte 30: expected ranks that do not overlap, found 38");
    EXPECT_EQ(error_with<std::uint32_t>(46, 0xfffffff0),
              "byte 46: expected rank 0 with ops and roots of 180 or less bytes, found 167503723928");
    EXPECT_EQ(error_with<std::uint32_t>(54, 1), "byte 54: expected rank 0, op 0 as root number 0, found 1");
    EXPECT_EQ(error_with<std::uint32_t>(62, 1), "byte 62, rank 0, op 0: expected 0, as so many ops name it, found 1");
    EXPECT_EQ(error_with<std::uint8_t>(66, 4),
              "byte 66, rank 0, op 0: expected 1 (send), 2 (recv) or 3 (calc), found 4");
    EXPECT_EQ(error_with<std::uint32_t>(67, 1), "byte 67, rank 0, op 0: expected 0, as a calc has no peer, found 1");
    EXPECT_EQ(error_with<std::uint64_t>(71, largest_calc + 1),
              "byte 71, rank 0, op 0: expected 9000000000000000 or less, found 9000000000000001");
    EXPECT_EQ(error_with<std::uint32_t>(106, 2), "byte 106, rank 0, op 1: expected a rank below 2, found 2");
    EXPECT_EQ(error_with<std::uint32_t>(85, 5),
              "byte 85, rank 0, op 0: expected successors of 4 or less in all, found 6");
    EXPECT_EQ(error_with<std::uint32_t>(89, 0xffffffff), "byte 89, rank 0, op 0: expected 2 or less, found 4294967295");
    EXPECT_EQ(error_with<std::uint32_t>(218, 4), "byte 218: expected rank 0, a successor of op 0 below 4, found 4");
}

TEST(GoalBinaryReader, ASmallFileIsNoLargeSchedule) {
    // A thousand ranks that all are the same part of the file.
    constexpr std::uint32_t ranks = 1000;
    std::string bytes = from_hex(small_binary).substr(0, 14);
    std::memcpy(bytes.data() + 8, &ranks, 4);
    const std::uint64_t begin = 6 + 16 * ranks;
    const std::uint64_t end = begin + 188;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        bytes.append(reinterpret_cast<const char*>(&begin), 8).append(reinterpret_cast<const char*>(&end), 8);
    }
    bytes += from_hex(small_binary).substr(46, 188);
    const TemporaryFolder folder;
    write_file(folder / "x.bin", bytes);
    EXPECT_NE(error_of(folder / "x.bin").find("expected ranks that do not overlap"), std::string::npos)
        << error_of(folder / "x.bin");
}

/// Whatever of a rank that is like the one before is changed, what is read is what reading each rank by itself gives.
TEST(GoalBinaryReader, AChangedByteOfARankLikeTheOneBeforeIsReadOrRefusedAsAnyOther) {
    const TemporaryFolder folder;
    RankSchedule rank;
    rank.ops = {{.size = 8, .peer = 1, .tag = 2, .kind = OpKind::recv},
                {.size = 8, .peer = 1, .tag = 2, .kind = OpKind::send},
                {.size = 100, .kind = OpKind::calc}};
    rank.requirements = {{1, 0, Edge::start}, {2, 0, Edge::end}, {2, 1, Edge::end}};
    write(folder / "x.bin", ScheduleFormat::loggopsim, {rank, rank, rank});
    const std::string sound = read_file(folder / "x.bin");
    for (std::size_t at = 14; at < sound.size(); ++at) {
        const std::string_view changes = "\x01\x80\xff";
        for (std::size_t n = at % testing::stride(3); n < changes.size(); n += testing::stride(3)) {
            std::string bytes = sound;
            bytes[at] = static_cast<char>(bytes[at] ^ changes[n]);
            write_file(folder / "x.bin", bytes);
            const InputFile file(folder / "x.bin");
            std::string expected;
            try {
                GoalBinaryReader reader(file);
                std::vector<RankSchedule> ranks(3);
                for (RankSchedule& each : ranks) {
                    reader.next(each);
                }
                expected =
                    goal_text(3, [&](std::uint32_t r, RankSchedule& rank_schedule) { rank_schedule = ranks[r]; });
            } catch (const InputError& error) {
                expected = error.what();
            }
            std::string found;
            try {
                found = text_of(read_schedule(folder / "x.bin"));
            } catch (const InputError& error) {
                found = error.what();
            }
            ASSERT_EQ(found, expected) << at;
        }
    }
}

TEST(GoalBinaryReader, RanksThatDifferInTheirCalcsAreReadWhateverTheirLengths) {
    const TemporaryFolder folder;
    for (const std::uint64_t first : calc_sizes) {
        for (const std::uint64_t second : calc_sizes) {
            std::vector<RankSchedule> ranks(3);
            for (std::size_t rank = 0; rank < 3; ++rank) {
                ranks[rank].ops = {{.size = rank == 0 ? first : second, .kind = OpKind::calc}};
            }
            write(folder / "x.bin", ScheduleFormat::loggopsim, ranks);
            const Graph graph = read_schedule(folder / "x.bin");
            EXPECT_EQ(graph.op(0, 0).size, first);
            EXPECT_EQ(graph.op(1, 0).size, second);
            EXPECT_EQ(graph.op(2, 0).size, second);
        }
    }
}

// ---- .idg, damaged

TEST(IdgReader, EveryChangedByteIsNoticed) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    convert_schedule(folder / "in.goal", folder / "x.idg", ScheduleFormat::idg);
    const std::string sound = read_file(folder / "x.idg");
    const testing::MemoryFile file;
    for (std::size_t at = 0; at < sound.size(); ++at) {
        std::string bytes = sound;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        ASSERT_TRUE(file.put(bytes));
        ASSERT_EQ(error_of(file.path()).substr(0, file.path().size() + 1), file.path() + ":") << at;
        ASSERT_TRUE(file.put(sound.substr(0, at)));
        ASSERT_NE(error_of(file.path()), "no error") << "cut off at byte " << at;
    }
}

TEST(IdgReader, NamesByteAndRankAndWhatWasExpected) {
    const TemporaryFolder folder;
    write_file(folder / "in.goal", small_text);
    convert_schedule(folder / "in.goal", folder / "x.idg", ScheduleFormat::idg);
    std::string bytes = read_file(folder / "x.idg");
    const auto error = [&](std::string damaged, bool sealed) {
        if (sealed) {
            testing::reseal(damaged);
        }
        write_file(folder / "y.idg", damaged);
        return error_of(folder / "y.idg").substr((folder / "y.idg").size() + 2);
    };
    std::string other = bytes;
    other[20] = 'x';
    EXPECT_EQ(error(other, false).substr(0, 42), "byte 16: expected rank 0 with the checksum");
    other = bytes;
    other[8] = 4;
    EXPECT_EQ(error(other, true), "byte 8: expected version 3, found 4; a later Idlewave may read it");
    other[8] = 1;
    EXPECT_EQ(error(other, true), "byte 8: expected version 3, found 1; write it anew");
    EXPECT_EQ(error(bytes.substr(0, 30), false), "byte 0: expected at least 56, found 30 bytes; it is cut off");
    EXPECT_NE(error(bytes.substr(0, bytes.size() - 1), false).find("it is cut off"), std::string::npos);
    other = bytes;
    other[16 + 16 + 2 * 16 + 8 + 4] = 9;  // the peer of rank 0's op 1
    EXPECT_EQ(error(other, true), "byte 16, rank 0: op 1: expected a peer below 2, found 9");
}

// ---- damage of all kinds

/// Whatever a file is, it is read or refused with its name.
std::uint64_t refused_of(ScheduleFormat format, std::uint64_t files, std::uint64_t seed) {
    Dice dice(seed);
    const TemporaryFolder folder;
    const testing::MemoryFile file;
    const std::string path = file.path();
    std::uint64_t refused = 0;
    std::string sound;
    for (std::uint64_t i = 0; i < files; ++i) {
        if (i % 50 == 0) {
            const bool with_one_sided = format != ScheduleFormat::loggopsim && dice.one_in(2);
            write(folder / "sound", format, random_ranks(dice, 20, with_one_sided));
            sound = read_file(folder / "sound");
        }
        std::string bytes = sound;
        testing::damage(dice, bytes);
        if (format == ScheduleFormat::idg && !dice.one_in(8)) {
            testing::reseal(bytes);
        }
        EXPECT_TRUE(file.put(bytes));
        try {
            const Graph graph = read_schedule(path);
            EXPECT_GE(graph.ranks(), 1U);
            EXPECT_LE(graph.op_count(), bytes.size());
            EXPECT_FALSE(text_of(graph).empty());
        } catch (const InputError& error) {
            EXPECT_EQ(std::string_view(error.what()).substr(0, path.size()), path);
            ++refused;
        }
    }
    return refused;
}

TEST(DamagedSchedule, OfEveryFormatIsReadOrRefused) {
    using testing::trials;
    EXPECT_GT(refused_of(ScheduleFormat::goal, trials(5000), 1), trials(2000));
    EXPECT_GT(refused_of(ScheduleFormat::loggopsim, trials(10'000), 2), trials(5000));
    const std::uint64_t refused = refused_of(ScheduleFormat::idg, trials(10'000), 3);
    EXPECT_GT(refused, trials(5000));
    EXPECT_LT(refused, trials(10'000));
}

TEST(DamagedSchedule, ThatPromisesALotCostsLittle) {
    const TemporaryFolder folder;
    write_file(folder / "x", "num_ranks 4294967294\nrank 0 {\n}\n");
    EXPECT_NE(error_of(folder / "x").find("'rank 1 {'"), std::string::npos);
    write_file(folder / "x", "num_ranks 1\nrank 0 {\n" + std::string(1 << 20, 'a'));
    EXPECT_NE(error_of(folder / "x").find("expected a word of at most 65536 characters"), std::string::npos);
    write_file(folder / "x", std::string(1 << 20, ' '));
    EXPECT_NE(error_of(folder / "x").find("expected 'num_ranks', found the end of the text"), std::string::npos);
    write_file(folder / "x", "/*" + std::string(1 << 20, '*'));
    EXPECT_NE(error_of(folder / "x").find(":1:1: expected '*/' at the end of this comment"), std::string::npos);
}

}  // namespace
}  // namespace idlewave::goal
