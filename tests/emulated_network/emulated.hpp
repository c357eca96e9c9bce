// A network that follows the simulator's rules exactly, in one process and in no time: truth for what is estimated.
//
// Both sides are the assessment's own client and server. The server is a coroutine; whenever the client would wait, the
// server runs as far as it can, and then what is to happen next in the network does.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "emulated_network.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

struct Imperfection {
    double scatter = 0;  // of a duration, a part of itself
    double hits = 0;     // probability that it has a detour of 20 us on average in it
    unsigned long seed = 1;
};

class EmulatedPair {
  public:
    EmulatedPair(NetworkModel model, const Imperfection& imperfection)
        : network(std::move(model)), imperfection_(imperfection), random_(imperfection.seed) {}
    EmulatedPair(const EmulatedPair&) = delete;
    EmulatedPair& operator=(const EmulatedPair&) = delete;

    EmulatedNetwork network;
    struct Letter {
        Picoseconds sent = 0;
        std::vector<char> bytes;
    };
    std::array<std::deque<Letter>, 2> mail;  // to that rank

    void start_server(std::function<void()> program) {
        program_ = std::move(program);
        stack_.resize(stack_bytes);
        getcontext(&server_);
        server_.uc_stack.ss_sp = stack_.data();
        server_.uc_stack.ss_size = stack_.size();
        server_.uc_link = &client_;
        // A coroutine's entry takes ints only: the address travels in two halves.
        const auto address = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&server_, reinterpret_cast<void (*)()>(&EmulatedPair::enter), 2,
                    static_cast<unsigned int>(address >> 32U), static_cast<unsigned int>(address));
        alive_ = true;
        awaits_ = nullptr;
    }

    // Until `done`, on the side of `rank`.
    void await(int rank, const std::function<bool()>& done) {
        if (rank == 1) {
            if (done()) return;
            awaits_ = &done;
            swapcontext(&server_, &client_);
            return;
        }
        while (!done()) {
            if (alive_ && (awaits_ == nullptr || (*awaits_)())) {
                awaits_ = nullptr;
                swapcontext(&client_, &server_);
                if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
            } else if (!network.step()) {
                throw failed("the emulated sides wait for each other");
            }
        }
    }

    double observed(double ns) {
        std::normal_distribution<double> gauss;
        std::uniform_real_distribution<double> uniform;
        std::exponential_distribution<double> detour(1 / 20'000.0);
        double result = ns;
        if (imperfection_.scatter > 0) result *= 1 + imperfection_.scatter * gauss(random_);
        if (imperfection_.hits > 0 && uniform(random_) < imperfection_.hits) result += detour(random_);
        return result;
    }

  private:
    static constexpr std::size_t stack_bytes = 512 * 1024;

    static void enter(unsigned int high, unsigned int low) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        auto* self = reinterpret_cast<EmulatedPair*>((static_cast<std::uintptr_t>(high) << 32U) | low);
        try {
            self->program_();
        } catch (...) {
            self->failure_ = std::current_exception();
        }
        self->alive_ = false;
    }

    Imperfection imperfection_;
    std::mt19937_64 random_;
    std::function<void()> program_;
    std::vector<char> stack_;
    ucontext_t client_{};
    ucontext_t server_{};
    bool alive_ = false;
    const std::function<bool()>* awaits_ = nullptr;  // null: it can go on
    std::exception_ptr failure_;
};

class EmulatedClock {
  public:
    static constexpr double tick_ns = 0.001;
    static constexpr double read_cost = 0;
    static constexpr double wait_cost = 0;

    EmulatedClock(EmulatedPair& pair, int rank) : pair_(pair), rank_(rank) {}

    Ticks now() const { return static_cast<Ticks>(pair_.network.now(rank_)); }

    Ticks compute(Ticks length) {
        pair_.network.begin_compute(rank_, static_cast<Picoseconds>(length));
        pair_.await(rank_, [this] { return pair_.network.ended(rank_); });
        return length;
    }

    void settle() { pair_.network.no_sooner_than(rank_, pair_.network.idle_from()); }
    std::int64_t involuntary() const { return 0; }
    double observed(double ns) { return pair_.observed(ns); }
    std::string source() const { return "virtual"; }

  private:
    EmulatedPair& pair_;
    int rank_;
};

// It takes no time.
class EmulatedControl {
  public:
    EmulatedControl(EmulatedPair& pair, int rank) : pair_(pair), rank_(rank) {}

    void send(const void* from, std::size_t bytes) {
        const auto* begin = static_cast<const char*>(from);
        pair_.mail[1 - rank_].push_back({pair_.network.now(rank_), {begin, begin + bytes}});
    }

    void receive(void* to, std::size_t bytes) {
        auto& box = pair_.mail[rank_];
        pair_.await(rank_, [&box] { return !box.empty(); });
        const EmulatedPair::Letter& letter = box.front();
        if (letter.bytes.size() != bytes) throw failed("a control message has another length than expected");
        std::memcpy(to, letter.bytes.data(), bytes);
        pair_.network.no_sooner_than(rank_, letter.sent);
        box.pop_front();
    }

  private:
    EmulatedPair& pair_;
    int rank_;
};

class EmulatedData {
  public:
    static constexpr Traits traits = {.name = "emulated", .rendezvous = true};

    EmulatedData(EmulatedPair& pair, int rank) : pair_(pair), rank_(rank) {}

    void start(std::uint32_t /*sample*/) {
        if (rank_ == 0) pair_.network.forget();
    }
    void refresh(int /*size*/, int /*messages*/) {}

    void send(int size, int /*message*/) {
        pair_.network.begin_send(rank_, size);
        pair_.await(rank_, [this] { return pair_.network.ended(rank_); });
    }
    void flush() {}

    bool receive(int size, int messages) { return receive_each(*this, size, messages); }
    void post(int /*size*/) { pair_.network.post(rank_); }
    bool wait(int /*size*/) {
        pair_.network.begin_wait(rank_);
        pair_.await(rank_, [this] { return pair_.network.ended(rank_); });
        return true;
    }

    int limit() const { return 1 << 30; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    EmulatedPair& pair_;
    int rank_;
};

}  // namespace idlewave::probe::network
