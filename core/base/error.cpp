#include "base/error.hpp"

#include <algorithm>

namespace idlewave {

Deadlock deadlock(std::vector<Waiting> waiting) {
    constexpr std::size_t shown = 8;
    std::string text = "deadlock: nothing can happen any more, and " + std::to_string(waiting.size()) +
                       (waiting.size() == 1 ? " thing is left" : " things are left");
    for (std::size_t i = 0; i < std::min(shown, waiting.size()); ++i) {
        text += "\n  rank " + std::to_string(waiting[i].rank) + ", " + waiting[i].op + ": " + waiting[i].why;
    }
    if (waiting.size() > shown) {
        text += "\n  … and " + std::to_string(waiting.size() - shown) + " more";
    }
    return {text, std::move(waiting)};
}

}  // namespace idlewave
