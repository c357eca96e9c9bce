// MPI one-sided: put and get in passive target epochs (lock_all once, then flush).
//
// put. How does the target see a message? Three ways are in use. Benchmarks such as OSU's put latency do not ask: they
// time put and flush, which is a round trip of the network's own acknowledgement, not a message that a program at the
// target may act on. A flag put after a flush is safe by the standard, but puts a whole acknowledgement between message
// and flag, so PRTT would hold two round trips. Here the target looks at the message's last byte, as programs with
// notified access and InfiniBand's write-latency benchmarks do. That is right where a put's bytes are placed in order,
// which the unified memory model does not promise and all networks that offer it do. Beyond that byte nothing is read,
// so a wrong order would make a time too short by a fraction of one message, and nothing else.
// - Only the last message of a train ends in the byte that is looked for; the others of that train end in 0. The target
//   clears it when it has been seen. Each message has its place in the window, as far as these reach.
// - Some libraries move a put only inside a call: so the sender flushes after its last put (the flush and the way to
//   the target and back overlap: the answer is under way before the flush has ended), and who looks calls the library
//   now and then.
// - o_s is the duration of MPI_Put; o_r that of seeing that the message is there. There is no receive to be late, so no
//   `late` series and no rendezvous.
//
// get. The client gets n messages, d apart, and then flushes: PRTT(n,d,s) is complete when all bytes are there. The
// request takes the place of the message, so one way is a request without bytes and the other is the message: half of
// PRTT(1,0,s) is no one-way time, but both together are a get's. The server takes no part (it waits in MPI, for
// libraries that move data only so): there is no o_r, and no `recv`, `wait` and `late`.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "common/failure.hpp"
#include "network/transport.hpp"
#include "network/transports/mpi.hpp"

namespace idlewave::network {

// A window with a place for each message of a train, as far as it reaches, and as much memory outside it. Between two
// samples the window holds zeros only, so that places of one size may lie across those of another.
class WindowPair {
  public:
    WindowPair(const MpiPair& pair, int max_size)
        : pair_(pair), local_(std::max(stride(max_size), std::min(limit, 64 * stride(max_size)))) {
        const MPI_Aint bytes = static_cast<MPI_Aint>(local_.size());
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, pair.communicator, static_cast<void*>(&memory_), &window_);
        std::memset(memory_, 0, local_.size());
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
        MPI_Win_sync(window_);
        MPI_Barrier(pair.communicator);
    }
    WindowPair(const WindowPair&) = delete;
    WindowPair& operator=(const WindowPair&) = delete;
    // After a failure the other rank does not come to free it, too; the abort that follows ends both.
    ~WindowPair() {
        if (std::uncaught_exceptions() > 0) return;
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    int places(int size) const { return static_cast<int>(std::min<std::size_t>(local_.size() / stride(size), 64)); }
    std::size_t offset(int size, int message) const {
        return stride(size) * static_cast<std::size_t>(message % places(size));
    }
    char* local(int size, int message) { return local_.data() + offset(size, message); }
    volatile char* shown(int size, int message) { return memory_ + offset(size, message); }

    void put(int size, int message) {
        MPI_Put(local(size, message), size, MPI_CHAR, pair_.peer, static_cast<MPI_Aint>(offset(size, message)), size,
                MPI_CHAR, window_);
    }
    void get(int size, int message) {
        MPI_Get(local(size, message), size, MPI_CHAR, pair_.peer, static_cast<MPI_Aint>(offset(size, message)), size,
                MPI_CHAR, window_);
    }
    void flush() { MPI_Win_flush(pair_.peer, window_); }

    // The library gets the CPU, for what it does only then.
    void progress() {
        int found = 0;
        MPI_Iprobe(pair_.peer, MPI_ANY_TAG, pair_.communicator, &found, MPI_STATUS_IGNORE);
        MPI_Win_sync(window_);
    }

  private:
    static constexpr std::size_t limit = 33'554'432;  // bytes of all places, or as many as the largest message has

    static std::size_t stride(int size) { return (static_cast<std::size_t>(size) + 63) / 64 * 64; }

    MpiPair pair_;
    std::vector<char> local_;
    char* memory_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

class PutData {
  public:
    static constexpr const char* name = "put";
    static constexpr int smallest = 1;  // the last byte is looked at
    static constexpr bool passive = false;
    static constexpr bool receives = false;

    PutData(const MpiPair& pair, int max_size) : windows_(pair, max_size), max_size_(max_size) {}

    void start(std::uint32_t /*sample*/) {}

    void refresh(int size, int messages) {
        const int first = std::max(0, messages - windows_.places(size));
        for (int i = first; i < messages; ++i) std::memset(windows_.local(size, i), 0, static_cast<std::size_t>(size));
        windows_.local(size, messages - 1)[size - 1] = seen;
    }
    void send(int size, int message) { windows_.put(size, message); }
    void flush() { windows_.flush(); }

    bool receive(int size, int messages) {
        constexpr int looks = 64;  // between two calls of the library
        volatile char& last = windows_.shown(size, messages - 1)[size - 1];
        while (true) {
            for (int i = 0; i < looks; ++i) {
                if (last != seen) continue;
                last = 0;
                return true;
            }
            windows_.progress();
        }
    }
    int limit() const { return max_size_; }
    // A place that is used twice in a train holds the last byte of an earlier message for a while; it is 0.
    int in_flight(int size) const { return windows_.places(size); }

  private:
    static constexpr char seen = 1;
    WindowPair windows_;
    int max_size_;
};

class GetData {
  public:
    static constexpr const char* name = "get";
    static constexpr int smallest = 1;
    static constexpr bool passive = true;
    static constexpr bool receives = false;

    GetData(const MpiPair& pair, int max_size) : windows_(pair, max_size), max_size_(max_size) {}

    void start(std::uint32_t /*sample*/) {}
    void refresh(int /*size*/, int /*messages*/) {}
    void send(int size, int message) { windows_.get(size, message); }
    void flush() {}
    bool receive(int /*size*/, int /*messages*/) {
        windows_.flush();
        return true;
    }
    int limit() const { return max_size_; }
    int in_flight(int size) const { return windows_.places(size); }

  private:
    WindowPair windows_;
    int max_size_;
};

}  // namespace idlewave::network
