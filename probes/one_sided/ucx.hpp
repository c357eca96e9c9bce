// UCX: puts and gets between workers, one a rank. UCX chooses the transports that carry them (UCX_TLS).
#pragma once

#include <mpi.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/page.hpp"
#include "network/job.hpp"
#include "network/transports/ucx_worker.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"
#include "one_sided/put_get.hpp"

namespace idlewave::probe::one_sided {

using network::check_ucx;
using network::UcxWorker;

// Texts of bytes of every rank, in the order of ranks.
inline std::vector<std::string> gather_texts(const std::string& own) {
    const std::vector<int> lengths = gather(static_cast<int>(own.size()));
    const int most = *std::ranges::max_element(lengths);
    std::string padded = own;
    padded.resize(static_cast<std::size_t>(most));
    std::string all(static_cast<std::size_t>(most) * lengths.size(), '\0');
    MPI_Allgather(padded.data(), most, MPI_BYTE, all.data(), most, MPI_BYTE, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    texts.reserve(lengths.size());
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
        texts.push_back(all.substr(rank * static_cast<std::size_t>(most), static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
}

// Memory of this rank that others write and read: with its key, packed for them.
class UcxMemory {
  public:
    UcxMemory(const UcxWorker& worker, std::size_t bytes) : worker_(worker) {
        ucp_mem_map_params_t parameters{};
        parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        parameters.length = bytes;
        parameters.flags = UCP_MEM_MAP_ALLOCATE;  // where the transports of a node can map it
        check_ucx(ucp_mem_map(worker_.context(), &parameters, &handle_), "ucp_mem_map");
        ucp_mem_attr_t attributes{};
        attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
        check_ucx(ucp_mem_query(handle_, &attributes), "ucp_mem_query");
        memory_ = static_cast<char*>(attributes.address);
        std::memset(memory_, 0, bytes);
    }
    UcxMemory(const UcxMemory&) = delete;
    UcxMemory& operator=(const UcxMemory&) = delete;
    ~UcxMemory() { ucp_mem_unmap(worker_.context(), handle_); }

    [[nodiscard]] char* get() const { return memory_; }
    [[nodiscard]] std::string key() const {
        void* packed = nullptr;
        std::size_t length = 0;
        check_ucx(ucp_rkey_pack(worker_.context(), handle_, &packed, &length), "ucp_rkey_pack");
        const std::string text(static_cast<const char*>(packed), length);
        ucp_rkey_buffer_release(packed);
        return text;
    }

  private:
    const UcxWorker& worker_;
    ucp_mem_h handle_ = nullptr;
    char* memory_ = nullptr;
};

// The way to another rank's memory.
struct UcxTarget {
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h key = nullptr;
    std::uint64_t memory = 0;
};

// The count of notifications stands behind the memory. Only one rank notifies another, so the count is put.
class UcxLibrary {
  public:
    explicit UcxLibrary(const Job& job)
        : room_(whole_pages(job.room)), own_(job.room), memory_(worker_, room_ + page_size()) {
        const std::vector<std::string> addresses = gather_texts(worker_.address());
        const std::vector<std::string> keys = gather_texts(memory_.key());
        const std::vector<std::uint64_t> memories = gather(reinterpret_cast<std::uint64_t>(memory_.get()));
        targets_.resize(addresses.size());
        for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
            UcxTarget& target = targets_[rank];
            ucp_ep_params_t parameters{};
            parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
            parameters.address = reinterpret_cast<const ucp_address_t*>(addresses[rank].data());
            check_ucx(ucp_ep_create(worker_.get(), &parameters, &target.endpoint), "ucp_ep_create");
            check_ucx(ucp_ep_rkey_unpack(target.endpoint, keys[rank].data(), &target.key), "ucp_ep_rkey_unpack");
            target.memory = memories[rank];
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    UcxLibrary(const UcxLibrary&) = delete;
    UcxLibrary& operator=(const UcxLibrary&) = delete;
    // Endpoints are closed by the end of the worker; all ranks have completed their transfers then.
    ~UcxLibrary() {
        for (const UcxTarget& target : targets_) {
            if (target.key != nullptr) ucp_rkey_destroy(target.key);
        }
    }

    void put(int rank, std::size_t size) { put_from(own_.data(), rank, 0, size); }
    void get(int rank, std::size_t size) {
        const UcxTarget& target = target_of(rank);
        const ucp_request_param_t parameters{};
        release(ucp_get_nbx(target.endpoint, own_.data(), size, target.memory, target.key, &parameters), "ucp_get_nbx");
    }
    void complete() {
        const ucp_request_param_t parameters{};
        worker_.await(ucp_worker_flush_nbx(worker_.get(), &parameters), "ucp_worker_flush_nbx");
    }
    void notify(int rank) {
        ++notified_;
        put_from(reinterpret_cast<const char*>(&notified_), rank, room_, sizeof notified_);
        complete();
    }
    void progress() { worker_.progress(); }
    [[nodiscard]] char* sent() const { return own_.data(); }
    [[nodiscard]] volatile char* shown() const { return memory_.get(); }
    [[nodiscard]] std::int64_t notifications() const {
        return *reinterpret_cast<const volatile std::int64_t*>(memory_.get() + room_);
    }

  private:
    [[nodiscard]] const UcxTarget& target_of(int rank) const { return targets_[static_cast<std::size_t>(rank)]; }

    void put_from(const char* from, int rank, std::size_t offset, std::size_t size) {
        const UcxTarget& target = target_of(rank);
        const ucp_request_param_t parameters{};
        release(ucp_put_nbx(target.endpoint, from, size, target.memory + offset, target.key, &parameters),
                "ucp_put_nbx");
    }

    // The flush waits for it.
    static void release(void* request, const char* call) {
        if (UCS_PTR_IS_ERR(request)) check_ucx(UCS_PTR_STATUS(request), call);
        if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
    }

    std::size_t room_;
    ProgramBuffer own_;
    UcxWorker worker_{UCP_FEATURE_RMA};
    UcxMemory memory_;
    std::vector<UcxTarget> targets_;  // by rank
    std::int64_t notified_ = 0;
};

class Ucx {
  public:
    static constexpr const char* name = "ucx";

    explicit Ucx(const Job& job) : library_(job), put_get_(job, library_) {}

    static std::vector<Operation> operations() { return PutGet<UcxLibrary>::operations(); }
    Times run(const Item& item, int times) { return put_get_.run(item, times); }
    void serve(const Item& item, int times) { put_get_.serve(item, times); }
    void progress() { library_.progress(); }

  private:
    UcxLibrary library_;
    PutGet<UcxLibrary> put_get_;
};

}  // namespace idlewave::probe::one_sided
