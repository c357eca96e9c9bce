#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "base/time.hpp"
#include "pdes/first_error.hpp"

namespace idlewave::pdes {

/// The functions of the caller of a run, called a few times a second on the caller's thread alone, since they may call
/// a Python interpreter.
class Caller {
  public:
    using Poll = std::function<void(Time)>;
    using WantsPause = std::function<bool()>;

    /// What the caller throws replaces any other exception in `error`: it is an interrupt, which must not be lost.
    explicit Caller(FirstError& error) : error_(error) {}

    /// The functions of the present run; either may be empty.
    void begin(const Poll& poll, const WantsPause& wants_pause) {
        poll_ = &poll;
        ask_pause_ = &wants_pause;
    }

    /// After the execution of `events`, the last of them at about `now`.
    void count_events(std::uint64_t events, Time now) {
        events_ += events;
        if (events_ >= interval) {
            call(now);
        }
    }
    /// After window number `number`: calls them after many windows with few events, too.
    void count_window(std::uint64_t number, Time now) {
        if (number % windows == 0) {
            call(now);
        }
    }

    [[nodiscard]] bool wants_pause() const { return wants_pause_; }

  private:
    static constexpr std::uint64_t interval = 1 << 14;  ///< events
    static constexpr std::uint64_t windows = 1 << 6;

    [[gnu::noinline]] void call(Time now) {
        events_ = 0;
        try {
            if (*poll_) {
                (*poll_)(now);
            }
            wants_pause_ = *ask_pause_ && (*ask_pause_)();
        } catch (...) {
            error_.prefer(std::current_exception());
            throw;
        }
    }

    FirstError& error_;
    const Poll* poll_ = nullptr;
    const WantsPause* ask_pause_ = nullptr;
    std::uint64_t events_ = 0;  ///< since the last call
    bool wants_pause_ = false;
};

}  // namespace idlewave::pdes
