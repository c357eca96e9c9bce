// UCX: tagged messages between two workers. UCX chooses the transports that carry them (UCX_TLS).
#pragma once

#include <ucp/api/ucp.h>

#include <string>

#include "network/connection.hpp"
#include "network/slots.hpp"
#include "network/transports/ucx_worker.hpp"

namespace idlewave::probe::network {

class UcxData {
  public:
    static constexpr Traits traits = {.name = "ucx", .rendezvous = true};
    static constexpr std::size_t in_page = Slots::in_page;

    template <ControlPlane Control>
    UcxData(Control& control, const Connection& connection)
        : slots_(connection.max_size), max_size_(connection.max_size) {
        send_text(control, worker_.address());
        const std::string other = receive_text(control);
        ucp_ep_params_t parameters{};
        parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        parameters.address = reinterpret_cast<const ucp_address_t*>(other.data());
        check_ucx(ucp_ep_create(worker_.get(), &parameters, &endpoint_), "ucp_ep_create");
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
        posted_ = ucp_tag_recv_nbx(worker_.get(), slots_.incoming(), bytes, tag, ~ucp_tag_t{0}, &parameters);
    }
    bool wait(int /*size*/) {
        await(posted_);
        return true;
    }
    void progress() { worker_.progress(); }
    static std::string fabric() { return std::string("UCX ") + ucp_get_version_string(); }
    int limit() const { return max_size_; }
    int in_flight(int /*size*/) const { return 1 << 20; }

  private:
    static constexpr ucp_tag_t tag = 1;

    void await(void* request) { worker_.await(request, "a message"); }

    Slots slots_;
    int max_size_;
    UcxWorker worker_{UCP_FEATURE_TAG};
    ucp_ep_h endpoint_ = nullptr;
    void* posted_ = nullptr;
};

}  // namespace idlewave::probe::network
