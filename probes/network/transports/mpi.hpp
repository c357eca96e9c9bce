// MPI: the control channel, and two-sided messages.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "network/connection.hpp"
#include "network/slots.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

// Two ranks with a communicator of their own.
struct MpiPair {
    MPI_Comm communicator = MPI_COMM_NULL;
    int peer = 0;
};

class MpiControl {
  public:
    explicit MpiControl(const MpiPair& pair) : pair_(pair) {}

    const MpiPair& pair() const { return pair_; }

    void send(const void* from, std::size_t bytes) {
        MPI_Send(from, static_cast<int>(bytes), MPI_BYTE, pair_.peer, tag, pair_.communicator);
    }
    void receive(void* to, std::size_t bytes) {
        MPI_Recv(to, static_cast<int>(bytes), MPI_BYTE, pair_.peer, tag, pair_.communicator, MPI_STATUS_IGNORE);
    }

  private:
    static constexpr int tag = 2;
    MpiPair pair_;
};

class MpiData {
  public:
    static constexpr Traits traits = {.name = "mpi", .needs_mpi = true, .rendezvous = true, .shared_memory = true};
    static constexpr std::size_t in_page = Slots::in_page;

    MpiData(const MpiControl& control, const Connection& connection)
        : pair_(control.pair()), slots_(connection.max_size), max_size_(connection.max_size) {}

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int messages) { slots_.refresh(size, messages); }
    void send(int size, int message) {
        MPI_Send(slots_.outgoing(message), size, MPI_CHAR, pair_.peer, tag, pair_.communicator);
    }
    void flush() {}
    bool receive(int size, int messages) {
        for (int i = 0; i < messages; ++i) {
            MPI_Recv(slots_.incoming(), size, MPI_CHAR, pair_.peer, tag, pair_.communicator, MPI_STATUS_IGNORE);
        }
        return true;
    }
    void post(int size) {
        MPI_Irecv(slots_.incoming(), size, MPI_CHAR, pair_.peer, tag, pair_.communicator, &request_);
    }
    bool wait(int /*size*/) {
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
        return true;
    }
    // Probes for a message that is never sent: in this call the library handles arrived messages.
    void progress() {
        int found = 0;
        MPI_Iprobe(pair_.peer, unused_tag, pair_.communicator, &found, MPI_STATUS_IGNORE);
    }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    static constexpr int tag = 1;
    static constexpr int unused_tag = 3;
    MpiPair pair_;
    Slots slots_;
    int max_size_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace idlewave::probe::network
