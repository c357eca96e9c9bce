// GASNet-EX: puts and gets on its segments, and active messages.
#pragma once

#include <gasnetex.h>

#include <algorithm>
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

inline void check_gasnet(int status, const char* call) {
    if (status == GASNET_OK) return;
    throw failed(std::string("GASNet: ") + call + ": " + gasnet_ErrorName(status) + ": " + gasnet_ErrorDesc(status));
}

// What arrived: the handlers of active messages find it by their endpoint.
struct Arrived {
    std::int64_t notifications = 0;
    std::int64_t requests = 0;
    std::int64_t replies = 0;
};

inline Arrived& arrived_at(gex_Token_t token) {
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_EP);
    return *static_cast<Arrived*>(gex_EP_QueryCData(info.gex_ep));
}

constexpr gex_AM_Index_t notification_handler = GEX_AM_INDEX_BASE;
constexpr gex_AM_Index_t request_handler = GEX_AM_INDEX_BASE + 1;
constexpr gex_AM_Index_t reply_handler = GEX_AM_INDEX_BASE + 2;

inline void on_notification(gex_Token_t token) {
    ++arrived_at(token).notifications;
}
inline void on_request(gex_Token_t token, void* bytes, std::size_t size) {
    ++arrived_at(token).requests;
    gex_AM_ReplyMedium0(token, reply_handler, bytes, size, GEX_EVENT_NOW, 0);
}
inline void on_reply(gex_Token_t token, void* /*bytes*/, std::size_t /*size*/) {
    ++arrived_at(token).replies;
}

class GasnetLibrary {
  public:
    explicit GasnetLibrary(const Job& job) : own_(job.room) {
        check_gasnet(gex_Client_Init(&client_, &endpoint_, &team_, "idlewave", nullptr, nullptr, 0), "gex_Client_Init");
        if (static_cast<int>(gex_TM_QuerySize(team_)) != job.ranks) {
            throw failed("GASNet has " + std::to_string(gex_TM_QuerySize(team_)) + " processes, and MPI " +
                         std::to_string(job.ranks) + ": expected a conduit that MPI's launcher starts, found " +
                         GASNET_CONDUIT_NAME_STR);
        }
        gex_EP_SetCData(endpoint_, &arrived_);
        gex_Segment_t segment = GEX_SEGMENT_INVALID;
        const std::size_t bytes = whole_pages(job.room);
        check_gasnet(gex_Segment_Attach(&segment, team_, bytes), "gex_Segment_Attach");
        memory_ = static_cast<char*>(gex_Segment_QueryAddr(segment));
        std::memset(memory_, 0, bytes);
        register_handlers();
        memories_ = gather(memory_);
        ranks_ = gather(gex_TM_QueryRank(team_));
    }

    void put(int rank, std::size_t size) {
        gex_RMA_PutNBI(team_, of(rank), at(rank), own_.data(), size, GEX_EVENT_DEFER, 0);
    }
    void get(int rank, std::size_t size) { gex_RMA_GetNBI(team_, own_.data(), of(rank), at(rank), size, 0); }
    void complete() { gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET, 0); }
    void notify(int rank) { gex_AM_RequestShort0(team_, of(rank), notification_handler, 0); }
    void progress() { gasnet_AMPoll(); }
    [[nodiscard]] char* sent() const { return own_.data(); }
    [[nodiscard]] volatile char* shown() const { return memory_; }
    // A notification is an active message, which arrives in a call of the library.
    [[nodiscard]] std::int64_t notifications() const {
        gasnet_AMPoll();
        return arrived_.notifications;
    }

    // The bytes of the largest active message that takes and returns its bytes.
    [[nodiscard]] std::int64_t most_of_active_messages() const {
        return static_cast<std::int64_t>(std::min(gex_AM_LUBRequestMedium(), gex_AM_LUBReplyMedium()));
    }
    void request(int rank, std::size_t size) {
        gex_AM_RequestMedium0(team_, of(rank), request_handler, own_.data(), size, GEX_EVENT_NOW, 0);
    }
    [[nodiscard]] const Arrived& arrived() const { return arrived_; }

  private:
    void register_handlers() {
        const auto function = [](auto* handler) { return reinterpret_cast<gex_AM_Fn_t>(handler); };
        gex_AM_Entry_t entries[] = {
            {notification_handler, function(on_notification), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr,
             "notification"},
            {request_handler, function(on_request), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, nullptr, "request"},
            {reply_handler, function(on_reply), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, nullptr, "reply"}};
        check_gasnet(gex_EP_RegisterHandlers(endpoint_, entries, std::size(entries)), "gex_EP_RegisterHandlers");
    }

    [[nodiscard]] gex_Rank_t of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] char* at(int rank) const { return memories_[static_cast<std::size_t>(rank)]; }

    ProgramBuffer own_;
    gex_Client_t client_ = GEX_CLIENT_INVALID;
    gex_EP_t endpoint_ = GEX_EP_INVALID;
    gex_TM_t team_ = GEX_TM_INVALID;
    Arrived arrived_;
    char* memory_ = nullptr;
    std::vector<char*> memories_;    // by rank
    std::vector<gex_Rank_t> ranks_;  // GASNet's, by MPI's
};

class Gasnet {
  public:
    static constexpr const char* name = "gasnet";

    explicit Gasnet(const Job& job) : library_(job), put_get_(job, library_) {}

    static std::vector<Operation> operations() {
        std::vector<Operation> all = PutGet<GasnetLibrary>::operations();
        all.push_back(Operation::active_message);
        return all;
    }
    [[nodiscard]] bool has(const Item& item) const {
        return item.operation != Operation::active_message || item.size <= library_.most_of_active_messages();
    }

    Times run(const Item& item, int times) {
        if (item.operation != Operation::active_message) return put_get_.run(item, times);
        return timed(times, [&] {
            const std::int64_t awaited = library_.arrived().replies + 1;
            library_.request(1, static_cast<std::size_t>(item.size));
            while (library_.arrived().replies < awaited) library_.progress();
        });
    }

    void serve(const Item& item, int times) {
        if (item.operation != Operation::active_message) return put_get_.serve(item, times);
        served_ += times;
        while (library_.arrived().requests < served_) library_.progress();
    }
    void progress() { library_.progress(); }

  private:
    GasnetLibrary library_;
    PutGet<GasnetLibrary> put_get_;
    std::int64_t served_ = 0;
};

}  // namespace idlewave::probe::one_sided
