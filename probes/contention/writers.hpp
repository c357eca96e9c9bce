// Threads that write into memory at a rate: what a NIC's writes into the memory of a node are emulated by.
#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "common/cpus.hpp"
#include "common/page.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "contention/lines.hpp"
#include "contention/token_bucket.hpp"
#include "contention/traffic.hpp"

namespace idlewave::probe::contention {

class Writers {
  public:
    // `sleeps`: between chunks the writers sleep, because they share the victim's core; else they look at the clock.
    Writers(const TrafficOptions& options, bool sleeps) : options_(options), sleeps_(sleeps) {
        if (options.stores == Stores::nontemporal && !has_nontemporal_stores()) {
            throw failed("--stores: this processor has no nontemporal stores that this program knows");
        }
    }
    Writers(const Writers&) = delete;
    Writers& operator=(const Writers&) = delete;
    ~Writers() { stop(); }

    void start() {
        if (options_.rate == 0) return;
        std::latch ready(static_cast<std::ptrdiff_t>(options_.cpus.size()));
        {
            const SignalsElsewhere blocked;
            for (const int cpu : options_.cpus) {
                members_.push_back(std::make_unique<Member>());
                Member& member = *members_.back();
                member.number = members_.size();
                member.thread = std::thread([this, &member, &ready, cpu] { run(member, cpu, ready); });
            }
        }
        ready.wait();
        check();
    }

    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (const std::unique_ptr<Member>& member : members_) sum += member->written.load(std::memory_order_relaxed);
        return sum;
    }

    void check() const {
        for (const std::unique_ptr<Member>& member : members_) {
            if (member->failed.load()) std::rethrow_exception(member->error);
        }
    }

    void stop() {
        stopped_.store(true);
        for (const std::unique_ptr<Member>& member : members_) {
            if (member->thread.joinable()) member->thread.join();
        }
    }

  private:
    // The count is alone in its cache line, which the victim reads once an iteration.
    struct Member {
        alignas(64) std::atomic<std::uint64_t> written{0};
        alignas(64) std::atomic<bool> failed{false};
        std::exception_ptr error = nullptr;
        std::size_t number = 0;
        std::thread thread;
    };

    void run(Member& member, int cpu, std::latch& ready) {
        PageMemory buffer;
        try {
            pin(cpu);
            pthread_setname_np(pthread_self(), "idlewave-writer");
            buffer = new_pages(options_.buffer);
        } catch (...) {
            member.error = std::current_exception();
            member.failed.store(true);
        }
        ready.count_down();
        if (buffer) write(member, buffer.get());
    }

    void write(Member& member, char* buffer) {
        const double rate = options_.rate / static_cast<double>(options_.cpus.size());
        const std::size_t chunk = sleeps_ ? chunk_of(rate, 1e-3, 4 << 20) : chunk_of(rate, 2e-5, 64 << 10);
        LineOrder order(options_.pattern, options_.buffer, options_.seed + member.number);
        const double depth = std::max(rate * bucket_seconds, 2.0 * static_cast<double>(chunk));
        TokenBucket bucket(rate, depth, nanoseconds(CLOCK_MONOTONIC));
        std::uint64_t written = 0;
        while (!stopped_.load(std::memory_order_relaxed)) {
            if (!bucket.has(static_cast<double>(chunk), nanoseconds(CLOCK_MONOTONIC))) {
                if (sleeps_) sleep_until(bucket.time_of(static_cast<double>(chunk)));
                continue;
            }
            write_lines(buffer, chunk, order, options_.stores, written);
            bucket.take(static_cast<double>(chunk));
            written += chunk;
            member.written.store(written, std::memory_order_relaxed);
        }
    }

    static void sleep_until(std::int64_t time_ns) {
        constexpr std::int64_t second = 1'000'000'000;
        const timespec time{time_ns / second, time_ns % second};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
    }

    TrafficOptions options_;
    bool sleeps_;
    std::atomic<bool> stopped_{false};
    std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace idlewave::probe::contention
