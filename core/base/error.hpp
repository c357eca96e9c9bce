#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.hpp"

namespace idlewave {

/// The input cannot be used. `what()` names the place (file, line, column, rank) and what was expected; it holds no
/// control characters, even where it quotes the input.
class InputError : public std::runtime_error {
  public:
    explicit InputError(std::string_view message) : std::runtime_error(printable(message)) {}
};

/// An op or a rank that still waits when no event is left.
struct Waiting {
    std::uint32_t rank = 0;
    std::string op;   ///< the op's label, or `op 17` where it has none
    std::string why;  ///< "waits for a message from rank 3 with tag 7, which nobody sends", …
};

/// A message that no op receives.
struct UnmatchedMessage {
    std::uint32_t sender = 0;
    std::string op;  ///< the send; empty if it is not known
    std::uint32_t receiver = 0;
    std::uint32_t tag = 0;  ///< 2^32 − 1 matches any tag
    std::uint64_t size = 0;
    std::string hint;  ///< a likely reason, such as a receive with another tag; may be empty
};

/// Why a simulation came to a standstill before all ops had ended.
enum class StandstillKind : std::uint8_t {
    deadlock,              ///< ops wait for each other in a cycle, or for an unknown reason
    unmatched_receive,     ///< no cycle: receives wait for messages that no op sends
    unmatched_rendezvous,  ///< no cycle: sends wait for receives that no op posts
    unmatched_send,        ///< every op has ended, and some messages have no receive
};

/// The ops and messages that are left when no event is left. Where they are very many, the first ones are listed, and
/// all are counted.
struct LeftOver {
    std::vector<Waiting> waiting;  ///< by rank
    std::uint64_t left = 0;        ///< number of waiting ops, listed or not
    std::vector<Waiting> cycle;    ///< each op waits for the next one, and the last for the first
    std::uint64_t cycle_length = 0;
    std::vector<UnmatchedMessage> messages;
};

/// A simulation cannot go on although ops or messages are left.
class Standstill : public std::runtime_error {
  public:
    Standstill(StandstillKind kind_, const std::string& message, LeftOver found)
        : std::runtime_error(message), kind(kind_), left_over(std::move(found)) {}

    StandstillKind kind;
    LeftOver left_over;
};

/// Communication between processes failed; `what()` is the message of the layer below.
class TransportError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A caller broke the contract of the library. Wrong input never causes it.
class LogicError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

}  // namespace idlewave
