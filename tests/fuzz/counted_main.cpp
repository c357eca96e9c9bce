// Executes a fuzz target a given number of times, where there is no libFuzzer: on inputs that are mutated from files,
// and from inputs that reached new code. The sources of the core are compiled with -fsanitize-coverage=trace-pc.
//
//   fuzz_NAME --executions N [--seed S] [--found FOLDER] [--seconds 10] [--mib 2048] FILE...
//
// Prints how many there were of which outcome, and every 10 seconds to stderr how many there were so far. If the target
// dies, takes more than `seconds` of the processor for one input, or its process more than `mib` of memory, the input
// is written to FOLDER, and the exit status is 1.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mutation.hpp"
#include "outcome.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace idlewave::testing;

constexpr std::size_t largest = 1 << 14;

/// Which edges of the code were reached, by a hash of both ends. A plain array: nothing is called to index it.
struct Edges {
    static constexpr std::size_t hashes = std::size_t{1} << 18;
    std::uint8_t reached[hashes]{};  // NOLINT(modernize-avoid-c-arrays)
    std::uintptr_t before = 0;
    bool grew = false;
};
Edges edges;  // the compiler's calls have no other way to it

/// What the process that executes the target shares with the one that watches it.
struct Shared {
    std::atomic<std::uint64_t> executions = 0;
    std::atomic<std::uint64_t> size = 0;
    std::array<char, largest> input{};
};

struct Options {
    std::uint64_t executions = 1'000'000;
    std::uint64_t seed = 1;
    double seconds = 10;
    std::uint64_t mib = 2048;
    std::string found = ".";
    std::vector<std::string> files;
};

Options options_of(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const bool named = word.starts_with("--") && i + 1 < count;
        if (!named) {
            options.files.emplace_back(word);
        } else if (word == "--executions") {
            options.executions = std::strtoull(words[++i], nullptr, 10);
        } else if (word == "--seed") {
            options.seed = std::strtoull(words[++i], nullptr, 10);
        } else if (word == "--seconds") {
            options.seconds = std::strtod(words[++i], nullptr);
        } else if (word == "--mib") {
            options.mib = std::strtoull(words[++i], nullptr, 10);
        } else if (word == "--found") {
            options.found = words[++i];
        } else {
            std::fprintf(stderr, "no option is called %s\n", words[i]);
            std::exit(2);
        }
    }
    return options;
}

void execute(Shared& shared, const std::string& input) {
    std::copy(input.begin(), input.end(), shared.input.begin());
    shared.size = input.size();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++shared.executions;
}

/// The files as they are first, then what is made of them.
void execute_all(const Options& options, Shared& shared) {
    std::vector<std::string> inputs;
    for (const std::string& name : options.files) {
        std::ifstream file(name, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        inputs.back().resize(std::min(inputs.back().size(), largest));
        execute(shared, inputs.back());
    }
    inputs.emplace_back();
    Mutation mutation(options.seed, largest);
    while (shared.executions < options.executions) {
        const std::size_t newest = std::min<std::size_t>(inputs.size(), 64);
        const std::size_t chosen =
            mutation.below(2) == 0 ? mutation.below(inputs.size()) : inputs.size() - 1 - mutation.below(newest);
        std::string input = inputs[chosen];
        mutation.damage(input, inputs[mutation.below(inputs.size())]);
        edges.grew = false;
        execute(shared, input);
        if (edges.grew) {
            inputs.push_back(std::move(input));
        }
    }
    std::printf("%llu executions, %zu inputs that reached new code:",
                static_cast<unsigned long long>(shared.executions.load()), inputs.size() - options.files.size() - 1);
    for (std::size_t i = 0; i < outcome_names.size(); ++i) {
        std::printf(" %llu %s;", static_cast<unsigned long long>(outcomes()[i]), outcome_names[i].data());
    }
    std::printf(" seed %llu\n", static_cast<unsigned long long>(options.seed));
    std::fflush(stdout);
}

std::uint64_t resident_mib(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

/// The processor time of a process: a machine that is busy with other things does not make a reader slow.
double processor_seconds(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Says every 10 seconds how far the executions are.
class Progress {
  public:
    explicit Progress(const Options& options) : options_(options) {}

    void show(std::uint64_t executions) {
        const Clock::time_point now = Clock::now();
        if (now - last_ < std::chrono::seconds(10)) {
            return;
        }
        last_ = now;
        const double seconds = std::chrono::duration<double>(now - began_).count();
        std::fprintf(stderr, "%s: %llu of %llu executions, %.0f a second\n", program_invocation_short_name,
                     static_cast<unsigned long long>(executions), static_cast<unsigned long long>(options_.executions),
                     static_cast<double>(executions) / seconds);
    }

  private:
    using Clock = std::chrono::steady_clock;
    const Options& options_;
    Clock::time_point began_ = Clock::now();
    Clock::time_point last_ = began_;
};

/// Waits until the process has ended, or ends it. Returns what is wrong; empty if nothing is.
std::string watch(pid_t process, const Options& options, const Shared& shared) {
    std::uint64_t last = 0;
    double since = 0;
    Progress progress(options);
    for (;;) {
        int status = 0;
        if (waitpid(process, &status, WNOHANG) == process) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "the reader's process died";
        }
        std::string wrong;
        const double used = processor_seconds(process);
        progress.show(shared.executions);
        if (shared.executions != last) {
            last = shared.executions;
            since = used;
        } else if (used - since > options.seconds) {
            wrong = "more than " + std::to_string(options.seconds) + " s of the processor";
        }
        if (resident_mib(process) > options.mib) {
            wrong = "more than " + std::to_string(options.mib) + " MiB";
        }
        if (!wrong.empty()) {
            kill(process, SIGKILL);
            waitpid(process, &status, 0);
            return wrong;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace

/// It is called at every edge, and therefore not checked itself.
extern "C" __attribute__((no_sanitize("address"), no_sanitize("undefined"))) void __sanitizer_cov_trace_pc() {
    const std::uintptr_t here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) * 0x9e3779b97f4a7c15;
    std::uint8_t& reached = edges.reached[(here ^ edges.before) >> 20 & (Edges::hashes - 1)];
    edges.before = here >> 1;
    if (reached == 0) {
        reached = 1;
        edges.grew = true;
    }
}

/// One allocation of many times the largest input is a finding.
extern "C" const char* __asan_default_options() {
    return "max_allocation_size_mb=512:allocator_may_return_null=0:quarantine_size_mb=1:malloc_context_size=1:"
           "allocator_release_to_os_interval_ms=-1:detect_leaks=0";
}

int main(int count, char** words) {
    const Options options = options_of(count, words);
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("mmap");
        return 1;
    }
    Shared& shared = *new (memory) Shared;
    const pid_t process = fork();
    if (process == 0) {
        execute_all(options, shared);
        std::_Exit(0);
    }
    const std::string wrong = watch(process, options, shared);
    if (wrong.empty()) {
        return 0;
    }
    const std::string name =
        options.found + "-" + std::to_string(options.seed) + "-" + std::to_string(shared.executions);
    std::ofstream(name, std::ios::binary).write(shared.input.data(), static_cast<std::streamsize>(shared.size));
    std::printf("execution %llu: %s; the input is %s\n", static_cast<unsigned long long>(shared.executions.load()),
                wrong.c_str(), name.c_str());
    return 1;
}
