// The MPI library's version, and its variables by its tool interface (MPI_T).
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <optional>
#include <string>

namespace idlewave::probe {

inline std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
    int length = 0;
    MPI_Get_library_version(library.data(), &length);
    return library.data();
}

// The value of a scalar integer variable; nothing if it has another type or belongs to an object.
inline std::optional<long long> read_variable(int index, MPI_Datatype type, int bind) {
    if (bind != MPI_T_BIND_NO_OBJECT) return std::nullopt;
    MPI_T_cvar_handle handle{};
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
    std::optional<long long> result;
    const auto read = [&](auto value) {
        if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) result = static_cast<long long>(value);
    };
    if (type == MPI_INT) {
        read(int{});
    } else if (type == MPI_UNSIGNED) {
        read(0U);
    } else if (type == MPI_UNSIGNED_LONG) {
        read(0UL);
    } else if (type == MPI_UNSIGNED_LONG_LONG) {
        read(0ULL);
    } else if (type == MPI_COUNT) {
        read(MPI_Count{});
    }
    MPI_T_cvar_handle_free(&handle);
    return result;
}

// The control variables with the sizes at which the protocol changes, and those that choose the transport.
inline std::map<std::string, long long> protocol_variables() {
    std::map<std::string, long long> result;
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return result;
    int count = 0;
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; ++i) {
        char name[256] = "";
        int name_length = sizeof name;
        int verbosity = 0;
        int bind = 0;
        int scope = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum enumeration{};
        const int status = MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, nullptr, nullptr,
                                               &bind, &scope);
        if (status != MPI_SUCCESS) continue;
        const std::string text = name;
        const bool wanted = text.find("eager_limit") != text.npos || text.find("EAGER") != text.npos ||
                            text.find("THRESHOLD") != text.npos || text.find("CELL_SIZE") != text.npos ||
                            text == "mpi_yield_when_idle" || text.rfind("pml_ob1_priority", 0) == 0 ||
                            text.rfind("pml_ucx_priority", 0) == 0 || text.rfind("pml_cm_priority", 0) == 0;
        if (!wanted) continue;
        if (const auto value = read_variable(i, type, bind)) result[text] = *value;
    }
    MPI_T_finalize();
    return result;
}

}  // namespace idlewave::probe
