// MPI's one-sided communication: puts and gets in one passive target epoch (lock_all, then flush), and the other ways
// to synchronise them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "common/page.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"
#include "one_sided/put_get.hpp"

namespace idlewave::probe::one_sided {

// A window of some ranks.
class Window {
  public:
    Window(MPI_Comm ranks, std::size_t bytes) {
        MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, ranks, static_cast<void*>(&memory_), &window_);
        std::memset(memory_, 0, bytes);
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    // After a failure the others do not free it; the abort that follows ends all.
    ~Window() {
        if (std::uncaught_exceptions() == 0) MPI_Win_free(&window_);
    }

    [[nodiscard]] MPI_Win get() const { return window_; }
    [[nodiscard]] char* memory() const { return memory_; }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    char* memory_ = nullptr;
};

// All ranks' windows, in an epoch that lasts as long as the object. The count of notifications stands behind the
// memory.
class RmaLibrary {
  public:
    explicit RmaLibrary(const Job& job)
        : room_(whole_pages(job.room)), own_(job.room), window_(MPI_COMM_WORLD, room_ + page_size()) {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.get());
        MPI_Win_sync(window_.get());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    RmaLibrary(const RmaLibrary&) = delete;
    RmaLibrary& operator=(const RmaLibrary&) = delete;
    ~RmaLibrary() {
        if (std::uncaught_exceptions() == 0) MPI_Win_unlock_all(window_.get());
    }

    void put(int rank, std::size_t size) {
        MPI_Put(own_.data(), static_cast<int>(size), MPI_CHAR, rank, 0, static_cast<int>(size), MPI_CHAR,
                window_.get());
        last_ = last_ == none || last_ == rank ? rank : several;
    }
    void get(int rank, std::size_t size) {
        MPI_Get(own_.data(), static_cast<int>(size), MPI_CHAR, rank, 0, static_cast<int>(size), MPI_CHAR,
                window_.get());
        last_ = last_ == none || last_ == rank ? rank : several;
    }
    MPI_Request start_put(int rank, std::size_t size) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Rput(own_.data(), static_cast<int>(size), MPI_CHAR, rank, 0, static_cast<int>(size), MPI_CHAR,
                 window_.get(), &request);
        last_ = rank;
        return request;
    }
    void complete() {
        if (last_ == several) MPI_Win_flush_all(window_.get());
        if (last_ >= 0) MPI_Win_flush(last_, window_.get());
        last_ = none;
    }
    void notify(int rank) {
        constexpr std::int64_t one = 1;
        MPI_Accumulate(&one, 1, MPI_INT64_T, rank, static_cast<MPI_Aint>(room_), 1, MPI_INT64_T, MPI_SUM,
                       window_.get());
        MPI_Win_flush(rank, window_.get());
    }
    void progress() {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        MPI_Win_sync(window_.get());
    }
    [[nodiscard]] char* sent() const { return own_.data(); }
    [[nodiscard]] volatile char* shown() const { return window_.memory(); }
    [[nodiscard]] std::int64_t notifications() const {
        return *reinterpret_cast<const volatile std::int64_t*>(window_.memory() + room_);
    }

  private:
    static constexpr int none = -1;
    static constexpr int several = -2;

    std::size_t room_;
    ProgramBuffer own_;
    Window window_;
    int last_ = none;  // the rank to which transfers are open
};

class Rma {
  public:
    static constexpr const char* name = "rma";

    // All ranks; the epochs in which both sides take part are of ranks 0 and 1.
    explicit Rma(const Job& job) : job_(job), library_(job), put_get_(job, library_), own_(job.room) {
        MPI_Comm_split(MPI_COMM_WORLD, job.rank < 2 ? 0 : 1, job.rank, &pair_);
        MPI_Comm_group(pair_, &group_);
        if (job.rank < 2) {
            const int peer = job.peer();
            MPI_Group_incl(group_, 1, &peer, &peer_);
        }
        fenced_ = std::make_unique<Window>(pair_, job.room);
        posted_ = std::make_unique<Window>(pair_, job.room);
    }
    Rma(const Rma&) = delete;
    Rma& operator=(const Rma&) = delete;
    ~Rma() {
        if (std::uncaught_exceptions() > 0) return;
        fenced_.reset();
        posted_.reset();
        if (peer_ != MPI_GROUP_NULL) MPI_Group_free(&peer_);
        MPI_Group_free(&group_);
        MPI_Comm_free(&pair_);
    }

    static std::vector<Operation> operations() {
        std::vector<Operation> all = PutGet<RmaLibrary>::operations();
        all.insert(all.end(), {Operation::rput, Operation::fence, Operation::pscw});
        return all;
    }

    Times run(const Item& item, int times) {
        const auto size = static_cast<std::size_t>(item.size);
        if (item.operation == Operation::fence) return timed(times, [&] { fence(size); });
        if (item.operation == Operation::pscw) return timed(times, [&] { access_epoch(size); });
        if (item.operation != Operation::rput) return put_get_.run(item, times);
        return timed_start(
            job_, times,
            [&] {
                MPI_Request request = library_.start_put(1, size);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            },
            [&] { library_.complete(); });
    }

    void serve(const Item& item, int times) {
        if (item.operation == Operation::fence) {
            timed(times, [&] { fence(0); });
        } else if (item.operation == Operation::pscw) {
            timed(times, [&] { exposure_epoch(); });
        } else {
            put_get_.serve(item, times);
        }
    }

  private:
    void fence(std::size_t size) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, fenced_->get());
        if (job_.origin()) put(size, fenced_->get());
        MPI_Win_fence(MPI_MODE_NOSUCCEED, fenced_->get());
    }
    void access_epoch(std::size_t size) {
        MPI_Win_start(peer_, 0, posted_->get());
        put(size, posted_->get());
        MPI_Win_complete(posted_->get());
    }
    void exposure_epoch() {
        MPI_Win_post(peer_, 0, posted_->get());
        MPI_Win_wait(posted_->get());
    }
    void put(std::size_t size, MPI_Win window) const {
        MPI_Put(own_.data(), static_cast<int>(size), MPI_CHAR, 1, 0, static_cast<int>(size), MPI_CHAR, window);
    }

    const Job& job_;
    RmaLibrary library_;
    PutGet<RmaLibrary> put_get_;
    ProgramBuffer own_;
    MPI_Comm pair_ = MPI_COMM_NULL;
    MPI_Group group_ = MPI_GROUP_NULL;
    MPI_Group peer_ = MPI_GROUP_NULL;
    std::unique_ptr<Window> fenced_;
    std::unique_ptr<Window> posted_;
};

}  // namespace idlewave::probe::one_sided
