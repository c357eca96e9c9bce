// The setting of the whole machine that the osnoise tracer runs without threads: who may change it, and who puts it
// back. In a folder made like the kernel's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/files.hpp"
#include "noise/osnoise.hpp"
#include "noise/tracefs.hpp"

namespace idlewave::probe {
namespace {

constexpr const char* by_default = "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE";
constexpr const char* without_threads = "NO_DEFAULTS NO_OSNOISE_WORKLOAD NO_PANIC_ON_STOP";

class OsnoiseSettingTest : public testing::Test {
  protected:
    OsnoiseSettingTest() {
        std::string name = testing::TempDir() + "tracefs-XXXXXX";
        tracefs_ = mkdtemp(name.data());
        make_folder(tracefs_ / "osnoise");
        make_folder(tracefs_ / "instances");
        write_text(tracefs_ / "current_tracer", "nop");
        write_text(options(), by_default);
    }
    ~OsnoiseSettingTest() override { std::filesystem::remove_all(tracefs_); }

    std::filesystem::path options() const { return tracefs_ / "osnoise/options"; }
    std::string text() const { return read_line(options()).value_or(""); }
    void instance(const std::string& name, const std::string& tracer) const {
        make_folder(tracefs_ / "instances" / name);
        write_text(tracefs_ / "instances" / name / "current_tracer", tracer);
    }
    OsnoiseSetting setting() const { return OsnoiseSetting(tracefs_); }

    std::filesystem::path tracefs_;
};

const std::string of_a_probe = std::string("idlewave-1") + OsnoiseSetting::duty;  // of a process that lives

TEST_F(OsnoiseSettingTest, ThreadsAreTurnedOffByWhoFindsThemOnAndThatIsPutBack) {
    EXPECT_TRUE(setting().usable());
    EXPECT_TRUE(setting().ours());
    EXPECT_EQ(setting().turn_threads_off(), "");
    EXPECT_TRUE(setting().threads_are_off());
    setting().put_back("");
    EXPECT_EQ(text(), "OSNOISE_WORKLOAD");
}

// Its tracer has events that only a kernel makes, so it cannot be used here; but it has a begin and an end.
TEST_F(OsnoiseSettingTest, ItIsPutBackWhenAnInstanceEndsEvenWhereThatCannotBeRemoved) {
    {
        const TraceInstance instance(tracefs_, 1, {});
        EXPECT_EQ(instance.why_no_osnoise(), "");
        EXPECT_EQ(text(), "NO_OSNOISE_WORKLOAD");
    }
    EXPECT_EQ(text(), "OSNOISE_WORKLOAD");
}

TEST_F(OsnoiseSettingTest, ThatTheThreadsWereSwitchedOnMeanwhileIsSaid) {
    const TraceInstance instance(tracefs_, 1, {});
    write_text(options(), by_default);
    EXPECT_EQ(instance.why_no_osnoise(), "osnoise's own threads were switched on meanwhile");
}

TEST_F(OsnoiseSettingTest, WhoeverUsesTheTracerByNowKeepsTheSettingAsItIs) {
    for (const char* const tracer : {"osnoise", "timerlat"}) {
        write_text(options(), without_threads);
        instance("mine", tracer);
        setting().put_back("");
        EXPECT_EQ(text(), without_threads);
    }
}

TEST_F(OsnoiseSettingTest, WhatTheAdministratorTurnedOffIsUsedAndNotOurs) {
    write_text(options(), without_threads);
    EXPECT_TRUE(setting().usable());
    EXPECT_FALSE(setting().ours());
}

// Even before it has its tracer: it has turned the threads off, and may end first.
TEST_F(OsnoiseSettingTest, ThatAnotherProbeTurnedThemOffIsADutyOfAll) {
    write_text(options(), without_threads);
    instance(of_a_probe, "nop");
    EXPECT_TRUE(setting().ours());
    setting().put_back("");
    EXPECT_EQ(text(), without_threads);
    setting().put_back(of_a_probe);
    EXPECT_EQ(text(), "OSNOISE_WORKLOAD");
}

TEST_F(OsnoiseSettingTest, WhoeverMeasuresByItsThreadsIsNotDisturbed) {
    write_text(tracefs_ / "current_tracer", "osnoise");
    EXPECT_FALSE(setting().usable());
    EXPECT_FALSE(setting().ours());
    EXPECT_EQ(setting().why_not(), "osnoise is already in use");
}

TEST_F(OsnoiseSettingTest, NorIsTimerlatInAnInstance) {
    instance("mine", "timerlat");
    EXPECT_EQ(setting().why_not(), "timerlat is already in use");
}

TEST_F(OsnoiseSettingTest, WithoutThreadsTwoMayTraceAtOnce) {
    write_text(options(), without_threads);
    instance("mine", "osnoise");
    EXPECT_TRUE(setting().usable());
}

TEST_F(OsnoiseSettingTest, AKernelThatCannotDoWithoutThreadsOrHasNoSuchTracerIsSaid) {
    std::filesystem::remove(options());  // as before Linux 6.2
    EXPECT_NE(setting().why_not().find("no option"), std::string::npos);
    std::filesystem::remove_all(tracefs_ / "osnoise");
    EXPECT_NE(setting().why_not().find("no osnoise tracer"), std::string::npos);
}

}  // namespace
}  // namespace idlewave::probe
