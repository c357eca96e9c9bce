// MPI one-sided: put and get in passive target epochs (lock_all once, then flush).
//
// put. Three ways to time a put are in use. Benchmarks such as OSU's put latency do not look at the target: they time
// put and flush, which is a round trip of the network's own acknowledgement, not a message on which a program at the
// target may act. A flag put after a flush is safe by the standard, but adds a whole acknowledgement between message
// and flag, so PRTT would hold two round trips. Here the target polls the message's last byte, as programs with
// notified access and InfiniBand's write-latency benchmarks do. That is right if a put's bytes are placed in order,
// which the unified memory model does not promise, but all networks that offer it do. Beyond that byte nothing is read,
// so a wrong order would only make a time too short by a fraction of one message.
// - Only the last message of a train ends in the byte that is polled; the others of that train end in 0. The target
//   clears the byte when it has seen it. Each message has its place in the window.
// - Some libraries move a put only inside a call: so the sender flushes after its last put (the flush and the way to
//   the target and back overlap: the answer is under way before the flush has ended), and the polling side calls the
//   library now and then.
// - o_s is the duration of MPI_Put; o_r that of seeing that the message is there. There is no receive that could be
// late,
//   so no `late` series and no rendezvous.
//
// get. The client gets n messages, d apart, and then flushes: PRTT(n,d,s) is complete when all bytes are there. One way
// is a request without bytes and the other is the message: half of PRTT(1,0,s) is no one-way time, but both together
// are the time of a get. The server writes the messages, as a program that offers data does, and takes no further part
// (it waits in MPI, because some libraries move data only there): there is no o_r, and no `recv`, `wait` and `late`.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>

#include "common/page.hpp"
#include "network/slots.hpp"
#include "network/transport.hpp"
#include "network/transports/mpi.hpp"

namespace idlewave::probe::network {

// Places for the messages of a train in the memory, of one size at a time. They are used in turn, by one train after
// the other and by the warm-up: a single message that always had the same place would find it in the caches, and those
// of a train would not, so that their bytes would seem dearer.
class MessagePlaces {
  public:
    explicit MessagePlaces(int max_size)
        : bytes_(std::max(stride_of(max_size), std::min(limit, most * stride_of(max_size)))) {}

    std::size_t bytes() const { return bytes_; }
    int count(int size) const { return static_cast<int>(std::min(bytes_ / stride_of(size), most)); }

    void lay_out(int size) {
        stride_ = stride_of(size);
        count_ = static_cast<std::size_t>(count(size));
    }
    // The offset of the place of that number, in bytes.
    std::size_t at(std::size_t number) const { return number * stride_ + Slots::in_page; }
    std::size_t take(std::size_t& turn) const {
        if (turn >= count_) turn = 0;
        return at(turn++);
    }

  private:
    static constexpr std::size_t limit = 33'554'432;  // bytes of all places, or as many as the largest message has
    static constexpr std::size_t most = 64;

    static std::size_t stride_of(int size) { return whole_pages(Slots::in_page + static_cast<std::size_t>(size)); }

    std::size_t bytes_;
    std::size_t stride_ = 0;
    std::size_t count_ = 1;
};

// A window of whole pages, as much memory outside it, and the other rank's window.
class WindowPair {
  public:
    WindowPair(const MpiPair& pair, std::size_t bytes) : pair_(pair), local_(new_pages(bytes)) {
        const std::size_t allocated = bytes + page_size();
        void* memory = nullptr;
        MPI_Win_allocate(static_cast<MPI_Aint>(allocated), 1, MPI_INFO_NULL, pair.communicator,
                         static_cast<void*>(&memory), &window_);
        std::memset(memory, 0, allocated);
        std::size_t left = allocated;
        shown_ = static_cast<char*>(std::align(page_size(), bytes, memory, left));
        const std::uint64_t skipped = allocated - left;
        std::uint64_t skipped_there = 0;
        MPI_Sendrecv(&skipped, 1, MPI_UINT64_T, pair.peer, 0, &skipped_there, 1, MPI_UINT64_T, pair.peer, 0,
                     pair.communicator, MPI_STATUS_IGNORE);
        there_ = static_cast<MPI_Aint>(skipped_there);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
        MPI_Win_sync(window_);
        MPI_Barrier(pair.communicator);
    }
    WindowPair(const WindowPair&) = delete;
    WindowPair& operator=(const WindowPair&) = delete;
    // After a failure the other rank does not free its window, too; the abort that follows ends both.
    ~WindowPair() {
        if (std::uncaught_exceptions() > 0) return;
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    char* local(std::size_t at) { return local_.get() + at; }
    char* shown(std::size_t at) { return shown_ + at; }

    void put(std::size_t from, int size, std::size_t to) {
        MPI_Put(local(from), size, MPI_CHAR, pair_.peer, there_ + static_cast<MPI_Aint>(to), size, MPI_CHAR, window_);
    }
    void get(std::size_t to, int size, std::size_t from) {
        MPI_Get(local(to), size, MPI_CHAR, pair_.peer, there_ + static_cast<MPI_Aint>(from), size, MPI_CHAR, window_);
    }
    void flush() { MPI_Win_flush(pair_.peer, window_); }
    void sync() { MPI_Win_sync(window_); }

    // Calls the library, which makes progress only in calls.
    void progress() {
        int found = 0;
        MPI_Iprobe(pair_.peer, MPI_ANY_TAG, pair_.communicator, &found, MPI_STATUS_IGNORE);
        sync();
    }

  private:
    MpiPair pair_;
    PageMemory local_;
    char* shown_ = nullptr;  // this rank's window: its first page
    MPI_Aint there_ = 0;     // the other's
    MPI_Win window_ = MPI_WIN_NULL;
};

// Between two samples the windows hold zeros only, so that places of one size may lie across those of another.
class PutData {
  public:
    // A put has at least one byte: the target looks at the last one.
    static constexpr Traits traits = {
        .name = "put", .smallest = 1, .needs_mpi = true, .receives = false, .shared_memory = true};
    static constexpr std::size_t in_page = Slots::in_page;

    PutData(const MpiControl& control, const Connection& connection)
        : places_(connection.max_size), windows_(control.pair(), places_.bytes()), max_size_(connection.max_size) {}

    void start(std::uint32_t /*sample*/) {}

    void refresh(int size, int messages) {
        places_.lay_out(size);
        for (int i = 0; i < messages; ++i) std::memset(written(i), 0, static_cast<std::size_t>(size));
        written(messages - 1)[size - 1] = seen;
    }
    void send(int size, int message) {
        windows_.put(places_.at(static_cast<std::size_t>(message)), size, places_.take(sent_));
    }
    void flush() { windows_.flush(); }

    bool receive(int size, int messages) {
        constexpr int looks = 64;  // between two calls of the library
        std::size_t at = 0;
        for (int i = 0; i < messages; ++i) at = places_.take(received_);
        volatile char& last = windows_.shown(at)[size - 1];
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
    int in_flight(int size) const { return places_.count(size); }

  private:
    static constexpr char seen = 1;

    char* written(int message) { return windows_.local(places_.at(static_cast<std::size_t>(message))); }

    MessagePlaces places_;
    WindowPair windows_;
    int max_size_;
    std::size_t sent_ = 0;  // the next place in the other's window
    std::size_t received_ = 0;
};

class GetData {
  public:
    static constexpr Traits traits = {
        .name = "get", .smallest = 1, .needs_mpi = true, .passive = true, .receives = false, .shared_memory = true};
    static constexpr std::size_t in_page = Slots::in_page;

    GetData(const MpiControl& control, const Connection& connection)
        : places_(connection.max_size), windows_(control.pair(), places_.bytes()), max_size_(connection.max_size) {}

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int /*messages*/) { places_.lay_out(size); }
    void serve(int size, int messages) {
        places_.lay_out(size);
        ++value_;
        for (int i = 0; i < messages; ++i) {
            std::memset(windows_.shown(places_.take(turn_)), value_, static_cast<std::size_t>(size));
        }
        windows_.sync();
    }
    void send(int size, int /*message*/) {
        const std::size_t at = places_.take(turn_);
        windows_.get(at, size, at);
    }
    void flush() {}
    bool receive(int /*size*/, int /*messages*/) {
        windows_.flush();
        return true;
    }
    int limit() const { return max_size_; }
    int in_flight(int size) const { return places_.count(size); }

  private:
    MessagePlaces places_;
    WindowPair windows_;
    int max_size_;
    std::size_t turn_ = 0;  // the place that is written and got next
    char value_ = 0;
};

}  // namespace idlewave::probe::network
