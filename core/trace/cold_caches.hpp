#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"

namespace idlewave::trace {

/// The extra CPU time of messages after a computation, because the computation has driven the library and the buffers
/// out of the caches (docs/model.md, R21). If both tables are empty, there is none.
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

    /// The extra time, in ps, of a call after a computation of `computed` ns: linear between the rows of `calls`, from
    /// 0 after none to the first, and constant beyond the last.
    [[nodiscard]] Time call_time(std::int64_t computed) const;

    /// The extra time for `size` bytes, in ps: linear between the rows of `buffers`, that of the first one for fewer
    /// bytes, and for more on the line through the last two. A single row holds for all sizes.
    [[nodiscard]] Time buffer_time(std::uint64_t size) const;
};

/// How long a rank has computed since it last used the library, and each of its buffers.
class CacheUse {
  public:
    enum class Kind : std::uint8_t { sent, received, collective };

    /// The identity of a buffer, by its messages, since a trace does not have its address: messages of one kind with
    /// one peer, tag and communicator, or the calls of one collective function on one communicator, with sizes between
    /// the same powers of two. A program that exchanges counts and then data with the same tag uses two buffers.
    struct Buffer {
        Kind kind = Kind::sent;
        std::uint32_t peer = 0;  ///< or the communicator
        std::uint32_t tag = 0;   ///< or the collective function

        bool operator==(const Buffer&) const = default;
    };

    explicit CacheUse(const ColdCaches& costs) : costs_(costs) {}

    void compute(std::int64_t ns) { computed_ += ns; }

    /// Records that a call begins a message or a collective now. Returns its extra time, in ns.
    std::int64_t call();

    /// Records that messages of these sizes use the buffer now, each with one end at this rank. Returns their extra
    /// time, in ns. A message of no bytes uses no buffer.
    std::int64_t use(const Buffer& buffer, std::initializer_list<std::uint64_t> sizes);

  private:
    struct SizedBuffer {
        Buffer buffer;
        std::uint8_t size_bits = 0;  ///< of the larger size, if two are used together

        bool operator==(const SizedBuffer&) const = default;
    };
    struct Hash {
        std::size_t operator()(const SizedBuffer& sized) const;
    };

    const ColdCaches& costs_;
    std::int64_t computed_ = 0;  ///< ns
    std::int64_t at_call_ = 0;   ///< `computed_` at the last call
    /// `computed_` at the last use of each buffer.
    std::unordered_map<SizedBuffer, std::int64_t, Hash> at_use_;
};

/// The extra time, in ns, of a call that sends and receives a message of `size` bytes after a computation of `computed`
/// ns.
std::int64_t exchange_time(const ColdCaches& costs, std::int64_t computed, std::uint64_t size);

}  // namespace idlewave::trace
