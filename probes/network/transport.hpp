// The concepts of a transport that an assessment needs: messages to time, a control channel beside them, and a clock.
//
// The assessment is a template over the three, so that a timed call is the transport's own and nothing else. Both sides
// have all three. The tests' emulated network (tests/emulated_network) has a virtual clock; the assessment does not
// depend on that.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/failure.hpp"
#include "common/ticks.hpp"

namespace idlewave::probe::network {

// The properties of a transport. The probe prints them (--transports) and writes them beside the samples, so that a
// reader of samples needs no list of transports.
struct Traits {
    const char* name = "";
    int smallest = 0;            // bytes of the smallest message: 0 or 1
    bool needs_mpi = false;      // both sides are ranks of an MPI job
    bool passive = false;        // the server takes no part in an exchange (get)
    bool receives = true;        // a receiver acts, so that a message may find it early or late
    bool rendezvous = false;     // a send that waits for its receiver runs a rendezvous protocol, not into full buffers
    bool shared_memory = false;  // messages within a node go through memory that both sides map
};

// The messages of a transport.
//
// A class Data(Control&, const Connection&) with constant `traits`. in_page (optional): the byte of a page at which
// every message begins, for a transport whose costs may depend on the number of pages.
// start(sample): both sides call it before anything is sent in that sample.
// refresh(size, messages): writes the bytes of that many messages, as a program would. serve(size, messages), of a
// passive transport: the same on the server's side, for the messages that the client will fetch.
// send(size, message): the call whose duration is o_s. flush(): completes what the calls of send leave open.
// receive(size, messages): returns false if one was lost. post(size) and wait(size), optional: a receive in two calls.
// progress(), optional: the library handles arrived messages, without a receive. limit(): the largest size;
// in_flight(size): the largest number of messages on their way.
template <class D>
concept DataPlane = requires(D data, int size, int messages, std::uint32_t sample) {
    { D::traits } -> std::convertible_to<Traits>;
    data.start(sample);
    data.refresh(size, messages);
    data.send(size, messages);
    data.flush();
    { data.receive(size, messages) } -> std::same_as<bool>;
    { data.limit() } -> std::same_as<int>;
    { data.in_flight(size) } -> std::same_as<int>;
};

// The receive of a transport that has post and wait: both, for one message after the other.
template <class D>
bool receive_each(D& data, int size, int messages) {
    for (int i = 0; i < messages; ++i) {
        data.post(size);
        if (!data.wait(size)) return false;
    }
    return true;
}

// A control channel: whole blocks of bytes, in order, without loss. Its waits are bounded: it fails instead.
template <class C>
concept ControlPlane = requires(C control, const void* from, void* to, std::size_t bytes) {
    control.send(from, bytes);
    control.receive(to, bytes);
};

// now(): an ordered reading, in ticks of tick_ns. compute(t): computes for t ticks without the transport, and returns
// the real length. settle(): waits until earlier messages have left CPU and network. involuntary(): involuntary context
// switches so far. observed(ns): the duration as the user of this clock sees it (an emulation adds its scatter).
template <class K>
concept TimeSource = requires(K clock, Ticks ticks, double ns) {
    { clock.now() } -> std::same_as<Ticks>;
    { clock.compute(ticks) } -> std::same_as<Ticks>;
    clock.settle();
    { clock.involuntary() } -> std::same_as<std::int64_t>;
    { clock.observed(ns) } -> std::same_as<double>;
    { clock.tick_ns } -> std::convertible_to<double>;
    { clock.read_cost } -> std::convertible_to<double>;
    { clock.wait_cost } -> std::convertible_to<double>;
    { clock.source() } -> std::convertible_to<std::string>;
};

// One side of a pair.
template <DataPlane Data, ControlPlane Control, TimeSource Clock>
struct Side {
    using DataType = Data;
    Data& data;
    Control& control;
    Clock& clock;
};

template <ControlPlane Control, class T>
void send_value(Control& control, const T& value) {
    control.send(&value, sizeof value);
}

template <class T, ControlPlane Control>
T receive_value(Control& control) {
    T value{};
    control.receive(&value, sizeof value);
    return value;
}

template <ControlPlane Control>
void send_text(Control& control, const std::string& text) {
    send_value(control, static_cast<std::uint64_t>(text.size()));
    control.send(text.data(), text.size());
}

template <ControlPlane Control>
std::string receive_text(Control& control) {
    constexpr std::uint64_t longest = 65536;  // names and addresses; a peer that sends more is not a probe
    const auto length = receive_value<std::uint64_t>(control);
    if (length > longest) throw failed("the other side announces a text of " + std::to_string(length) + " B");
    std::string text(length, '\0');
    control.receive(text.data(), text.size());
    return text;
}

}  // namespace idlewave::probe::network
