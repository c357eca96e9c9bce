#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.hpp"

namespace idlewave {

/// What was given cannot be used. `what()` names the place (file, line, column, rank) and what was expected; it is
/// printable, wherever its words come from.
class InputError : public std::runtime_error {
  public:
    explicit InputError(std::string_view message) : std::runtime_error(printable(message)) {}
};

/// One thing that is left when nothing can happen any more.
struct Waiting {
    std::uint32_t rank = 0;
    std::string op;   ///< its label, or `op 17` where it has none
    std::string why;  ///< "waits for a message from rank 3 with tag 7, which nobody sends", …
};

/// A message that no op receives.
struct UnmatchedMessage {
    std::uint32_t sender = 0;
    std::string op;  ///< the send, if it is known which one it is; else empty
    std::uint32_t receiver = 0;
    std::uint32_t tag = 0;  ///< may be 2^32 − 1: it agrees with any
    std::uint64_t size = 0;
    std::string hint;  ///< what to look at: the receive that it misses, …; may be empty
};

/// Why a simulation came to a standstill before all was done.
enum class StandstillKind : std::uint8_t {
    deadlock,              ///< ops wait for each other in a cycle; or it is not known why they wait
    unmatched_receive,     ///< no cycle: ops wait for messages that nobody sends
    unmatched_rendezvous,  ///< no cycle: sends wait for receives that no op is
    unmatched_send,        ///< every op has ended, and messages are left that no op receives
};

/// What is left when nothing can happen any more. Of very many things the first ones are named, and all are counted.
struct LeftOver {
    std::vector<Waiting> waiting;  ///< by rank
    std::uint64_t left = 0;        ///< how many things are left
    std::vector<Waiting> cycle;    ///< ops each of which waits for the next one, and the last one for the first
    std::uint64_t cycle_length = 0;
    std::vector<UnmatchedMessage> messages;
};

/// A simulation cannot go on, and something is left: ops, or messages that nobody receives.
class Standstill : public std::runtime_error {
  public:
    Standstill(StandstillKind kind_, const std::string& message, LeftOver found)
        : std::runtime_error(message), kind(kind_), left_over(std::move(found)) {}

    StandstillKind kind;
    LeftOver left_over;
};

/// Processes could not tell each other things; `what()` is what the layer below says.
class TransportError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A caller broke the contract of the library; never the answer to wrong input.
class LogicError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

}  // namespace idlewave
