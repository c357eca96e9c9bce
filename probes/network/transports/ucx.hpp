// UCX: tagged messages between two workers. UCX chooses the transports that carry them (UCX_TLS).
#pragma once

#include <sched.h>
#include <ucp/api/ucp.h>

#include <string>

#include "common/failure.hpp"
#include "common/ticks.hpp"
#include "network/connection.hpp"
#include "network/slots.hpp"

namespace idlewave::probe::network {

class UcxData {
  public:
    static constexpr Traits traits = {.name = "ucx", .rendezvous = true};
    static constexpr std::size_t in_page = Slots::in_page;

    template <ControlPlane Control>
    UcxData(Control& control, const Connection& connection)
        : slots_(connection.max_size), max_size_(connection.max_size) {
        open();
        ucp_address_t* mine = nullptr;
        std::size_t length = 0;
        check(ucp_worker_get_address(worker_, &mine, &length), "ucp_worker_get_address");
        send_text(control, std::string(reinterpret_cast<const char*>(mine), length));
        ucp_worker_release_address(worker_, mine);
        const std::string other = receive_text(control);
        ucp_ep_params_t parameters{};
        parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        parameters.address = reinterpret_cast<const ucp_address_t*>(other.data());
        check(ucp_ep_create(worker_, &parameters, &endpoint_), "ucp_ep_create");
    }
    UcxData(const UcxData&) = delete;
    UcxData& operator=(const UcxData&) = delete;

    // Messages on their way to the other side leave first. An error here is ignored: it cannot be reported any more.
    ~UcxData() {
        const ucp_request_param_t parameters{};
        void* request = ucp_ep_close_nbx(endpoint_, &parameters);
        if (UCS_PTR_IS_PTR(request)) {
            for (int i = 0; i < 1'000'000 && ucp_request_check_status(request) == UCS_INPROGRESS; ++i) progress();
            ucp_request_free(request);
        }
        ucp_worker_destroy(worker_);
        ucp_cleanup(context_);
    }

    void start(std::uint32_t /*sample*/) {}
    void refresh(int size, int messages) { slots_.refresh(size, messages); }
    void send(int size, int message) {
        const ucp_request_param_t parameters{};
        const auto bytes = static_cast<std::size_t>(size);
        await(ucp_tag_send_nbx(endpoint_, slots_.outgoing(message), bytes, tag, &parameters));
    }
    void flush() {}
    bool receive(int size, int messages) { return receive_each(*this, size, messages); }
    void post(int size) {
        const ucp_request_param_t parameters{};
        const auto bytes = static_cast<std::size_t>(size);
        posted_ = ucp_tag_recv_nbx(worker_, slots_.incoming(), bytes, tag, ~ucp_tag_t{0}, &parameters);
    }
    bool wait(int /*size*/) {
        await(posted_);
        return true;
    }
    void progress() { ucp_worker_progress(worker_); }
    static std::string fabric() { return std::string("UCX ") + ucp_get_version_string(); }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    static constexpr ucp_tag_t tag = 1;
    static constexpr std::int64_t patience_ns = 30'000'000'000;

    static void check(ucs_status_t status, const char* call) {
        if (status != UCS_OK) throw failed(std::string("UCX: ") + call + ": " + ucs_status_string(status));
    }

    void open() {
        ucp_params_t parameters{};
        parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
        parameters.features = UCP_FEATURE_TAG;
        ucp_config_t* config = nullptr;
        check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
        const ucs_status_t status = ucp_init(&parameters, config, &context_);
        ucp_config_release(config);
        check(status, "ucp_init");
        ucp_worker_params_t worker{};
        worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker.thread_mode = UCS_THREAD_MODE_SINGLE;
        check(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
    }

    // A null request has already completed.
    void await(void* request) {
        constexpr int turns = 4096;
        if (request == nullptr) return;
        if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "a message");
        std::int64_t begin = 0;
        ucs_status_t status = UCS_INPROGRESS;
        while (status == UCS_INPROGRESS) {
            for (int i = 0; i < turns && status == UCS_INPROGRESS; ++i) {
                ucp_worker_progress(worker_);
                status = ucp_request_check_status(request);
            }
            if (status != UCS_INPROGRESS) break;
            sched_yield();
            const std::int64_t now = nanoseconds(CLOCK_MONOTONIC);
            if (begin == 0) begin = now;
            if (now - begin > patience_ns) throw failed("UCX: the other side is silent");
        }
        ucp_request_free(request);
        check(status, "a message");
    }

    Slots slots_;
    int max_size_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h endpoint_ = nullptr;
    void* posted_ = nullptr;
};

}  // namespace idlewave::probe::network
