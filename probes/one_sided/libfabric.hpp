// libfabric: remote writes and reads between reliable datagram endpoints of any provider that has them. One of no bytes
// is none: some providers never complete it.
#pragma once

#include <mpi.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/page.hpp"
#include "common/place.hpp"
#include "common/ticks.hpp"
#include "network/job.hpp"
#include "network/transports/fabric_endpoint.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"
#include "one_sided/put_get.hpp"

namespace idlewave::probe::one_sided {

using network::check_fabric;

// A rank's name, memory and key, for the others.
struct FabricAddress {
    std::array<char, 256> name{};
    std::uint64_t memory = 0;
    std::uint64_t key = 0;
};

// The count of notifications stands behind the memory. Only one rank notifies another, so the count is put.
class FabricLibrary {
  public:
    explicit FabricLibrary(const Job& job)
        : room_(whole_pages(job.room)), own_(new_pages(room_ + page_size())), memory_(new_pages(room_ + page_size())) {
        std::memset(memory_.get(), 0, room_ + page_size());
        open(provider_of_all());
        own_region_ = registered(own_.get(), FI_READ | FI_WRITE, 1);
        region_ = registered(memory_.get(), FI_REMOTE_READ | FI_REMOTE_WRITE, 2);
        FabricAddress mine;
        std::size_t length = mine.name.size();
        check_fabric(fi_getname(&fabric_.endpoint->fid, mine.name.data(), &length), "fi_getname");
        const bool virtual_address = (fabric_.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
        mine.memory = virtual_address ? reinterpret_cast<std::uint64_t>(memory_.get()) : 0;
        mine.key = fi_mr_key(region_.get());
        addresses_ = gather(mine);
        for (const FabricAddress& address : addresses_) {
            fi_addr_t peer = 0;
            if (fi_av_insert(fabric_.addresses.get(), address.name.data(), 1, &peer, 0, nullptr) != 1) {
                throw failed("libfabric does not take a rank's address; do all have the same provider?");
            }
            peers_.push_back(peer);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }

    void put(int rank, std::size_t size) { write(own_.get(), rank, 0, size); }
    void get(int rank, std::size_t size) {
        if (size == 0) return;
        const auto to = static_cast<std::size_t>(rank);
        const FabricAddress& there = addresses_[to];
        retry([&] {
            return fi_read(fabric_.endpoint.get(), own_.get(), size, fi_mr_desc(own_region_.get()), peers_[to],
                           there.memory, there.key, nullptr);
        });
    }
    void complete() {
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        while (completed_ < started_) {
            progress();
            network::give_up_fabric_after(begin);
        }
    }
    void notify(int rank) {
        constexpr std::size_t line = 64;  // behind what is sent
        ++notified_;
        std::memcpy(own_.get() + room_ + line, &notified_, sizeof notified_);
        write(own_.get() + room_ + line, rank, room_, sizeof notified_);
        complete();
    }
    // Reads the completions.
    void progress() {
        std::array<fi_cq_entry, 16> entries{};
        const ssize_t read = fi_cq_read(fabric_.queue.get(), entries.data(), entries.size());
        if (read > 0) completed_ += read;
        if (read >= 0 || read == -FI_EAGAIN) return;
        fi_cq_err_entry error{};
        fi_cq_readerr(fabric_.queue.get(), &error, 0);
        throw failed(std::string("libfabric: a transfer failed: ") + fi_strerror(error.err));
    }
    [[nodiscard]] char* sent() const { return own_.get(); }
    [[nodiscard]] volatile char* shown() const { return memory_.get(); }
    [[nodiscard]] std::int64_t notifications() const {
        return *reinterpret_cast<const volatile std::int64_t*>(memory_.get() + room_);
    }

  private:
    // Shared memory where all ranks are on one host, unless the user chose a provider; empty: libfabric's own choice.
    static std::string provider_of_all() {
        const std::vector<ProcessPlace> places = gather(place_on_host());
        bool one_host = std::getenv("FI_PROVIDER") == nullptr;
        for (const ProcessPlace& place : places) one_host = one_host && place.host() == places.front().host();
        return one_host ? "shm" : "";
    }

    void open(const std::string& provider) {
        const network::FabricInfo hints = network::fabric_hints(FI_RMA | FI_MSG, provider);
        hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;  // a completion means that the bytes are in the memory there
        network::FabricInfo found = find_fabric(hints, "no provider has remote writes whose delivery completes");
        found->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
        fabric_.open(std::move(found), FI_CQ_FORMAT_CONTEXT, 1024);
    }

    network::FabricObject<fid_mr> registered(char* memory, std::uint64_t access, std::uint64_t key) {
        fid_mr* region = nullptr;
        const std::size_t bytes = room_ + page_size();
        check_fabric(fi_mr_reg(fabric_.domain.get(), memory, bytes, access, 0, key, 0, &region, nullptr), "fi_mr_reg");
        return network::FabricObject<fid_mr>(region);
    }

    void write(const char* from, int rank, std::size_t offset, std::size_t size) {
        if (size == 0) return;
        const auto to = static_cast<std::size_t>(rank);
        const FabricAddress& there = addresses_[to];
        retry([&] {
            return fi_write(fabric_.endpoint.get(), from, size, fi_mr_desc(own_region_.get()), peers_[to],
                            there.memory + offset, there.key, nullptr);
        });
    }

    // A full queue becomes free while completions are read.
    template <class Call>
    void retry(const Call& call) {
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        ++started_;
        while (true) {
            const ssize_t status = call();
            if (status == 0) return;
            if (status != -FI_EAGAIN) check_fabric(status, "a transfer");
            progress();
            network::give_up_fabric_after(begin);
        }
    }

    std::size_t room_;
    PageMemory own_;
    PageMemory memory_;
    network::FabricEndpoint fabric_;
    network::FabricObject<fid_mr> own_region_;
    network::FabricObject<fid_mr> region_;
    std::vector<FabricAddress> addresses_;  // by rank
    std::vector<fi_addr_t> peers_;
    long long started_ = 0;
    long long completed_ = 0;
    std::int64_t notified_ = 0;
};

class Fabric {
  public:
    static constexpr const char* name = "libfabric";

    explicit Fabric(const Job& job) : library_(job), put_get_(job, library_) {}

    static std::vector<Operation> operations() { return PutGet<FabricLibrary>::operations(); }
    Times run(const Item& item, int times) { return put_get_.run(item, times); }
    void serve(const Item& item, int times) { put_get_.serve(item, times); }
    void progress() { library_.progress(); }

  private:
    FabricLibrary library_;
    PutGet<FabricLibrary> put_get_;
};

}  // namespace idlewave::probe::one_sided
