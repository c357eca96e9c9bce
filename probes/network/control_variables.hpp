// What the MPI library's control variables (MPI_T) say about the algorithms of its collectives.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace idlewave::probe {

struct ControlVariable {
    std::string name;
    std::string value;  // of an enumeration the name of its value, where the library has names
    bool in_environment = false;
};

// The environment's value of a variable of MPICH, which reads it under three names and shows numbers; null if there is
// none. Variables of other libraries have other names there.
inline const char* environment_value(const std::string& name) {
    constexpr std::string_view own = "MPIR_CVAR_";
    if (!name.starts_with(own)) return nullptr;
    for (const char* prefix : {"MPICH_", "MPIR_PARAM_", "MPIR_CVAR_"}) {
        if (const char* value = std::getenv((prefix + name.substr(own.size())).c_str())) return value;
    }
    return nullptr;
}

// Open MPI: coll_tuned_allreduce_algorithm, coll_tuned_use_dynamic_rules. MPICH: MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM,
// MPIR_CVAR_ENABLE_..._COLLECTIVES.
inline bool chooses_algorithms(std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto has = [&lower](std::string_view part) { return lower.find(part) != std::string::npos; };
    if (lower.starts_with("coll_tuned_")) {
        return lower.ends_with("_algorithm") || has("use_dynamic_rules") || has("dynamic_rules_filename");
    }
    return lower.starts_with("mpir_cvar_") && (lower.ends_with("_intra_algorithm") || has("device_collective"));
}

inline std::string value_of(MPI_T_cvar_handle handle, MPI_Datatype type, MPI_T_enum names, int count) {
    if (type == MPI_CHAR) {
        std::string text(static_cast<std::size_t>(std::max(count, 1)) + 1, '\0');
        MPI_T_cvar_read(handle, text.data());
        return text.substr(0, text.find('\0'));
    }
    if (type == MPI_C_BOOL) {
        bool set = false;
        return MPI_T_cvar_read(handle, &set) == MPI_SUCCESS && set ? "true" : "false";
    }
    int number = 0;
    if (type != MPI_INT || count != 1 || MPI_T_cvar_read(handle, &number) != MPI_SUCCESS) return "";
    int items = 0;
    std::array<char, 256> text{};
    int length = text.size();
    if (names != MPI_T_ENUM_NULL && MPI_T_enum_get_info(names, &items, text.data(), &length) == MPI_SUCCESS) {
        for (int i = 0; i < items; ++i) {
            int value = 0;
            length = text.size();
            if (MPI_T_enum_get_item(names, i, &value, text.data(), &length) == MPI_SUCCESS && value == number) {
                return text.data();
            }
        }
    }
    return std::to_string(number);
}

// Those that choose algorithms; none if the library does not say.
inline std::vector<ControlVariable> control_variables() {
    std::vector<ControlVariable> found;
    int provided = 0;
    int variables = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return found;
    MPI_T_cvar_get_num(&variables);
    for (int i = 0; i < variables; ++i) {
        std::array<char, 256> name{};
        std::array<char, 2> none{};
        int length = name.size();
        int described = none.size();
        int verbosity = 0;
        int binding = 0;
        int scope = 0;
        int count = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum names = MPI_T_ENUM_NULL;
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        if (MPI_T_cvar_get_info(i, name.data(), &length, &verbosity, &type, &names, none.data(), &described, &binding,
                                &scope) != MPI_SUCCESS ||
            binding != MPI_T_BIND_NO_OBJECT || !chooses_algorithms(name.data()) ||
            MPI_T_cvar_handle_alloc(i, nullptr, &handle, &count) != MPI_SUCCESS) {
            continue;
        }
        const char* given = environment_value(name.data());
        found.push_back(
            {name.data(), given != nullptr ? given : value_of(handle, type, names, count), given != nullptr});
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return found;
}

}  // namespace idlewave::probe
