#pragma once

#include <cstdint>

#include "pdes/timed_choice.hpp"

namespace idlewave::pdes {

/// Who executes a window: all threads, each its own LPs, or one thread the LPs of all, while the others sleep.
enum class WindowThreads : std::uint8_t { all, one };

/// Chooses whether all threads execute the next windows or one. Threads wait for each other once a window. Where
/// windows have few events, or where another program uses a thread's core, that takes longer than a further thread
/// saves.
using ThreadChoice = TimedChoice<WindowThreads>;

}  // namespace idlewave::pdes
