#include "pdes/thread_team.hpp"

#include <atomic>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/pinned.hpp"
#include "pdes/first_error.hpp"

namespace idlewave::pdes {
namespace {

/// Holds threads back until all of them were started, or one could not be.
class StartingGate {
  public:
    void open(bool go) {
        state_.store(go ? State::go : State::abort, std::memory_order_release);
        state_.notify_all();
    }
    /// Returns whether to go on.
    [[nodiscard]] bool wait() const {
        state_.wait(State::closed, std::memory_order_acquire);
        return state_.load(std::memory_order_acquire) == State::go;
    }

  private:
    enum class State : std::uint8_t { closed, go, abort };
    std::atomic<State> state_{State::closed};
};

/// The C++ library allocates a thread's part of exception handling at its first use. When memory has run out that ends
/// the process, so each thread asks for it at its beginning.
void be_ready_for_exceptions() {
    (void)std::uncaught_exceptions();
}

}  // namespace

void ThreadTeam::run(const Work& work, const Work& abort) const {
    be_ready_for_exceptions();
    FirstError error;
    StartingGate gate;
    const auto guarded = [&](std::uint32_t thread) {
        std::optional<Pinned> pinned;
        if (pin_) {
            pinned.emplace(first_ + thread);
        }
        try {
            work(thread);
        } catch (...) {
            error.record(std::current_exception());
            abort(thread);
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::uint32_t thread = 1; thread < threads_; ++thread) {
            others.emplace_back([thread, &gate, &guarded] {
                be_ready_for_exceptions();
                if (gate.wait()) {
                    guarded(thread);
                }
            });
        }
        gate.open(true);
        guarded(0);
    } catch (const std::system_error& failure) {
        gate.open(false);
        error.record(std::make_exception_ptr(InputError("only " + std::to_string(others.size() + 1) + " of " +
                                                        std::to_string(threads_) +
                                                        " threads could be started: " + failure.what())));
    } catch (const std::bad_alloc&) {
        gate.open(false);
        error.record(std::current_exception());
    }
    for (std::thread& other : others) {
        other.join();
    }
    error.rethrow();
}

}  // namespace idlewave::pdes
