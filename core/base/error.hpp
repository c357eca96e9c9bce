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

/// One thing that waits when nothing can happen any more.
struct Waiting {
    std::uint32_t rank;
    std::string op;   ///< its label, or `op 17` where it has none
    std::string why;  ///< "waits for a message from rank 3 with tag 7", …
};

/// The simulation cannot go on: ops are left, or messages that nobody receives.
class Deadlock : public std::runtime_error {
  public:
    Deadlock(const std::string& message, std::vector<Waiting> who)
        : std::runtime_error(message), waiting(std::move(who)) {}

    std::vector<Waiting> waiting;
};

/// The Deadlock that `waiting` amounts to; its message shows the first few.
Deadlock deadlock(std::vector<Waiting> waiting);

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
