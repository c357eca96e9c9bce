#pragma once

#include <cstdint>
#include <type_traits>

#include "base/random.hpp"
#include "base/time.hpp"

namespace idlewave::testing {

/// What the LPs of a test's model do, given at run time, so that a scheduler is compiled once for many tests. The
/// models below run it; each names what the kernel knows about a model when it is compiled.
struct Behaviour {
    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;

        bool operator==(const State&) const = default;
    };
    struct Payload {
        std::uint32_t hops = 0;
        std::uint32_t word = 0;

        bool operator==(const Payload&) const = default;
    };
    struct Record {
        std::uint64_t word = 0;

        bool operator==(const Record&) const = default;
    };

    /// What pdes::ReverseContextInterface describes.
    struct ReverseContext {
        virtual ~ReverseContext() = default;
        [[nodiscard]] virtual std::uint32_t self() const = 0;
        [[nodiscard]] virtual Time now() const = 0;
        virtual Philox random_bits() = 0;
    };
    /// What pdes::ContextInterface describes. What a model does not have is ignored: payloads, records, saved fields.
    struct Context : ReverseContext {
        virtual void send(std::uint32_t destination, Time delay, const Payload& payload) = 0;
        virtual void emit(const Record& record) = 0;
        virtual void save(std::uint64_t& field) = 0;
        virtual void save(State& field) = 0;
    };

    virtual ~Behaviour() = default;
    [[nodiscard]] virtual std::uint32_t lps() const = 0;
    [[nodiscard]] virtual Time lookahead() const = 0;
    [[nodiscard]] virtual std::uint64_t seed() const = 0;
    virtual void start(State& state, Context& context) const = 0;
    virtual void handle(State& state, const Payload& payload, Context& context) const = 0;

    // What some of the models use besides.

    virtual void reverse(State& /*state*/, const Payload& /*payload*/, ReverseContext& /*context*/) const {}
    [[nodiscard]] virtual bool conservative(std::uint32_t /*lp*/) const { return false; }
    /// What the LP keeps outside of its state; null if nothing.
    [[nodiscard]] virtual std::uint64_t* kept_outside(std::uint32_t /*lp*/) const { return nullptr; }
    virtual void commit(std::uint32_t /*lp*/, Time /*time*/, const Record& /*record*/) const {}
    [[nodiscard]] virtual std::uint64_t digest(std::uint32_t /*lp*/, const State& state) const { return state.digest; }
};

/// A kernel's context of type C, as an `Interface` that a behaviour knows.
template <class Interface, class C>
class ReverseContextOf : public Interface {
  public:
    explicit ReverseContextOf(C& context) : context_(context) {}
    [[nodiscard]] std::uint32_t self() const override { return context_.self(); }
    [[nodiscard]] Time now() const override { return context_.now(); }
    Philox random_bits() override { return context_.random_bits(); }

  protected:
    C& context_;
};

template <class M, class C>
class ContextOf final : public ReverseContextOf<Behaviour::Context, C> {
  public:
    using ReverseContextOf<Behaviour::Context, C>::ReverseContextOf;
    void send(std::uint32_t destination, Time delay, const Behaviour::Payload& payload) override {
        if constexpr (std::is_empty_v<typename M::Payload>) {
            this->context_.send(destination, delay, {});
        } else {
            this->context_.send(destination, delay, payload);
        }
    }
    void emit(const Behaviour::Record& record) override {
        if constexpr (requires { typename M::Record; }) {
            this->context_.emit(record);
        }
    }
    void save(std::uint64_t& field) override { save_field(field); }
    void save(Behaviour::State& field) override { save_field(field); }

  private:
    template <class Field>
    void save_field(Field& field) {
        if constexpr (requires { M::saves_fields; }) {
            this->context_.save(field);
        }
    }
};

/// What all models below share; M is the model.
template <class M>
class BehaviourModel {
  public:
    using State = Behaviour::State;

    explicit BehaviourModel(const Behaviour& behaviour) : behaviour_(behaviour) {}

    [[nodiscard]] std::uint32_t lps() const { return behaviour_.lps(); }
    [[nodiscard]] Time lookahead() const { return behaviour_.lookahead(); }
    [[nodiscard]] std::uint64_t seed() const { return behaviour_.seed(); }

    template <class C>
    void start(State& state, C& context) const {
        ContextOf<M, C> adapted(context);
        behaviour_.start(state, adapted);
    }
    template <class Payload, class C>
    void handle(State& state, const Payload& payload, C& context) const {
        ContextOf<M, C> adapted(context);
        if constexpr (std::is_empty_v<Payload>) {
            behaviour_.handle(state, {}, adapted);
        } else {
            behaviour_.handle(state, payload, adapted);
        }
    }

  protected:
    const Behaviour& behaviour_;
};

/// A rollback copies the state back.
class CopiedModel : public BehaviourModel<CopiedModel> {
  public:
    using BehaviourModel::BehaviourModel;
    using Payload = Behaviour::Payload;
    using Record = Behaviour::Record;
};

/// The same without records, and with events without a payload: the kernel codes them more tightly than others.
class BareEventsModel : public BehaviourModel<BareEventsModel> {
  public:
    using BehaviourModel::BehaviourModel;
    struct Payload {
        bool operator==(const Payload&) const = default;
    };
};

/// A rollback copies the state back. Some LPs are conservative. There are no records.
class MixedModel : public BehaviourModel<MixedModel> {
  public:
    using BehaviourModel::BehaviourModel;
    using Payload = Behaviour::Payload;

    [[nodiscard]] bool conservative(std::uint32_t lp) const { return behaviour_.conservative(lp); }
};

/// A rollback calls the reverse handler.
class ReversibleModel : public BehaviourModel<ReversibleModel> {
  public:
    using BehaviourModel::BehaviourModel;
    using Payload = Behaviour::Payload;
    using Record = Behaviour::Record;
    static constexpr bool needs_lookahead = true;

    template <class C>
    void reverse(State& state, const Payload& payload, C& context) const {
        ReverseContextOf<Behaviour::ReverseContext, C> adapted(context);
        behaviour_.reverse(state, payload, adapted);
    }
};

/// A rollback restores saved fields. LPs may keep something outside of their state.
template <class M>
class SavingBehaviourModel : public BehaviourModel<M> {
  public:
    using BehaviourModel<M>::BehaviourModel;
    using Payload = Behaviour::Payload;
    using Record = Behaviour::Record;
    static constexpr bool needs_lookahead = true;
    static constexpr bool saves_fields = true;

    template <class Archive>
    void serialise(std::uint32_t lp, Archive& archive) const {
        if (std::uint64_t* kept = this->behaviour_.kept_outside(lp)) {
            archive(*kept);
        }
    }
};

class SavingModel : public SavingBehaviourModel<SavingModel> {
  public:
    using SavingBehaviourModel::SavingBehaviourModel;
};

/// Some LPs are conservative.
class MixedSavingModel : public SavingBehaviourModel<MixedSavingModel> {
  public:
    using SavingBehaviourModel::SavingBehaviourModel;
    [[nodiscard]] bool conservative(std::uint32_t lp) const { return behaviour_.conservative(lp); }
};

/// The model receives the committed records, and computes its digest.
class CommittingModel : public SavingBehaviourModel<CommittingModel> {
  public:
    using SavingBehaviourModel::SavingBehaviourModel;
    void commit(std::uint32_t lp, Time time, const Record& record) const { behaviour_.commit(lp, time, record); }
    [[nodiscard]] std::uint64_t digest(std::uint32_t lp, const State& state) const {
        return behaviour_.digest(lp, state);
    }
};

}  // namespace idlewave::testing
