#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "trace/record.hpp"

namespace idlewave::trace {

/// A call, without what may differ each time the program makes it: its peer, tag, request and exact size. The start of
/// a persistent request has the communicator and the size of the request.
struct CallKind {
    Call call = Call::init;
    std::uint32_t communicator = 0;  ///< as CallSites numbers it; 0: none
    std::uint32_t size_class = 0;    ///< 0: no bytes; else the bits of the number of bytes

    bool operator==(const CallKind&) const = default;
};

/// Where in the program a call is. A trace has no addresses of code, so a site is what every trace has: the call, the
/// five calls before it in its thread, and the level of the last MPI_Pcontrol. Calls with the same of all these are one
/// site.
struct CallSite {
    std::array<CallKind, 6> calls{};      ///< the call, the one before it, and so on; init: there is none
    std::optional<std::int32_t> level{};  ///< of the last MPI_Pcontrol; none before the first

    bool operator==(const CallSite&) const = default;

    /// The same number for the same site in every trace, of 40 bits.
    [[nodiscard]] std::uint64_t id() const;
};

/// Finds the sites of the calls of one rank, in order.
class CallSites {
  public:
    /// Whether a record is a call that has a site; the others are waits, and what belongs to the call before.
    static bool has_site(Call call);

    /// The site of the next call that has one.
    const CallSite& next(const TraceRecord& r);

    /// The bytes that this call sends, or has room for if it only receives; 0 if it has none.
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  private:
    /// What the start of a persistent request starts.
    struct Persistent {
        std::uint32_t communicator = 0;  ///< its number
        std::int64_t bytes = 0;
    };

    [[nodiscard]] Persistent arguments_of(const TraceRecord& r) const;
    void note(const TraceRecord& r);
    [[nodiscard]] std::uint32_t number_of(std::uint64_t communicator) const;
    void define(std::uint64_t communicator);
    void free(std::uint64_t communicator);

    CallSite site_;
    std::vector<decltype(CallSite::calls)> last_calls_;  ///< by thread
    std::int64_t bytes_ = 0;
    std::optional<std::int32_t> level_;
    // A communicator has the lowest number that is free: a program that makes one again and again gives all the same.
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< by id
    std::set<std::uint32_t> free_numbers_;
    std::unordered_map<std::uint64_t, Persistent> persistent_;  ///< by request
};

}  // namespace idlewave::trace
