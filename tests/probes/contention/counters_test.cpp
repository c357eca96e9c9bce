// Of a victim that computes in this thread its own counts are taken, and of a command those of the command alone.

#include "contention/counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "contention/measurement.hpp"
#include "contention/victims/program.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::contention;

// Counts of a processor that there is not. Whatever this thread does costs 7 of each event between two looks.
class FakeCounters : public CounterSource {
  public:
    struct Opened {
        perf_event_attr attributes;
        pid_t process = 0;
        bool closed = false;
        std::uint64_t looks = 0;
    };

    int open(perf_event_attr& attributes, CountedOn counted) override {
        if (lacks_stalled && attributes.type == PERF_TYPE_HARDWARE && attributes.config != PERF_COUNT_HW_CPU_CYCLES) {
            return -ENOENT;
        }
        if (!begun.empty()) {
            EXPECT_FALSE(std::filesystem::exists(begun)) << "counted when the command had begun";
        }
        opened.push_back({attributes, counted.process});
        return static_cast<int>(opened.size()) + 100;
    }
    std::optional<Count> read(int file) override {
        Opened& own = opened.at(static_cast<std::size_t>(file) - 101);
        EXPECT_FALSE(own.closed);
        ++own.looks;
        if (own.process != 0) return of_command;
        return Count{7 * own.looks, 1, 1};
    }
    void close(int file) override { opened.at(static_cast<std::size_t>(file) - 101).closed = true; }

    bool lacks_stalled = false;
    Count of_command{1000, 10, 10};
    std::filesystem::path begun;
    std::vector<Opened> opened;
};

struct NoTraffic {
    void start() {}
    [[nodiscard]] std::uint64_t bytes() const { return 0; }
    void check() const {}
    void stop() {}
};

class CountersOf : public testing::Test {
  protected:
    CountersOf() : folder_(std::filesystem::temp_directory_path() / ("counters-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~CountersOf() override { std::filesystem::remove_all(folder_); }

    // The cells of counter.cycles of each iteration.
    std::vector<std::string> cycles_of(const VictimOptions& victim) {
        RunOptions options;
        options.victim = victim;
        options.iterations = 3;
        options.without_probes = true;
        options.counter_folders = folder_;
        options.output = (folder_ / "rows.csv").string();
        complete(options);
        NoTraffic traffic;
        contention::Run<NoTraffic> measured(options, traffic, source_);
        summary_ = measured.measure().text().text;
        std::ifstream file(options.output);
        std::string line;
        std::getline(file, line);
        std::vector<std::string> result;
        while (std::getline(file, line)) {
            std::istringstream cells(line);
            std::string cell;
            for (int i = 0; i < 5; ++i) std::getline(cells, cell, ',');
            result.push_back(cell);
        }
        return result;
    }

    std::filesystem::path folder_;
    FakeCounters source_;
    std::string summary_;
};

TEST_F(CountersOf, AVictimOfThisThreadAreWhatItsOwnGrewBy) {
    EXPECT_EQ(cycles_of({"idle", 0.001, {}}), (std::vector<std::string>(3, "7")));
    for (const FakeCounters::Opened& each : source_.opened) {
        EXPECT_EQ(each.process, 0);
        EXPECT_FALSE(each.attributes.enable_on_exec);
        EXPECT_TRUE(each.closed);
    }
}

TEST_F(CountersOf, ACommandAreThoseOfItsOwnProcessesFromItsExecOn) {
    EXPECT_EQ(cycles_of({"command", 0, {"true"}}), (std::vector<std::string>(3, "1000")));
    std::map<pid_t, int> events;
    for (const FakeCounters::Opened& each : source_.opened) {
        if (each.process == 0) continue;
        EXPECT_NE(each.process, getpid());
        EXPECT_TRUE(each.attributes.disabled);
        EXPECT_TRUE(each.attributes.enable_on_exec);
        EXPECT_TRUE(each.attributes.inherit);
        ++events[each.process];
    }
    EXPECT_EQ(events.size(), 4u);  // three iterations, and the one before them
    for (const auto& [process, number] : events) EXPECT_EQ(number, 4) << process;
}

TEST_F(CountersOf, ACommandAreThereBeforeItBegins) {
    source_.begun = folder_ / "begun";
    Program program({"touch", source_.begun.string()}, source_, std::nullopt);
    program.run();
    EXPECT_TRUE(std::filesystem::exists(source_.begun));
}

TEST_F(CountersOf, ACommandAreMissingWhereTheProcessorHasNone) {
    source_.lacks_stalled = true;
    source_.of_command = {1000, 10, 0};
    EXPECT_EQ(cycles_of({"command", 0, {"true"}}), (std::vector<std::string>(3, "")));
    EXPECT_NE(summary_.find("\"stalled_cycles\": \""), std::string::npos) << summary_;
    EXPECT_NE(summary_.find("\"cycles\": null"), std::string::npos) << summary_;
}

TEST_F(CountersOf, APartOfTheTimeAreScaledToAllOfIt) {
    source_.of_command = {1000, 40, 10};
    EXPECT_EQ(cycles_of({"command", 0, {"true"}}).front(), "4000");
}

}  // namespace
