// UCX's context and worker, of one thread. UCX chooses the transports that carry what it moves (UCX_TLS).
#pragma once

#include <sched.h>
#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/failure.hpp"
#include "common/ticks.hpp"

namespace idlewave::probe::network {

inline void check_ucx(ucs_status_t status, const char* call) {
    if (status != UCS_OK) throw failed(std::string("UCX: ") + call + ": " + ucs_status_string(status));
}

class UcxWorker {
  public:
    // `features`: what it is used for, such as UCP_FEATURE_TAG.
    explicit UcxWorker(std::uint64_t features) {
        ucp_params_t parameters{};
        parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
        parameters.features = features;
        ucp_config_t* config = nullptr;
        check_ucx(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
        const ucs_status_t status = ucp_init(&parameters, config, &context_);
        ucp_config_release(config);
        check_ucx(status, "ucp_init");
        ucp_worker_params_t worker{};
        worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker.thread_mode = UCS_THREAD_MODE_SINGLE;
        check_ucx(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
    }
    UcxWorker(const UcxWorker&) = delete;
    UcxWorker& operator=(const UcxWorker&) = delete;
    ~UcxWorker() {
        ucp_worker_destroy(worker_);
        ucp_cleanup(context_);
    }

    [[nodiscard]] ucp_context_h context() const { return context_; }
    [[nodiscard]] ucp_worker_h get() const { return worker_; }

    [[nodiscard]] std::string address() const {
        ucp_address_t* address = nullptr;
        std::size_t length = 0;
        check_ucx(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
        std::string text(reinterpret_cast<const char*>(address), length);
        ucp_worker_release_address(worker_, address);
        return text;
    }

    void progress() const { ucp_worker_progress(worker_); }

    // Waits for what `call` has begun. A null request has already completed.
    void await(void* request, const char* call) const {
        constexpr int turns = 4096;
        constexpr std::int64_t patience_ns = 30'000'000'000;
        if (request == nullptr) return;
        if (UCS_PTR_IS_ERR(request)) check_ucx(UCS_PTR_STATUS(request), call);
        std::int64_t begin = 0;
        ucs_status_t status = UCS_INPROGRESS;
        while (status == UCS_INPROGRESS) {
            for (int i = 0; i < turns && status == UCS_INPROGRESS; ++i) {
                progress();
                status = ucp_request_check_status(request);
            }
            if (status != UCS_INPROGRESS) break;
            sched_yield();
            const std::int64_t now = nanoseconds(CLOCK_MONOTONIC);
            if (begin == 0) begin = now;
            if (now - begin > patience_ns) throw failed("UCX: the other side is silent");
        }
        ucp_request_free(request);
        check_ucx(status, call);
    }

  private:
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
};

}  // namespace idlewave::probe::network
