// What the kernel's tracer wrote, as events: pairs of lines, and the net lengths that osnoise tells.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "noise/event_pairs.hpp"
#include "noise/kernel_event.hpp"
#include "noise/trace_line.hpp"

namespace idlewave::probe {
namespace {

constexpr int probe_thread = 4711;

// Stamps in nanoseconds.
std::vector<KernelEvent> events_of(const std::vector<std::string>& lines) {
    EventPairs pairs(probe_thread);
    for (const std::string& line : lines) {
        const auto parsed = parse_trace_line(line);
        if (parsed) pairs.add(*parsed, std::strtod(parsed->stamp.c_str(), nullptr));
    }
    return pairs.finish();
}

std::string switch_between(const char* stamp, const std::string& next) {
    return std::string("           <...>-4711    [001] d..2. ") + stamp +
           ": sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> " + next + " next_prio=120";
}
const std::string to_make = "next_comm=make next_pid=94722";
const std::string to_idle = "next_comm=swapper/1 next_pid=0";
const std::string to_probe = "next_comm=idlewave-detour next_pid=4711";

std::string told(const char* stamp, const std::string& event) {
    return std::string("           <...>-94722   [001] d.h1. ") + stamp + ": " + event;
}

struct Expected {
    const char* kind;
    const char* name;
    double begin_ns;
    double end_ns;
    double net_ns;  // below 0: none was told
};

void expect(const std::vector<KernelEvent>& found, const std::vector<Expected>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].kind, expected[i].kind) << i;
        EXPECT_EQ(found[i].name, expected[i].name) << i;
        EXPECT_EQ(found[i].begin_ns, expected[i].begin_ns) << i;
        EXPECT_EQ(found[i].end_ns, expected[i].end_ns) << i;
        EXPECT_EQ(found[i].net_ns.value_or(-1), expected[i].net_ns) << i;
    }
}

TEST(KernelEvents, WithoutOsnoiseNoneHasANetLength) {
    expect(events_of({switch_between("1000", to_make), told("2000", "local_timer_entry: vector=236"),
                      told("4000", "local_timer_exit: vector=236"), switch_between("9000", to_probe)}),
           {{"task", "make:94722", 1000, 9000, -1}, {"vector", "local_timer", 2000, 4000, -1}});
}

// A task of 8 us that an interrupt and the softirq behind it took 4 us from.
TEST(KernelEvents, HaveTheirNetLengthsWhicheverLineComesFirst) {
    const std::vector<Expected> expected = {{"task", "make:94722", 1000, 9000, 4100},
                                            {"irq", "27:virtio0-input.0", 2000, 4000, 1900},
                                            {"softirq", "TIMER", 4100, 6000, 1800}};
    const std::string irq = "irq_noise: virtio0-input.0:27 start 1371.794302286 duration 1900 ns";
    const std::string softirq = "softirq_noise:    TIMER:1 start 1371.794304386 duration 1800 ns";
    const std::string task = "thread_noise:     make:94722 start 1371.794301286 duration 4100 ns";
    const auto entry = told("2000", "irq_handler_entry: irq=27 name=virtio0-input.0");
    const auto exit = told("4000", "irq_handler_exit: irq=27 ret=handled");
    const auto softirq_entry = told("4100", "softirq_entry: vec=1 [action=TIMER]");
    const auto softirq_exit = told("6000", "softirq_exit: vec=1 [action=TIMER]");
    expect(events_of({switch_between("1000", to_make), entry, told("3990", irq), exit, softirq_entry,
                      told("5990", softirq), softirq_exit, told("8990", task), switch_between("9000", to_probe)}),
           expected);
    expect(events_of({switch_between("1000", to_make), entry, exit, told("4010", irq), softirq_entry, softirq_exit,
                      told("6010", softirq), switch_between("9000", to_probe), told("9010", task)}),
           expected);
}

TEST(KernelEvents, OfOneNameHaveEachItsOwnNetLength) {
    const auto timer = [](const char* begin, const char* end, const char* net, const char* length) {
        return std::vector<std::string>{
            told(begin, "local_timer_entry: vector=236"),
            told(net, std::string("irq_noise: local_timer:236 start 1.000000001 duration ") + length + " ns"),
            told(end, "local_timer_exit: vector=236")};
    };
    std::vector<std::string> lines = timer("1000", "3000", "2990", "1700");
    for (const std::string& line : timer("5000", "8000", "7990", "2600")) lines.push_back(line);
    expect(events_of(lines),
           {{"vector", "local_timer", 1000, 3000, 1700}, {"vector", "local_timer", 5000, 8000, 2600}});
}

TEST(KernelEvents, AnInterruptOrAnNmiThatOnlyOsnoiseToldIsAnEvent) {
    expect(events_of({told("5000", "irq_noise: hyperv_stimer0:237 start 12.000003100 duration 1900 ns"),
                      told("90000", "nmi_noise: start 12.000088000 duration 2000 ns"),
                      told("95000", "nmi_noise: start 12.000093000 duration 2000 ns")}),
           {{"irq", "237:hyperv_stimer0", 3100, 5000, 1900},
            {"nmi", "nmi", 88000, 90000, 2000},
            {"nmi", "nmi", 93000, 95000, 2000}});
}

TEST(KernelEvents, TheProbesOwnTimeIsNoNoiseAndIdlenessIsNotATask) {
    expect(events_of({told("500", "thread_noise: idlewave-detour:4711 start 1.000000001 duration 400 ns"),
                      switch_between("600", to_idle),
                      told("2590", "thread_noise: swapper/1:0 start 1.000000600 duration 1900 ns"),
                      switch_between("2600", to_probe),
                      told("9000", "thread_noise: idlewave-detour:4711 start 1.000002600 duration 6000 ns")}),
           {{"idle", "idle:0", 600, 2600, 1900}});
}

// A softirq or a task that began before the first line has no begin that is known.
TEST(KernelEvents, OfWhatBeganBeforeTheFirstLineThereIsNone) {
    expect(events_of({told("500", "softirq_noise:    TIMER:1 start 1.000000001 duration 400 ns"),
                      told("510", "softirq_exit: vec=1 [action=TIMER]"),
                      told("800", "thread_noise:     make:94722 start 0.500000001 duration 500000000 ns"),
                      switch_between("810", to_probe)}),
           {});
}

TEST(KernelEvents, AnNmiIsOneEventAndATaskThatBecameAnotherProgramToo) {
    expect(events_of({told("89000", "nmi_handler: perf_event_nmi_handler() delta_ns: 1500 handled: 1"),
                      told("89100", "nmi_handler: nmi_cpu_backtrace_handler() delta_ns: 50 handled: 0"),
                      told("90000", "nmi_noise: start 12.000088000 duration 2000 ns"),
                      switch_between("91000", "next_comm=sh next_pid=163"),
                      told("94990", "thread_noise:      exe:163 start 12.000091000 duration 3900 ns"),
                      switch_between("95000", to_probe)}),
           {{"nmi", "perf_event_nmi_handler", 88000, 90000, 2000}, {"task", "sh:163", 91000, 95000, 3900}});
}

// As Linux 6.12 writes it of the task that runs while the tracer is switched on.
TEST(KernelEvents, ATaskThatRanBeforeTheTracerDidHasNoNetLength) {
    expect(events_of({switch_between("1000", to_make),
                      told("4990", "thread_noise:     make:94722 start 0.000000000 duration 7167689474 ns"),
                      switch_between("5000", to_probe)}),
           {{"task", "make:94722", 1000, 5000, -1}});
}

TEST(KernelEvents, ANameMayHaveColonsAndSpaces) {
    expect(events_of({switch_between("1000", "next_comm=Web Content: a next_pid=77"),
                      told("4990", "thread_noise: Web Content: a:77 start 1.000001000 duration 3900 ns"),
                      switch_between("5000", to_probe)}),
           {{"task", "Web Content: a:77", 1000, 5000, 3900}});
}

TEST(KernelEvents, ANetLengthThatIsNotKnownEndsNothing) {
    expect(events_of({told("1000", "softirq_entry: vec=1 [action=TIMER]"),
                      told("1200", "softirq_noise:    TIMER:1 start 0.000000000 duration 7167689474 ns"),
                      told("6000", "softirq_exit: vec=1 [action=TIMER]")}),
           {{"softirq", "TIMER", 1000, 6000, -1}});
}

// Whose duration the kernel found to be -5 ns; it prints it so.
TEST(KernelEvents, ANetLengthBelowZeroIsNone) {
    const std::string length = " duration 18446744073709551611 ns";
    expect(events_of({told("1000", "local_timer_entry: vector=236"),
                      told("2990", "irq_noise: local_timer:236 start 1.000001000" + length),
                      told("3000", "local_timer_exit: vector=236"),
                      told("4000", "nmi_handler: perf_event_nmi_handler() delta_ns: 100 handled: 1"),
                      told("9000", "nmi_noise: start 1.000009000" + length)}),
           {{"vector", "local_timer", 1000, 3000, -1}, {"nmi", "perf_event_nmi_handler", 3900, 4000, -1}});
}

TEST(KernelEvents, TwoNmisWhoseTimesAreTooCoarseToTellApartStayTwo) {
    expect(events_of({told("5000", "nmi_noise: start 12.000004200 duration 800 ns"),
                      told("5000", "nmi_noise: start 12.000004300 duration 700 ns")}),
           {{"nmi", "nmi", 4200, 5000, 800}, {"nmi", "nmi", 4300, 5000, 700}});
}

TEST(KernelEvents, AVectorThatOsnoiseNamesAnotherWayIsOneEvent) {
    expect(events_of({told("1000", "deferred_error_apic_entry: vector=244"),
                      told("2990", "irq_noise: deferred_error:244 start 1.000001000 duration 1900 ns"),
                      told("3000", "deferred_error_apic_exit: vector=244")}),
           {{"vector", "deferred_error_apic", 1000, 3000, 1900}});
}

TEST(KernelEvents, LinesThatAreCutShortAreNoNetLengths) {
    for (const char* const line :
         {"irq_noise:", "irq_noise: duration 5 ns", "irq_noise: local_timer start 1.0 duration",
          "odd_noise: a:1 start 1.0 duration 5 ns", "_noise: x", "nmi_noise: start 1.0"}) {
        EXPECT_TRUE(events_of({told("1000", line)}).empty()) << line;
    }
}

}  // namespace
}  // namespace idlewave::probe
