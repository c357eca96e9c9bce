// libfabric: tagged messages between reliable datagram endpoints of any provider.
//
// A send ends when its buffer may be written again: at once up to the provider's inject size, else with its completion.
// The library makes progress only in calls, so a waiting side reads the completion queue.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/ticks.hpp"
#include "network/connection.hpp"
#include "network/slots.hpp"

namespace idlewave::probe::network {

struct CloseFabricObject {
    template <class T>
    void operator()(T* object) const {
        fi_close(&object->fid);
    }
};
template <class T>
using FabricObject = std::unique_ptr<T, CloseFabricObject>;

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
        check(fi_getname(&endpoint_->fid, mine.data(), &length), "fi_getname");
        send_text(control, std::string(mine.data(), length));
        const std::string other = receive_text(control);
        if (fi_av_insert(addresses_.get(), other.data(), 1, &peer_, 0, nullptr) != 1) {
            throw failed("libfabric does not take the other side's address; do both have the same provider?");
        }
    }

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int messages) { slots_.refresh(size, messages); }

    void send(int size, int message) {
        const auto bytes = static_cast<std::size_t>(size);
        const bool inject = bytes <= info_->tx_attr->inject_size;
        retry([&] {
            return inject ? fi_tinject(endpoint_.get(), slots_.outgoing(message), bytes, peer_, tag)
                          : fi_tsend(endpoint_.get(), slots_.outgoing(message), bytes, nullptr, peer_, tag, nullptr);
        });
        if (!inject) await(sent_);
    }
    void flush() {}

    bool receive(int size, int messages) { return receive_each(*this, size, messages); }
    void post(int size) {
        const auto bytes = static_cast<std::size_t>(size);
        retry([&] { return fi_trecv(endpoint_.get(), slots_.incoming(), bytes, nullptr, peer_, tag, 0, nullptr); });
    }
    bool wait(int /*size*/) {
        await(received_);
        return true;
    }

    // Reads the completions.
    void progress() {
        fi_cq_tagged_entry entry{};
        const ssize_t read = fi_cq_read(queue_.get(), &entry, 1);
        if (read == -FI_EAGAIN) return;
        if (read < 0) fail();
        ((entry.flags & FI_RECV) != 0 ? received_ : sent_) += 1;
    }

    std::string fabric() const {
        const std::uint32_t version = fi_version();
        return "libfabric " + std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version)) +
               ", provider " + info_->fabric_attr->prov_name;
    }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    static constexpr std::uint64_t tag = 1;
    static constexpr const char* shared_memory = "shm";  // the provider's name
    static constexpr std::int64_t patience_ns = 30'000'000'000;

    static void check(ssize_t status, const char* call) {
        if (status == 0) return;
        throw failed(std::string("libfabric: ") + call + ": " + fi_strerror(static_cast<int>(-status)));
    }

    struct FreeInfo {
        void operator()(fi_info* info) const { fi_freeinfo(info); }
    };
    using Info = std::unique_ptr<fi_info, FreeInfo>;

    // Opens shared memory, unless the user chose a provider. The library orders its providers without regard to where
    // the other side is: sockets come before memory within a host, too. Returns whether both sides could open it.
    template <ControlPlane Control>
    bool open_memory(Control& control, const std::string& wish) {
        bool here = wish.empty() && std::getenv("FI_PROVIDER") == nullptr;
        if (here) here = !failure_of([&] { open(shared_memory); });
        send_text(control, here ? host_name() : "");
        const bool there = receive_text(control) == host_name();
        if (!here || !there) close();
        return here && there;
    }

    // Closes the objects in the order of their dependencies.
    void close() {
        endpoint_.reset();
        queue_.reset();
        addresses_.reset();
        domain_.reset();
        fabric_.reset();
        info_.reset();
    }

    // Returns the library's status.
    static int find(const std::string& provider, Info& info) {
        const Info hints(fi_allocinfo());
        hints->ep_attr->type = FI_EP_RDM;
        hints->caps = FI_TAGGED | FI_MSG;
        hints->domain_attr->threading = FI_THREAD_DOMAIN;
        if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
        fi_info* found = nullptr;
        const int status = fi_getinfo(FI_VERSION(1, 9), nullptr, nullptr, 0, hints.get(), &found);
        info.reset(found);
        return status;
    }

    void open(const std::string& provider) {
        check(find(provider, info_), provider.empty() ? "no provider has tagged messages" : provider.c_str());
        fid_fabric* fabric = nullptr;
        check(fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
        fabric_.reset(fabric);
        fid_domain* domain = nullptr;
        check(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
        domain_.reset(domain);
        fi_av_attr av{};
        fid_av* addresses = nullptr;
        check(fi_av_open(domain, &av, &addresses, nullptr), "fi_av_open");
        addresses_.reset(addresses);
        fi_cq_attr cq{};
        cq.format = FI_CQ_FORMAT_TAGGED;
        cq.size = 256;
        fid_cq* queue = nullptr;
        check(fi_cq_open(domain, &cq, &queue, nullptr), "fi_cq_open");
        queue_.reset(queue);
        fid_ep* endpoint = nullptr;
        check(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "fi_endpoint");
        endpoint_.reset(endpoint);
        check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
        check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        check(fi_enable(endpoint), "fi_enable");
    }

    // A full queue becomes free while completions are read.
    template <class Call>
    void retry(Call call) {
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        while (true) {
            const ssize_t status = call();
            if (status == 0) return;
            if (status != -FI_EAGAIN) check(status, "a message");
            progress();
            give_up_after(begin);
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
            give_up_after(begin);
        }
        --completions;
    }

    static void give_up_after(std::int64_t begin) {
        if (nanoseconds(CLOCK_MONOTONIC) - begin > patience_ns) throw failed("libfabric: the other side is silent");
    }

    [[noreturn]] void fail() {
        fi_cq_err_entry error{};
        fi_cq_readerr(queue_.get(), &error, 0);
        throw failed(std::string("libfabric: a message failed: ") + fi_strerror(error.err));
    }

    Slots slots_;
    int max_size_;
    Info info_;
    FabricObject<fid_fabric> fabric_;
    FabricObject<fid_domain> domain_;
    FabricObject<fid_av> addresses_;
    FabricObject<fid_cq> queue_;
    FabricObject<fid_ep> endpoint_;
    fi_addr_t peer_ = 0;
    long long sent_ = 0;  // sends that have completed, and were not yet waited for
    long long received_ = 0;
};

}  // namespace idlewave::probe::network
