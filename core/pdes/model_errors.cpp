#include "pdes/model_errors.hpp"

#include <string>

#include "base/error.hpp"

namespace idlewave::pdes {

void throw_invalid_send(std::uint32_t lp, std::uint32_t destination, Time time, std::string_view unit,
                        std::uint32_t lps, const char* why) {
    const std::string what = "LP " + std::to_string(lp) + " sends an event to LP " + std::to_string(destination) +
                             " at " + std::to_string(time) + " " + std::string(unit) + ": ";
    if (destination >= lps) {
        throw LogicError(what + "there are LPs below " + std::to_string(lps));
    }
    throw LogicError(what + why);
}

void throw_too_many_events(std::uint32_t lp) {
    throw InputError("LP " + std::to_string(lp) + " sends more than 2^32 events");
}

void throw_needs_lookahead() {
    throw InputError("the model needs a lookahead, and has none");
}

}  // namespace idlewave::pdes
