#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "collectives/program.hpp"
#include "dice.hpp"
#include "simulations.hpp"
#include "trace/convert.hpp"
#include "trace/profile.hpp"
#include "trace_bytes.hpp"
#include "trials.hpp"

namespace idlewave::trace {
namespace {

using testing::Dice;
using testing::pair;
using testing::TraceBytes;
using testing::trials;
using testing::world;

/// One rank of two: it sends, and polls, and waits for what it receives.
TraceBytes sound(std::uint32_t rank) {
    const auto peer = static_cast<std::int32_t>(1 - rank);
    TraceBytes file(rank, 2);
    file.began(1000).put<std::int64_t>(40, 9000).put<std::int64_t>(56, 100).put<std::int64_t>(72, 500);
    file.call(Call::init, 10, 1000, {});
    file.call(Call::comm_def, 1100, 1200, {77, world, pair(2, static_cast<std::int32_t>(rank)), pair(1, 0)},
              rank == 1 ? 1 : 0);
    file.call(Call::irecv, 2000, 2010, {world, pair(-1, -1), 64, 5});
    file.call(Call::send, 2100, 2200, {world, pair(peer, 3), 16});
    file.call(Call::polls, 2250, 2300, {2, 40});
    file.call(Call::waitall, 2400, 3000, {5, pair(peer, 3), 16});
    file.call(64 + 3, 4000, 5000, {77, pair(-3, 0), 8, 8});
    file.call(128 + 11, 5100, 5200, {world, pair(-3, 0), 9, 30, 30, 10, 20, 20, 10}, 3);
    file.call(Call::wait, 6000, 7000, {9, pair(-3, -3), 0});
    file.call(Call::finalize, 9000, 9500, {});
    return file;
}

std::string refusal(const TraceBytes& file) {
    try {
        const RankTrace trace = file.read();
        return "read " + std::to_string(trace.size()) + " records";
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(TraceReader, ReadsTheHeaderAndTheRecords) {
    const RankTrace trace = sound(1).read();
    EXPECT_EQ(trace.header().rank, 1U);
    EXPECT_EQ(trace.header().ranks, 2U);
    EXPECT_EQ(trace.header().init_end, 1000);
    EXPECT_EQ(trace.header().finalize_begin, 9000);
    EXPECT_EQ(trace.header().host, "node1");
    EXPECT_EQ(trace.header().library, "Some MPI 1.0");
    EXPECT_TRUE(trace.header().finalized());
    ASSERT_EQ(trace.size(), 10U);
    std::uint32_t number = 0;
    trace.each([&number](const TraceRecord& record) {
        if (number++ != 3) {
            return;
        }
        EXPECT_EQ(record.call, Call::send);
        EXPECT_EQ(record.begin, 2100);
        EXPECT_EQ(record.end, 2200);
        ASSERT_EQ(record.words.size(), 3U);
        EXPECT_EQ(record.pair(1).first, 0);
        EXPECT_EQ(record.pair(1).second, 3);
        EXPECT_EQ(record.number(2), 16);
    });
    EXPECT_EQ(number, 10U);
}

TEST(TraceReader, PutsARanksTimesOnTheFirstRanksClockWithOffsetAndDrift) {
    TraceHeader header;
    header.offset_init = 100;
    header.offset_init_at = 1000;
    EXPECT_EQ(header.global(5000), 5100) << "without a second measurement there is no drift";
    header.offset_finalize = 300;
    header.offset_finalize_at = 11'000;
    EXPECT_EQ(header.global(1000), 1100);
    EXPECT_EQ(header.global(6000), 6200);
    EXPECT_EQ(header.global(11'000), 11'300);
}

TEST(TraceReader, TimesStayInRangeHoweverTheClocksWereMeasured) {
    constexpr std::int64_t far = (std::int64_t{1} << 60) - 1;
    std::vector<TraceBytes> files{TraceBytes(0, 2), TraceBytes(1, 2)};
    for (const std::size_t rank : {0, 1}) {
        const std::int64_t sign = rank == 0 ? 1 : -1;
        files[rank].began(sign * far).put(40, sign * far).put(56, sign * far).put(80, -sign * far);
        files[rank].put<std::int64_t>(72, 0).put<std::int64_t>(96, 1).put(64, far).put(88, far);
        files[rank].call(Call::init, 0, far, {}).call(Call::finalize, far, far, {});
    }
    const Trace trace = testing::trace_of(files);
    EXPECT_GE(trace.duration(), 0);
    EXPECT_EQ(convert(trace, {}).ranks.size(), 2U);
}

TEST(TraceReader, RefusesAClockThatJumped) {
    constexpr std::int64_t second = 1'000'000'000;
    const auto with = [](std::int64_t drift, std::int64_t error) {
        TraceBytes file = sound(0);
        file.put<std::int64_t>(80, 100 + drift).put<std::int64_t>(88, error).put<std::int64_t>(96, 500 + 2 * second);
        return refusal(file);
    };
    constexpr std::int64_t most = 201'000'000;  // a tenth of 2 s, and 1 ms
    EXPECT_EQ(with(most, 0), "read 10 records");
    EXPECT_EQ(with(-most, 0), "read 10 records");
    EXPECT_NE(with(most + 1, 0).find("rank0: byte 80: "), std::string::npos);
    EXPECT_NE(with(-second, 0).find("found a change of -1000000000 ns in 2000000000 ns: the clock jumped"),
              std::string::npos)
        << with(-second, 0);
    EXPECT_EQ(with(-second, second), "read 10 records") << "the exchanges leave as much open";
}

TEST(TraceReader, KnowsItsRunAndTheCoresOfTheHost) {
    TraceBytes file(0, 1);
    file.began(100).call(Call::init, 50, 100, {7, 2000, 96, 0b101, 1});
    file.call(Call::finalize, 900, 950, {5000});
    const RankTrace trace = file.read();
    EXPECT_EQ(trace.run_id(), 7U);
    EXPECT_EQ(trace.host_cores().number, 96U);
    EXPECT_EQ(trace.host_cores().usable, (std::vector<std::uint32_t>{0, 2, 64}));
    EXPECT_EQ(trace.host_cores().busy_begin, 2000);
    EXPECT_EQ(trace.host_cores().busy_end, 5000);
    const RankTrace earlier = sound(0).read();
    EXPECT_EQ(earlier.run_id(), 0U);
    EXPECT_EQ(earlier.host_cores().number, 0U);
    EXPECT_EQ(earlier.host_cores().busy_end, -1);
}

TEST(TraceReader, TakesZeroesAfterTheLastRecordForTheEnd) {
    TraceBytes file = sound(0);
    for (int i = 0; i < 1000; ++i) {
        file.append(0);
    }
    EXPECT_EQ(file.read().size(), 10U);
}

void write(const std::filesystem::path& path, TraceBytes file) {
    const std::vector<std::byte>& bytes = file.bytes();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// What a trace has, record by record.
std::vector<std::uint64_t> digests(const RankTrace& trace) {
    std::vector<std::uint64_t> found;
    trace.each([&found](const TraceRecord& record) {
        std::uint64_t digest = static_cast<std::uint64_t>(record.call) + static_cast<std::uint64_t>(record.end);
        for (const std::uint64_t word : record.words) {
            digest = digest * 31 + word;
        }
        found.push_back(digest);
    });
    return found;
}

TEST(TraceReader, AFileOfSeveralWindowsHasTheRecordsOfTheSameBytesInMemory) {
    constexpr std::uint64_t window_words = FileWindow::ahead_in_body / sizeof(std::uint64_t);
    TraceBytes bytes = sound(0);
    std::uint64_t time = 9500;
    for (std::uint64_t words = 0; words < 5 * window_words;) {
        const bool longer_than_a_window = words > window_words && words < 2 * window_words;
        const std::uint64_t count = longer_than_a_window ? 2 * window_words : 3;
        bytes.append(count | static_cast<std::uint64_t>(Call::send) << 32);
        bytes.append(time).append(time + 1);
        ++time;
        for (std::uint64_t word = 0; word < count; ++word) {
            bytes.append(words + word);
        }
        words += count + 3;
    }
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "large.iwtrace";
    write(path, bytes);
    const RankTrace file = RankTrace::read(path.string());
    EXPECT_GT(file.size(), 1000U);
    EXPECT_EQ(digests(file), digests(bytes.read()));
    std::filesystem::remove(path);
}

TEST(TraceReader, RefusesAFileThatHasChangedSinceItWasChecked) {
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "changed.iwtrace";
    TraceBytes header = sound(0);
    header.put<std::int64_t>(32, 1001);
    TraceBytes longer = sound(0);
    longer.call(Call::finalize, 9500, 9600, {});
    TraceBytes shorter(0, 2);
    shorter.began(1000).put<std::int64_t>(40, 9000).put<std::int64_t>(56, 100).put<std::int64_t>(72, 500);
    for (const TraceBytes& changed : {header, longer, shorter}) {
        write(path, sound(0));
        const RankTrace trace = RankTrace::read(path.string());
        std::uint64_t records = 0;
        trace.each([&records](const TraceRecord&) { ++records; });
        EXPECT_EQ(records, trace.size());
        write(path, changed);
        EXPECT_THROW(trace.each([](const TraceRecord&) {}), InputError);
    }
    std::filesystem::remove(path);
}

TEST(TraceReader, AnEmptyTraceIsATrace) {
    EXPECT_EQ(TraceBytes(0, 1).read().size(), 0U);
}

TEST(TraceReader, RefusesWhatIsNoTrace) {
    TraceBytes empty(0, 1);
    empty.bytes().clear();
    EXPECT_EQ(refusal(empty), "rank0: byte 0: expected the header of an Idlewave trace ('IDLEWTR1')");
    TraceBytes short_one(0, 1);
    short_one.bytes().resize(255);
    EXPECT_EQ(refusal(short_one), "rank0: byte 0: expected the header of an Idlewave trace ('IDLEWTR1')");
    TraceBytes foreign = sound(0);
    foreign.put_text(0, "OTF2DATA");
    EXPECT_EQ(refusal(foreign), "rank0: byte 0: expected the header of an Idlewave trace ('IDLEWTR1')");
}

TEST(TraceReader, RefusesAHeaderThatItCannotUnderstand) {
    EXPECT_EQ(refusal(sound(0).put<std::uint32_t>(8, 3)), "rank0: byte 8: expected format version 1 or 2, found 3");
    EXPECT_EQ(refusal(sound(0).put<std::uint32_t>(12, 128)),
              "rank0: byte 12: expected a header of 256 bytes, found 128");
    EXPECT_EQ(refusal(sound(0).put<std::uint32_t>(16, 2)), "rank0: byte 16: expected a rank below 2, found 2");
    for (const std::size_t time : {32, 40, 56, 72, 80, 96}) {
        for (const std::int64_t value : {std::int64_t{1} << 62, INT64_MIN, INT64_MAX}) {
            EXPECT_EQ(refusal(sound(0).put(time, value)),
                      "rank0: byte " + std::to_string(time) + ": expected a time below 36 years in ns");
        }
    }
}

TEST(TraceReader, RefusesAFileThatEndsInTheMiddleOfARecord) {
    const std::size_t whole = sound(0).bytes().size();
    std::size_t refused = 0;
    for (std::size_t size = 256; size < whole; ++size) {
        TraceBytes file = sound(0);
        file.bytes().resize(size);
        const std::string found = refusal(file);
        const bool told = found.find("the file ends in the middle of a record") != std::string::npos;
        EXPECT_TRUE(told || found.starts_with("read ")) << found;
        refused += told ? 1 : 0;
    }
    EXPECT_EQ(refused, whole - 256 - 10) << "only where a record ends may the file end";
}

TEST(TraceReader, RefusesARecordThatCannotBe) {
    const auto with = [](std::uint16_t call, std::int64_t begin, std::int64_t end, auto words) {
        return refusal(TraceBytes(0, 1).call(Call::init, 50, 100, {}).call(call, begin, end, words));
    };
    using Words = std::initializer_list<std::uint64_t>;
    EXPECT_EQ(with(99, 100, 200, Words{}), "rank0: byte 280: no call has the number 99");
    EXPECT_EQ(with(16, 100, 200, Words{1, 2}), "rank0: byte 280: expected at least 3 words for MPI_Send, found 2");
    EXPECT_EQ(with(64, 100, 200, Words{1, 2, 3}),
              "rank0: byte 280: expected at least 4 words for MPI_Barrier, found 3");
    EXPECT_EQ(with(2, 60, 90, Words{}),
              "rank0: byte 288: MPI_Finalize from 60 to 90 ns: expected times that do not decrease");
    EXPECT_EQ(with(2, 200, 150, Words{}),
              "rank0: byte 288: MPI_Finalize from 200 to 150 ns: expected times that do not decrease");
    EXPECT_EQ(with(2, -5, 150, Words{}),
              "rank0: byte 288: MPI_Finalize from -5 to 150 ns: expected times that do not decrease");
    TraceBytes lying(0, 1);
    lying.append(std::uint64_t{0xffffffff} | std::uint64_t{16} << 32).append(1).append(2).append(3);
    EXPECT_EQ(refusal(lying), "rank0: byte 256: the file ends in the middle of a record of MPI_Send");
}

/// A directory of rank files that goes when the test ends.
class Directory {
  public:
    Directory() : path_(std::filesystem::path(::testing::TempDir()) / ("idlewave-" + name())) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    Directory(Directory&&) = delete;
    Directory& operator=(Directory&&) = delete;
    ~Directory() { std::filesystem::remove_all(path_); }

    void write(const std::string& file, TraceBytes trace) const {
        std::ofstream out(path_ / file, std::ios::binary);
        out.write(reinterpret_cast<const char*>(trace.bytes().data()),
                  static_cast<std::streamsize>(trace.bytes().size()));
    }

    [[nodiscard]] std::string path() const { return path_.string(); }

    /// What reading it says, without the directory's own name.
    [[nodiscard]] std::string refusal() const {
        try {
            return "read " + std::to_string(Trace::read(path()).ranks.size()) + " ranks";
        } catch (const InputError& error) {
            const std::string what = error.what();
            return what.starts_with(path()) ? what.substr(path().size()) : what;
        }
    }

  private:
    static std::string name() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        return std::string(test->test_suite_name()) + "-" + test->name();
    }

    std::filesystem::path path_;
};

TEST(TraceDirectory, IsReadInTheOrderOfRanks) {
    const Directory directory;
    directory.write("rank-b.iwtrace", sound(0));
    directory.write("rank-a.iwtrace", sound(1));
    directory.write("notes.txt", TraceBytes(0, 1));
    const Trace trace = Trace::read(directory.path());
    ASSERT_EQ(trace.ranks.size(), 2U);
    EXPECT_EQ(trace.ranks[0].header().rank, 0U);
    EXPECT_EQ(trace.begin(), 1100);
    EXPECT_EQ(trace.duration(), 8000);
}

TEST(TraceDirectory, NeedsEachRankOnceAndOfOneRun) {
    const Directory directory;
    EXPECT_EQ(directory.refusal(), ": expected a trace, found no file rank-….iwtrace");
    directory.write("rank-0000001.iwtrace", sound(1));
    EXPECT_EQ(directory.refusal(), ": expected one file for each of 2 ranks, and there is none for rank 0");
    directory.write("rank-0000000.iwtrace", TraceBytes(0, 3));
    EXPECT_EQ(directory.refusal(),
              "/rank-0000001.iwtrace: is one of 2 ranks, others of 3: files of two runs are mixed");
    directory.write("rank-0000000.iwtrace", sound(0));
    EXPECT_EQ(directory.refusal(), "read 2 ranks");
    directory.write("rank-0000002.iwtrace", sound(1));
    EXPECT_EQ(directory.refusal(), ": expected one file for each of 2 ranks, and there is more than one for rank 1");
    std::filesystem::remove(directory.path() + "/rank-0000001.iwtrace");
    std::filesystem::remove(directory.path() + "/rank-0000002.iwtrace");
    EXPECT_EQ(directory.refusal(), ": expected one file for each of 2 ranks, and there is none for rank 1");
    std::filesystem::create_directory(directory.path() + "/rank-0000001.iwtrace");
    EXPECT_EQ(directory.refusal(), "/rank-0000001.iwtrace: cannot be read as a trace: it is no file");
}

TEST(TraceDirectory, HasRanksOfOneRun) {
    const Directory directory;
    const auto of_run = [](std::uint32_t rank, std::uint64_t run) {
        TraceBytes file(rank, 2);
        return file.began(100).call(Call::init, 50, 100, {run, 0, 4, 1}).call(Call::finalize, 900, 950, {0});
    };
    directory.write("rank-0000000.iwtrace", of_run(0, 7));
    directory.write("rank-0000001.iwtrace", of_run(1, 8));
    EXPECT_EQ(directory.refusal(), "/rank-0000001.iwtrace: is of another run than " + directory.path() +
                                       "/rank-0000000.iwtrace: files of two runs are mixed");
    directory.write("rank-0000001.iwtrace", of_run(1, 7));
    EXPECT_EQ(directory.refusal(), "read 2 ranks");
    directory.write("rank-0000001.iwtrace", sound(1));
    EXPECT_EQ(directory.refusal(), "read 2 ranks") << "an earlier tracer did not say of which run it is";
}

TEST(TraceDirectory, ThatDoesNotExistIsNamed) {
    try {
        Trace::read("/nowhere/at/all");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 40), "/nowhere/at/all: cannot be read as a tra");
    }
}

TEST(TraceDirectory, IsAnsweredWithAProgramOrAnInputErrorHoweverItIsDamaged) {
    Dice dice(1);
    const std::uint64_t values[] = {0,
                                    1,
                                    2,
                                    3,
                                    64,
                                    255,
                                    ~std::uint64_t{0},
                                    std::uint64_t{1} << 63,
                                    (std::uint64_t{1} << 63) - 1,
                                    std::uint64_t{1} << 61,
                                    std::uint64_t{1} << 60,
                                    (std::uint64_t{1} << 61) - 1};
    const Directory directory;
    std::uint64_t converted = 0;
    for (std::uint64_t i = 0; i < trials(6000); ++i) {
        for (const std::uint32_t rank : {0U, 1U}) {
            TraceBytes file = sound(rank);
            for (std::uint64_t n = rank == dice.roll(2) ? 1 + dice.roll(3) : 0; n > 0; --n) {
                const std::size_t size = file.bytes().size();
                const std::size_t word = dice.one_in(4) ? dice.roll(size / 8) : 32 + dice.roll(size / 8 - 32);
                if (dice.one_in(2)) {
                    file.put(8 * word, values[dice.roll(std::size(values))]);
                } else if (dice.one_in(8)) {
                    file.bytes().resize(256 + dice.roll(size - 256));
                    break;
                } else {
                    file.put(8 * word + dice.roll(8), static_cast<std::uint8_t>(dice.roll(256)));
                }
            }
            directory.write("rank-" + std::to_string(rank) + ".iwtrace", file);
        }
        try {
            const Trace trace = Trace::read(directory.path());
            ASSERT_LE(call_rows(trace).size(), 20U);
            ASSERT_GE(trace.duration(), 0);
            const collectives::ProgramSource source(std::make_shared<const collectives::Program>(convert(trace, {})),
                                                    1);
            ++converted;
            ASSERT_EQ(
                loggops::simulate(source, machine::Machine{}, {.seed = 0, .threads = 1, .poll = {}}).finish.size(), 2U);
        } catch (const InputError& error) {
            ASSERT_STRNE(error.what(), "");
        } catch (const TimeOverflow&) {
            ++converted;
        } catch (const Standstill&) {
            ++converted;
        }
    }
    EXPECT_GT(converted, trials(500));
    EXPECT_LT(converted, trials(5500));
}

}  // namespace
}  // namespace idlewave::trace
