#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"

namespace idlewave::trace {

/// What messages take longer after a computation, which drives the library and the buffers out of the caches
/// (docs/model.md, R21). Without call and buffers: nothing.
struct ColdCaches {
    /// The time, in ps, by which the two ends of a message of `size` bytes take longer, together.
    struct Buffer {
        std::uint64_t size = 0;
        Time time = 0;
    };

    Time call = 0;                  ///< ps, of the first call
    std::int64_t call_after = 1;    ///< ns of computation, from which on a call takes all of that; 1 at least
    std::int64_t buffer_after = 1;  ///< the same of buffers
    std::vector<Buffer> buffers;    ///< by ascending size

    [[nodiscard]] bool cost_nothing() const { return call == 0 && buffers.empty(); }

    /// The time for `size` bytes: on the line between its neighbours in `buffers`; below all of them that of the first,
    /// beyond them on the line through the last two. Throws TimeOverflow.
    [[nodiscard]] Time buffer_time(std::uint64_t size) const;
};

/// What a call that sends and receives a message of `size` bytes takes longer after a computation of `computed` ns; ns.
std::int64_t exchange_time(const ColdCaches& costs, std::int64_t computed, std::uint64_t size);

/// How long a rank has computed since it last used the library and each of its buffers: by that, its next message takes
/// longer. A buffer is known by what is sent from it, or received into it: a trace does not have its address.
class CacheUse {
  public:
    enum class Kind : std::uint8_t { sent, received, collective };

    /// Names a buffer: messages of one kind, with one peer and tag, or the calls of one collective on one communicator.
    struct Buffer {
        Kind kind = Kind::sent;
        std::uint32_t peer = 0;  ///< or the communicator
        std::uint32_t tag = 0;   ///< or the operation

        bool operator==(const Buffer&) const = default;
    };

    explicit CacheUse(const ColdCaches& costs) : costs_(costs) {}

    void compute(std::int64_t ns) { computed_ += ns; }

    /// A call that sends or receives `size` bytes, or does so with as many bytes several times (`ends`). Returns the
    /// time, in ns, by which it takes longer.
    std::int64_t use(const Buffer& buffer, std::uint64_t size, std::uint64_t ends);

  private:
    struct Hash {
        std::size_t operator()(const Buffer& buffer) const;
    };

    const ColdCaches& costs_;
    std::int64_t computed_ = 0;                              ///< ns
    std::int64_t at_call_ = 0;                               ///< `computed_` at the last call
    std::unordered_map<Buffer, std::int64_t, Hash> at_use_;  ///< and at the last use of a buffer
};

}  // namespace idlewave::trace
