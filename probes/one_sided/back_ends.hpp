// The list of back ends, a line each. The build defines IDLEWAVE_SHMEM, IDLEWAVE_UCX, IDLEWAVE_LIBFABRIC and
// IDLEWAVE_GASNET if there are these libraries.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"
#include "one_sided/rma.hpp"
#include "one_sided/two_sided.hpp"
#ifdef IDLEWAVE_SHMEM
#include "one_sided/shmem.hpp"
#endif
#ifdef IDLEWAVE_UCX
#include "one_sided/ucx.hpp"
#endif
#ifdef IDLEWAVE_LIBFABRIC
#include "one_sided/libfabric.hpp"
#endif
#ifdef IDLEWAVE_GASNET
#include "one_sided/gasnet.hpp"
#endif

namespace idlewave::probe::one_sided {

// A way to communicate. run: of the origin. serve: of each target, at the same time. progress: lets the library of a
// waiting target work.
class BackEnd {
  public:
    BackEnd() = default;
    BackEnd(const BackEnd&) = delete;
    BackEnd& operator=(const BackEnd&) = delete;
    virtual ~BackEnd() = default;

    [[nodiscard]] virtual std::vector<Operation> operations() const = 0;
    [[nodiscard]] virtual bool has(const Item& item) const = 0;
    virtual Times run(const Item& item, int times) = 0;
    virtual void serve(const Item& item, int times) = 0;
    virtual void progress() = 0;
};

template <class Library>
class BackEndOf : public BackEnd {
  public:
    explicit BackEndOf(const Job& job) : library_(job) {}

    [[nodiscard]] std::vector<Operation> operations() const override { return Library::operations(); }
    [[nodiscard]] bool has([[maybe_unused]] const Item& item) const override {
        if constexpr (requires { library_.has(item); }) return library_.has(item);
        return true;
    }
    Times run(const Item& item, int times) override { return library_.run(item, times); }
    void serve(const Item& item, int times) override { library_.serve(item, times); }
    void progress() override {
        if constexpr (requires { library_.progress(); }) library_.progress();
    }

  private:
    Library library_;
};

struct BackEndEntry {
    std::string name;
    std::unique_ptr<BackEnd> (*make)(const Job& job);
};

template <class Library>
BackEndEntry entry_of() {
    return {Library::name,
            [](const Job& job) -> std::unique_ptr<BackEnd> { return std::make_unique<BackEndOf<Library>>(job); }};
}

// Those of this build.
inline std::vector<BackEndEntry> all_back_ends() {
    return {
        entry_of<TwoSided>(), entry_of<Rma>(),
#ifdef IDLEWAVE_SHMEM
        entry_of<Shmem>(),
#endif
#ifdef IDLEWAVE_UCX
        entry_of<Ucx>(),
#endif
#ifdef IDLEWAVE_LIBFABRIC
        entry_of<Fabric>(),
#endif
#ifdef IDLEWAVE_GASNET
        entry_of<Gasnet>(),
#endif
    };
}

inline Failure no_back_end(const std::string& name, const std::vector<BackEndEntry>& all) {
    std::string known;
    for (const BackEndEntry& one : all) known.append(known.empty() ? "" : ", ").append(one.name);
    return refused("--back-ends: expected some of " + known + ", found '" + name + "'");
}

// Those of these names. Throws a Failure for a name that this build does not have.
inline std::vector<BackEndEntry> back_ends_named(const std::vector<std::string>& names) {
    const std::vector<BackEndEntry> all = all_back_ends();
    std::vector<BackEndEntry> chosen;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(all, name, &BackEndEntry::name);
        if (found == all.end()) throw no_back_end(name, all);
        chosen.push_back(*found);
    }
    return chosen;
}

}  // namespace idlewave::probe::one_sided
