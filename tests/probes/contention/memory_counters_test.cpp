// The bytes of memory controllers, from made folders of sysfs and counts of controllers that there are not.

#include "contention/memory_counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "contention/measurement.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::contention;

// Controllers that there are not. Each event has counted `start` when it is opened, and `step` more at each later look.
class FakeControllers : public CounterSource {
  public:
    struct Opened {
        perf_event_attr attributes{};
        CountedOn on;
        bool closed = false;
        std::uint64_t looks = 0;
    };

    int open(perf_event_attr& attributes, CountedOn on) override {
        if (on.cpu == refused_cpu) return -refusal;
        opened.push_back({attributes, on});
        return static_cast<int>(opened.size()) - 1;
    }
    std::optional<Count> read(int file) override {
        Opened& own = opened.at(static_cast<std::size_t>(file));
        EXPECT_FALSE(own.closed);
        const std::uint64_t looks = own.looks++;
        if (unreadable) return std::nullopt;
        return Count{start.value + looks * step.value, start.enabled_ns + looks * step.enabled_ns,
                     start.running_ns + looks * step.running_ns};
    }
    void close(int file) override {
        Opened& own = opened.at(static_cast<std::size_t>(file));
        EXPECT_FALSE(own.closed);
        own.closed = true;
    }

    [[nodiscard]] bool all_closed() const {
        return std::all_of(opened.begin(), opened.end(), [](const Opened& each) { return each.closed; });
    }

    Count start{5000, 70, 70};
    Count step{3, 10, 10};
    int refused_cpu = -2;
    int refusal = EACCES;
    bool unreadable = false;
    std::vector<Opened> opened;
};

class MemoryCountersOf : public testing::Test {
  protected:
    MemoryCountersOf() : root_(std::filesystem::temp_directory_path() / ("controllers-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(root_);
        std::filesystem::create_directories(root_);
        write("software/type", "1");
        write("cpu/type", "4");
        write("cpu/events/cas_count_read", "event=0x04");
    }
    ~MemoryCountersOf() override { std::filesystem::remove_all(root_); }

    void write(const std::string& name, const std::string& text) {
        std::filesystem::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text << "\n";
    }

    void event(const std::string& name, const std::string& terms) {
        write(name, terms);
        write(name + ".scale", "6.103515625e-5");
        write(name + ".unit", "MiB");
    }

    void controller(const std::string& name, const std::string& type, const std::string& cpus) {
        write(name + "/type", type);
        write(name + "/cpumask", cpus);
        write(name + "/format/event", "config:0-7");
        write(name + "/format/umask", "config:8-15");
    }

    // As Intel's servers have it.
    void server_controller(const std::string& name, const std::string& type, const std::string& cpus) {
        controller(name, type, cpus);
        event(name + "/events/cas_count_read", "event=0x04,umask=0x03");
        event(name + "/events/cas_count_write", "event=0x04,umask=0x0c");
    }

    // What one look after another says.
    double bytes() {
        const MemoryCounters counters(source_, root_);
        const MemoryCounters::Counts before = counters.read();
        said_ = counters.describe().text;
        return counters.bytes_since(before);
    }

    // The reason why nothing is counted.
    std::string reason() {
        EXPECT_TRUE(std::isnan(bytes()));
        EXPECT_TRUE(source_.all_closed());
        EXPECT_NE(said_, "null");
        return said_;
    }

    // The parts of the one event's number where umask has this format, and a value of 11 bits.
    perf_event_attr encoded(const std::string& format) {
        controller("uncore_imc", "30", "0");
        write("uncore_imc/format/umask", format);
        event("uncore_imc/events/data_reads", "event=0x01,umask=0x7a5");
        event("uncore_imc/events/data_writes", "event=0x01");
        EXPECT_FALSE(std::isnan(bytes())) << said_;
        return source_.opened.empty() ? perf_event_attr{} : source_.opened.front().attributes;
    }

    std::filesystem::path root_;
    FakeControllers source_;
    std::string said_;
};

TEST_F(MemoryCountersOf, TwoSocketsAreTheSumOverAllControllersOfBoth) {
    server_controller("uncore_imc_0", "30", "0,16");
    server_controller("uncore_imc_1", "31", "0,16");
    EXPECT_EQ(bytes(), 2 * 2 * 2 * 3 * 64.0);
    EXPECT_EQ(said_, "null");
    ASSERT_EQ(source_.opened.size(), 8u);
    std::vector<std::vector<std::uint64_t>> found;
    for (const FakeControllers::Opened& each : source_.opened) {
        EXPECT_EQ(each.on.process, -1);
        EXPECT_FALSE(each.attributes.exclude_kernel);  // which the kernel refuses for them
        EXPECT_FALSE(each.attributes.exclude_hv);
        EXPECT_FALSE(each.attributes.inherit);
        found.push_back({each.attributes.type, each.attributes.config, static_cast<std::uint64_t>(each.on.cpu)});
    }
    const std::vector<std::vector<std::uint64_t>> expected = {{30, 0x304, 0},  {30, 0x304, 16}, {30, 0xc04, 0},
                                                              {30, 0xc04, 16}, {31, 0x304, 0},  {31, 0x304, 16},
                                                              {31, 0xc04, 0},  {31, 0xc04, 16}};
    EXPECT_EQ(found, expected);
    EXPECT_TRUE(source_.all_closed());
}

TEST_F(MemoryCountersOf, AServerCountNoByteTwiceByFreeRunningCounters) {
    server_controller("uncore_imc_0", "30", "0");
    controller("uncore_imc_free_running_0", "40", "0");
    event("uncore_imc_free_running_0/events/data_read", "event=0xff,umask=0x20");
    event("uncore_imc_free_running_0/events/data_write", "event=0xff,umask=0x30");
    EXPECT_EQ(bytes(), 2 * 3 * 64.0);
}

TEST_F(MemoryCountersOf, AServerWithTwoSubchannelsAreThoseOfBoth) {
    controller("uncore_imc_0", "30", "0");
    for (const std::string name : {"read_sch0", "read_sch1", "write_sch0", "write_sch1"}) {
        event("uncore_imc_0/events/cas_count_" + name, "event=0x05,umask=0xcf");
    }
    EXPECT_EQ(bytes(), 4 * 3 * 64.0);
}

TEST_F(MemoryCountersOf, AClientProcessorAreThoseOfItsFreeRunningCounters) {
    controller("uncore_imc_0", "30", "0");  // whose events have no names
    for (const std::string name : {"uncore_imc_free_running_0", "uncore_imc_free_running_1"}) {
        controller(name, "40", "0");
        event(name + "/events/data_total", "event=0xff,umask=0x10");
        event(name + "/events/data_read", "event=0xff,umask=0x20");
        event(name + "/events/data_write", "event=0xff,umask=0x30");
    }
    EXPECT_EQ(bytes(), 2 * 2 * 3 * 64.0);
    EXPECT_EQ(source_.opened.front().attributes.config, 0x20ffu);
}

TEST_F(MemoryCountersOf, AmdAreLinesOfCommandsThatTheKernelHasNoNamesFor) {
    for (const std::string name : {"amd_umc_0", "amd_umc_11"}) {
        controller(name, "22", "8");
        write(name + "/format/rdwrmask", "config:8-9");
    }
    EXPECT_EQ(bytes(), 2 * 2 * 3 * 64.0);
    EXPECT_EQ(source_.opened.at(0).attributes.config, 0x10au);
    EXPECT_EQ(source_.opened.at(1).attributes.config, 0x20au);
    EXPECT_EQ(source_.opened.at(1).on.cpu, 8);
}

TEST_F(MemoryCountersOf, AUnitAndAScaleAreMultipliedToBytes) {
    server_controller("uncore_imc", "30", "0");
    write("uncore_imc/events/cas_count_read.scale", "0.5");
    write("uncore_imc/events/cas_count_read.unit", "KiB");
    write("uncore_imc/events/cas_count_write.scale", "32");
    write("uncore_imc/events/cas_count_write.unit", "Bytes");
    EXPECT_EQ(bytes(), 3 * 512.0 + 3 * 32.0);
}

TEST_F(MemoryCountersOf, APartOfTheTimeAreScaledByThatOfTheIntervalAlone) {
    server_controller("uncore_imc", "30", "0");
    source_.start = {1'000'000, 1000, 10};
    source_.step = {3, 40, 10};
    EXPECT_EQ(bytes(), 2 * 4 * 3 * 64.0);
    source_.step = {3, 40, 0};
    EXPECT_TRUE(std::isnan(bytes()));
    EXPECT_EQ(said_, "null");
}

TEST_F(MemoryCountersOf, WhatCannotBeReadLaterAreUnknown) {
    server_controller("uncore_imc", "30", "0");
    source_.unreadable = true;
    EXPECT_TRUE(std::isnan(bytes()));
}

TEST_F(MemoryCountersOf, FormatsPutAValueIntoTheirBits) {
    EXPECT_EQ(encoded("config:8-18").config, 0x7a501u);
    source_.opened.clear();
    EXPECT_EQ(encoded("config:8-11,32-38").config, 0x7a'0000'0501u);  // lowest bits first
    source_.opened.clear();
    const perf_event_attr second = encoded("config1:0-63");
    EXPECT_EQ(second.config, 1u);
    EXPECT_EQ(second.config1, 0x7a5u);
    source_.opened.clear();
    EXPECT_EQ(encoded("config2:53-63").config2, std::uint64_t{0x7a5} << 53);
    source_.opened.clear();
    EXPECT_EQ(encoded("config:21,22,23-31").config, (std::uint64_t{0x7a5} << 21) | 1);
}

TEST_F(MemoryCountersOf, ATermWithoutAValueIsOne) {
    server_controller("uncore_imc", "30", "0");
    write("uncore_imc/format/edge", "config:18");
    write("uncore_imc/events/cas_count_read", "event=4,edge");
    EXPECT_FALSE(std::isnan(bytes()));
    EXPECT_EQ(source_.opened.front().attributes.config, 0x40004u);
}

TEST_F(MemoryCountersOf, AMachineWithoutAnyAreMissingAndSaid) {
    EXPECT_NE(reason().find("has no memory controllers whose events for bytes"), std::string::npos) << said_;
    controller("uncore_imc_0", "30", "0");
    controller("uncore_imc_clock", "30", "0");
    EXPECT_NE(reason().find("has no memory controllers whose events for bytes"), std::string::npos) << said_;
    std::filesystem::remove_all(root_);
    EXPECT_NE(reason().find("cannot be read: No such file"), std::string::npos) << said_;
    EXPECT_TRUE(source_.opened.empty());
}

TEST_F(MemoryCountersOf, WhoMayNotCountTheWholeMachineAreMissingAndSaid) {
    server_controller("uncore_imc_0", "30", "0,16");
    source_.refused_cpu = 16;
    const std::string said = reason();
    EXPECT_NE(said.find("uncore_imc_0/cas_count_read on CPU 16: Permission denied"), std::string::npos) << said;
    EXPECT_NE(said.find("kernel.perf_event_paranoid"), std::string::npos) << said;
    EXPECT_EQ(source_.opened.size(), 1u);  // and that one was closed
    source_.refusal = ENODEV;
    EXPECT_EQ(reason().find("kernel.perf_event_paranoid"), std::string::npos) << said_;
    EXPECT_NE(said_.find("No such device"), std::string::npos) << said_;
}

TEST_F(MemoryCountersOf, ADamagedFileAreMissingAndTheFileIsNamed) {
    struct Damage {
        std::string file;
        std::string text;
        std::string expected;
    };
    const std::vector<Damage> damages = {
        {"type", "", "expected a number"},
        {"type", "30x", "expected a number, found '30x'"},
        {"type", "4294967296", "expected a number"},
        {"cpumask", "", "expected CPUs"},
        {"cpumask", "0-", "expected CPUs"},
        {"cpumask", "9999999999", "expected CPUs"},
        {"format/event", "config", "expected bits such as"},
        {"format/event", "config3:0-7", "expected bits such as"},
        {"format/event", "config:", "expected bits such as"},
        {"format/event", "config:7-0", "expected bits such as"},
        {"format/event", "config:0-64", "expected bits such as"},
        {"format/event", "config:0-7,", "expected bits such as"},
        {"format/event", "config:0-1", "expected bits for the value 4, found 'config:0-1'"},
        {"events/cas_count_read", "event=", "expected terms such as"},
        {"events/cas_count_read", "event=0x", "expected terms such as"},
        {"events/cas_count_read", "event=0x04,", "expected terms such as"},
        {"events/cas_count_read", "../type=4", "expected terms such as"},
        {"events/cas_count_read.scale", "many", "expected a number above 0, found 'many'"},
        {"events/cas_count_read.scale", "-1", "expected a number above 0"},
        {"events/cas_count_read.scale", "nan", "expected a number above 0"},
        {"events/cas_count_write.unit", "furlongs", "expected a unit of bytes such as MiB, found 'furlongs'"},
    };
    for (const Damage& damage : damages) {
        server_controller("uncore_imc_0", "30", "0");
        write("uncore_imc_0/" + damage.file, damage.text);
        const std::string said = reason();
        EXPECT_NE(said.find(damage.expected), std::string::npos) << damage.file << ": " << said;
        EXPECT_NE(said.find("uncore_imc_0/" + damage.file), std::string::npos) << said;
    }
    for (const std::string missing : {"type", "cpumask", "format/umask", "events/cas_count_write",
                                      "events/cas_count_write.scale", "events/cas_count_read.unit"}) {
        server_controller("uncore_imc_0", "30", "0");
        std::filesystem::remove(root_ / "uncore_imc_0" / missing);
        EXPECT_NE(reason().find("uncore_imc_0/" + missing), std::string::npos) << said_;
    }
}

TEST_F(MemoryCountersOf, OneControllerThatIsDamagedTakeThoseOfTheOthersAway) {
    server_controller("uncore_imc_0", "30", "0");
    server_controller("uncore_imc_1", "31", "0");
    write("uncore_imc_1/type", "?");
    EXPECT_NE(reason().find("uncore_imc_1/type"), std::string::npos) << said_;
}

TEST_F(MemoryCountersOf, AnIterationAreInItsLine) {
    struct Quiet {
        void start() {}
        [[nodiscard]] std::uint64_t bytes() const { return 0; }
        void check() const {}
        void stop() {}
    };
    server_controller("uncore_imc_0", "30", "0");
    RunOptions options;
    options.victim = {"idle", 0.001, {}};
    options.iterations = 2;
    options.without_probes = true;
    options.counter_folders = root_;
    options.output = (root_ / "rows.csv").string();
    complete(options);
    Quiet traffic;
    contention::Run<Quiet> measured(options, traffic, source_);
    const std::string summary = measured.measure().text().text;
    EXPECT_NE(summary.find("\"memory_bytes\": null"), std::string::npos) << summary;
    std::ifstream file(options.output);
    std::string line;
    std::getline(file, line);
    EXPECT_NE(line.find(",counter.l3_misses,counter.memory_bytes,probe.latency_l1_s"), std::string::npos) << line;
    for (int row = 0; row < 2; ++row) {
        std::getline(file, line);
        std::istringstream cells(line);
        std::string cell;
        for (int i = 0; i < 10; ++i) std::getline(cells, cell, ',');
        EXPECT_EQ(cell, "384") << line;
    }
}

}  // namespace
