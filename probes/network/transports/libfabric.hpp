// libfabric: tagged messages between reliable datagram endpoints of any provider.
//
// A send ends when its buffer may be written again: at once up to the provider's inject size, else with its completion.
// The library makes progress only in calls, so a waiting side reads the completion queue.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <sched.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/ticks.hpp"
#include "network/connection.hpp"
#include "network/slots.hpp"
#include "network/transports/fabric_endpoint.hpp"

namespace idlewave::probe::network {

class FabricData {
  public:
    static constexpr Traits traits = {.name = "libfabric", .rendezvous = true};
    static constexpr std::size_t in_page = Slots::in_page;

    template <ControlPlane Control>
    FabricData(Control& control, const Connection& connection)
        : slots_(connection.max_size), max_size_(connection.max_size) {
        if (!open_memory(control, connection.provider)) open(connection.provider);
        std::size_t length = 512;
        std::vector<char> mine(length);
        check_fabric(fi_getname(&fabric_.endpoint->fid, mine.data(), &length), "fi_getname");
        send_text(control, std::string(mine.data(), length));
        const std::string other = receive_text(control);
        if (fi_av_insert(fabric_.addresses.get(), other.data(), 1, &peer_, 0, nullptr) != 1) {
            throw failed("libfabric does not take the other side's address; do both have the same provider?");
        }
    }

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int messages) { slots_.refresh(size, messages); }

    void send(int size, int message) {
        const auto bytes = static_cast<std::size_t>(size);
        const bool inject = bytes <= fabric_.info->tx_attr->inject_size;
        retry([&] {
            return inject ? fi_tinject(fabric_.endpoint.get(), slots_.outgoing(message), bytes, peer_, tag)
                          : fi_tsend(fabric_.endpoint.get(), slots_.outgoing(message), bytes, nullptr, peer_, tag,
                                     nullptr);
        });
        if (!inject) await(sent_);
    }
    void flush() {}

    bool receive(int size, int messages) { return receive_each(*this, size, messages); }
    void post(int size) {
        const auto bytes = static_cast<std::size_t>(size);
        retry([&] {
            return fi_trecv(fabric_.endpoint.get(), slots_.incoming(), bytes, nullptr, peer_, tag, 0, nullptr);
        });
    }
    bool wait(int /*size*/) {
        await(received_);
        return true;
    }

    // Reads the completions.
    void progress() {
        fi_cq_tagged_entry entry{};
        const ssize_t read = fi_cq_read(fabric_.queue.get(), &entry, 1);
        if (read == -FI_EAGAIN) return;
        if (read < 0) fail();
        ((entry.flags & FI_RECV) != 0 ? received_ : sent_) += 1;
    }

    std::string fabric() const {
        const std::uint32_t version = fi_version();
        return "libfabric " + std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version)) +
               ", provider " + fabric_.info->fabric_attr->prov_name;
    }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    static constexpr std::uint64_t tag = 1;
    static constexpr const char* shared_memory = "shm";  // the provider's name

    // Opens shared memory, unless the user chose a provider. The library orders its providers without regard to where
    // the other side is: sockets come before memory within a host, too. Returns whether both sides could open it.
    template <ControlPlane Control>
    bool open_memory(Control& control, const std::string& wish) {
        bool here = wish.empty() && std::getenv("FI_PROVIDER") == nullptr;
        if (here) here = !failure_of([&] { open(shared_memory); });
        send_text(control, here ? host_name() : "");
        const bool there = receive_text(control) == host_name();
        if (!here || !there) fabric_.close();
        return here && there;
    }

    void open(const std::string& provider) {
        const char* const missing = provider.empty() ? "no provider has tagged messages" : provider.c_str();
        fabric_.open(find_fabric(fabric_hints(FI_TAGGED | FI_MSG, provider), missing), FI_CQ_FORMAT_TAGGED, 256);
    }

    // A full queue becomes free while completions are read.
    template <class Call>
    void retry(Call call) {
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        while (true) {
            const ssize_t status = call();
            if (status == 0) return;
            if (status != -FI_EAGAIN) check_fabric(status, "a message");
            progress();
            give_up_fabric_after(begin);
        }
    }

    void await(long long& completions) {
        constexpr int turns = 4096;
        std::int64_t begin = 0;
        while (completions == 0) {
            for (int i = 0; i < turns && completions == 0; ++i) progress();
            if (completions > 0) break;
            sched_yield();
            if (begin == 0) begin = nanoseconds(CLOCK_MONOTONIC);
            give_up_fabric_after(begin);
        }
        --completions;
    }

    [[noreturn]] void fail() {
        fi_cq_err_entry error{};
        fi_cq_readerr(fabric_.queue.get(), &error, 0);
        throw failed(std::string("libfabric: a message failed: ") + fi_strerror(error.err));
    }

    Slots slots_;
    int max_size_;
    FabricEndpoint fabric_;
    fi_addr_t peer_ = 0;
    long long sent_ = 0;  // sends that have completed, and were not yet waited for
    long long received_ = 0;
};

}  // namespace idlewave::probe::network
