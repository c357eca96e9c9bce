// OpenSHMEM: puts and gets on its symmetric heap, completed by quiet.
#pragma once

#include <shmem.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/page.hpp"
#include "network/job.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"
#include "one_sided/put_get.hpp"

namespace idlewave::probe::one_sided {

// The library never ends: with Open MPI 4.1 that is an invalid access (so the program ends without it).
class ShmemLibrary {
  public:
    explicit ShmemLibrary(const Job& job) : own_(job.room) {
        shmem_init();
        pes_ = gather(shmem_my_pe());  // by rank
        memory_ = static_cast<char*>(shmem_malloc(job.room));
        count_ = static_cast<long*>(shmem_malloc(sizeof(long)));
        if (memory_ == nullptr || count_ == nullptr) {
            throw failed("OpenSHMEM's symmetric heap has no room for " + std::to_string(job.room) +
                         " B: SHMEM_SYMMETRIC_HEAP_SIZE sets its size");
        }
        std::memset(memory_, 0, job.room);
        *count_ = 0;
        shmem_barrier_all();
    }

    void put(int rank, std::size_t size) { shmem_putmem_nbi(memory_, own_.data(), size, pe(rank)); }
    void get(int rank, std::size_t size) { shmem_getmem_nbi(own_.data(), memory_, size, pe(rank)); }
    void complete() { shmem_quiet(); }
    void notify(int rank) {
        shmem_long_atomic_inc(count_, pe(rank));
        shmem_quiet();
    }
    void progress() { shmem_quiet(); }
    [[nodiscard]] char* sent() const { return own_.data(); }
    [[nodiscard]] volatile char* shown() const { return memory_; }
    [[nodiscard]] std::int64_t notifications() const { return *static_cast<volatile long*>(count_); }

  private:
    [[nodiscard]] int pe(int rank) const { return pes_[static_cast<std::size_t>(rank)]; }

    ProgramBuffer own_;
    std::vector<int> pes_;
    char* memory_ = nullptr;
    long* count_ = nullptr;
};

class Shmem {
  public:
    static constexpr const char* name = "shmem";

    explicit Shmem(const Job& job) : library_(job), put_get_(job, library_) {}

    static std::vector<Operation> operations() { return PutGet<ShmemLibrary>::operations(); }
    Times run(const Item& item, int times) { return put_get_.run(item, times); }
    void serve(const Item& item, int times) { put_get_.serve(item, times); }
    void progress() { library_.progress(); }

  private:
    ShmemLibrary library_;
    PutGet<ShmemLibrary> put_get_;
};

}  // namespace idlewave::probe::one_sided
