// libfabric's reliable datagram endpoint, with its completion queue and the addresses of others.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "common/failure.hpp"
#include "common/ticks.hpp"

namespace idlewave::probe::network {

inline void check_fabric(ssize_t status, const char* call) {
    if (status == 0) return;
    throw failed(std::string("libfabric: ") + call + ": " + fi_strerror(static_cast<int>(-status)));
}

// Waiting for another side began at `begin`.
inline void give_up_fabric_after(std::int64_t begin) {
    constexpr std::int64_t patience_ns = 30'000'000'000;
    if (nanoseconds(CLOCK_MONOTONIC) - begin > patience_ns) throw failed("libfabric: the other side is silent");
}

struct CloseFabricObject {
    template <class T>
    void operator()(T* object) const {
        fi_close(&object->fid);
    }
};
template <class T>
using FabricObject = std::unique_ptr<T, CloseFabricObject>;

struct FreeFabricInfo {
    void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using FabricInfo = std::unique_ptr<fi_info, FreeFabricInfo>;

// Hints for endpoints with these capabilities, of a provider or, if that is empty, of any.
inline FabricInfo fabric_hints(std::uint64_t capabilities, const std::string& provider) {
    FabricInfo hints(fi_allocinfo());
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = capabilities;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
    return hints;
}

// The library's first answer to hints; `missing` says what there is not.
inline FabricInfo find_fabric(const FabricInfo& hints, const char* missing) {
    fi_info* found = nullptr;
    const int status = fi_getinfo(FI_VERSION(1, 9), nullptr, nullptr, 0, hints.get(), &found);
    FabricInfo info(found);
    check_fabric(status, missing);
    return info;
}

// The members are closed in the order of their dependencies, the last one first.
struct FabricEndpoint {
    FabricInfo info;
    FabricObject<fid_fabric> fabric;
    FabricObject<fid_domain> domain;
    FabricObject<fid_av> addresses;
    FabricObject<fid_cq> queue;
    FabricObject<fid_ep> endpoint;

    // `format` and `size` are those of the completion queue.
    void open(FabricInfo found, fi_cq_format format, std::size_t size) {
        info = std::move(found);
        fid_fabric* new_fabric = nullptr;
        check_fabric(fi_fabric(info->fabric_attr, &new_fabric, nullptr), "fi_fabric");
        fabric.reset(new_fabric);
        fid_domain* new_domain = nullptr;
        check_fabric(fi_domain(new_fabric, info.get(), &new_domain, nullptr), "fi_domain");
        domain.reset(new_domain);
        fi_av_attr av{};
        fid_av* new_addresses = nullptr;
        check_fabric(fi_av_open(new_domain, &av, &new_addresses, nullptr), "fi_av_open");
        addresses.reset(new_addresses);
        fi_cq_attr cq{};
        cq.format = format;
        cq.size = size;
        fid_cq* new_queue = nullptr;
        check_fabric(fi_cq_open(new_domain, &cq, &new_queue, nullptr), "fi_cq_open");
        queue.reset(new_queue);
        fid_ep* new_endpoint = nullptr;
        check_fabric(fi_endpoint(new_domain, info.get(), &new_endpoint, nullptr), "fi_endpoint");
        endpoint.reset(new_endpoint);
        check_fabric(fi_ep_bind(new_endpoint, &new_addresses->fid, 0), "fi_ep_bind");
        check_fabric(fi_ep_bind(new_endpoint, &new_queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
        check_fabric(fi_enable(new_endpoint), "fi_enable");
    }

    void close() {
        endpoint.reset();
        queue.reset();
        addresses.reset();
        domain.reset();
        fabric.reset();
        info.reset();
    }
};

}  // namespace idlewave::probe::network
