#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"

namespace idlewave::trace {

/// The extra CPU time of messages after a computation, because the computation has driven the library and the buffers
/// out of the caches (docs/model.md, R21). Without a call and buffers there is none.
struct ColdCaches {
    /// The extra time, in ps, of the first call after a computation of `after` ns.
    struct CallTime {
        std::int64_t after = 0;
        Time time = 0;
    };

    /// The extra time, in ps, that the two ends of a message of `size` bytes have together.
    struct BufferTime {
        std::uint64_t size = 0;
        Time time = 0;
    };

    std::vector<CallTime> calls;      ///< by ascending length above 0; no time is less than the one before
    std::int64_t buffer_after = 1;    ///< computation, in ns, after which buffers have all of their time; at least 1
    std::vector<BufferTime> buffers;  ///< by ascending size; no time is less than the one before

    /// The extra time, in ps, of a call after a computation of `computed` ns: on the line between its neighbours in
    /// `calls`, which begins with nothing after none; beyond all of them that of the last.
    [[nodiscard]] Time call_time(std::int64_t computed) const;

    /// The extra time for `size` bytes, in ps: on the line between its neighbours in `buffers`; outside all of them
    /// that of the nearest.
    [[nodiscard]] Time buffer_time(std::uint64_t size) const;
};

/// How long a rank has computed since it last used the library, and each of its buffers.
class CacheUse {
  public:
    enum class Kind : std::uint8_t { sent, received, collective };

    /// The identity of a buffer, by its messages, since a trace does not have its address: messages of one kind with
    /// one peer, tag and communicator, or the calls of one collective on one communicator.
    struct Buffer {
        Kind kind = Kind::sent;
        std::uint32_t peer = 0;  ///< or the communicator
        std::uint32_t tag = 0;   ///< or the collective operation

        bool operator==(const Buffer&) const = default;
    };

    explicit CacheUse(const ColdCaches& costs) : costs_(costs) {}

    void compute(std::int64_t ns) { computed_ += ns; }

    /// The extra time, in ns, of a call that begins a message or a collective now.
    std::int64_t call();

    /// The extra time, in ns, of messages of these sizes from or into the buffer now; of each this rank has one end.
    /// One of no bytes takes none.
    std::int64_t use(const Buffer& buffer, std::initializer_list<std::uint64_t> sizes);

  private:
    struct Hash {
        std::size_t operator()(const Buffer& buffer) const;
    };

    const ColdCaches& costs_;
    std::int64_t computed_ = 0;                              ///< ns
    std::int64_t at_call_ = 0;                               ///< `computed_` at the last call
    std::unordered_map<Buffer, std::int64_t, Hash> at_use_;  ///< and at the last use of each buffer
};

/// The extra time, in ns, of a call that sends and receives a message of `size` bytes after a computation of `computed`
/// ns.
std::int64_t exchange_time(const ColdCaches& costs, std::int64_t computed, std::uint64_t size);

}  // namespace idlewave::trace
