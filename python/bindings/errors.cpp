#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/quote.hpp"
#include "base/time.hpp"
#include "bindings.hpp"
#include "goal/op.hpp"

namespace nb = nanobind;

namespace idlewave {
namespace {

/// The exception classes live in idlewave.errors; here C++ exceptions become theirs.
void raise(const char* type, const char* what) {
    const nb::object error = nb::module_::import_("idlewave.errors").attr(type);
    PyErr_SetObject(error.ptr(), nb::str(printable(what).c_str()).ptr());
}

const char* type_of(StandstillKind kind) {
    switch (kind) {
        case StandstillKind::unmatched_receive:
            return "UnmatchedReceive";
        case StandstillKind::unmatched_rendezvous:
            return "UnmatchedRendezvous";
        case StandstillKind::unmatched_send:
            return "UnmatchedSend";
        default:
            return "Deadlock";
    }
}

nb::list list_of(const std::vector<Waiting>& waiting) {
    nb::list list;
    for (const Waiting& w : waiting) {
        list.append(nb::make_tuple(w.rank, w.op.c_str(), w.why.c_str()));
    }
    return list;
}

void raise_standstill(const Standstill& standstill) {
    const nb::module_ errors = nb::module_::import_("idlewave.errors");
    const nb::object message_type = errors.attr("UnmatchedMessage");
    const LeftOver& found = standstill.left_over;
    nb::list messages;
    for (const UnmatchedMessage& m : found.messages) {
        messages.append(message_type(m.sender, m.op.c_str(), m.receiver,
                                     m.tag == goal::any ? std::int64_t{-1} : std::int64_t{m.tag}, m.size,
                                     m.hint.c_str()));
    }
    const nb::object type = errors.attr(type_of(standstill.kind));
    const nb::object error =
        type(standstill.what(), list_of(found.waiting), list_of(found.cycle), messages, found.left, found.cycle_length);
    PyErr_SetObject(type.ptr(), error.ptr());
}

}  // namespace

void bind_errors(nb::module_& /*m*/) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void* /*payload*/) {
        try {
            std::rethrow_exception(pointer);
        } catch (const InputError& error) {
            raise("InputError", error.what());
        } catch (const Standstill& standstill) {
            raise_standstill(standstill);
        } catch (const TimeOverflow& error) {
            raise("TimeOverflow", error.what());
        } catch (const TransportError& error) {
            raise("MpiError", error.what());
        }
    });
}

}  // namespace idlewave
