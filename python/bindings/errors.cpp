#include <nanobind/nanobind.h>

#include <string>

#include "base/error.hpp"
#include "base/time.hpp"
#include "bindings.hpp"

namespace nb = nanobind;

namespace idlewave {
namespace {

/// The exception classes live in idlewave.errors; here C++ exceptions become theirs.
void raise(const char* type, const char* what) {
    const nb::object error = nb::module_::import_("idlewave.errors").attr(type);
    PyErr_SetString(error.ptr(), what);
}

void raise_deadlock(const Deadlock& deadlock) {
    const nb::object type = nb::module_::import_("idlewave.errors").attr("Deadlock");
    nb::list waiting;
    for (const Waiting& w : deadlock.waiting) {
        waiting.append(nb::make_tuple(w.rank, w.op.c_str(), w.why.c_str()));
    }
    const nb::object error = type(deadlock.what(), waiting);
    PyErr_SetObject(type.ptr(), error.ptr());
}

}  // namespace

void bind_errors(nb::module_& /*m*/) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void* /*payload*/) {
        try {
            std::rethrow_exception(pointer);
        } catch (const InputError& error) {
            raise("InputError", error.what());
        } catch (const Deadlock& deadlock) {
            raise_deadlock(deadlock);
        } catch (const TimeOverflow& error) {
            raise("TimeOverflow", error.what());
        } catch (const TransportError& error) {
            raise("MpiError", error.what());
        }
    });
}

}  // namespace idlewave
