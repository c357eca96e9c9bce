// MPI's messages: send and receive. The receiver takes part in each, and what it does is here, too.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "common/page.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"

namespace idlewave::probe::one_sided {

class TwoSided {
  public:
    static constexpr const char* name = "mpi";

    explicit TwoSided(const Job& job) : job_(job), sent_(job.room), received_(job.room) {}

    static std::vector<Operation> operations() {
        return {Operation::ping_pong, Operation::acknowledged, Operation::call, Operation::flood, Operation::overlap};
    }

    // Of the origin.
    Times run(const Item& item, int times) {
        const int size = static_cast<int>(item.size);
        const auto start = [&] {
            MPI_Irecv(nullptr, 0, MPI_CHAR, 1, answer_tag, MPI_COMM_WORLD, &requests_[0]);
            MPI_Isend(sent_.data(), size, MPI_CHAR, 1, data_tag, MPI_COMM_WORLD, &requests_[1]);
        };
        const auto complete = [&] { MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE); };
        switch (item.operation) {
            case Operation::ping_pong:
                return timed(times, [&] {
                    MPI_Send(sent_.data(), size, MPI_CHAR, 1, data_tag, MPI_COMM_WORLD);
                    MPI_Recv(received_.data(), size, MPI_CHAR, 1, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                });
            case Operation::acknowledged:
                return timed(times, [&] {
                    MPI_Send(sent_.data(), size, MPI_CHAR, 1, data_tag, MPI_COMM_WORLD);
                    MPI_Recv(nullptr, 0, MPI_CHAR, 1, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                });
            case Operation::call:
                return timed_start(
                    job_, times,
                    [&] { MPI_Isend(sent_.data(), size, MPI_CHAR, 1, data_tag, MPI_COMM_WORLD, requests_.data()); },
                    [&] {
                        MPI_Wait(requests_.data(), MPI_STATUS_IGNORE);
                        MPI_Recv(nullptr, 0, MPI_CHAR, 1, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    });
            case Operation::overlap:
                return timed_overlap(job_, times, start, complete);
            default:
                return timed(times, [&] { flood(item); });
        }
    }

    // Of each rank that receives, rank 1 and in a flood also those after it.
    void serve(const Item& item, int times) {
        const int messages = item.operation == Operation::overlap ? 2 * times : times;
        const int back = item.operation == Operation::ping_pong ? static_cast<int>(item.size) : 0;
        for (int i = 0; i < messages; ++i) {
            if (item.operation == Operation::flood) {
                receive_window(item);
            } else {
                MPI_Recv(received_.data(), static_cast<int>(item.size), MPI_CHAR, 0, data_tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            }
            MPI_Send(sent_.data(), back, MPI_CHAR, 0, answer_tag, MPI_COMM_WORLD);
        }
    }

  private:
    // To one link after the other; each answers when it has all.
    void flood(const Item& item) {
        const int all = item.window * item.links;
        for (int i = 0; i < all; ++i) {
            MPI_Isend(sent_.data(), static_cast<int>(item.size), MPI_CHAR, 1 + i % item.links, data_tag, MPI_COMM_WORLD,
                      &requests_[static_cast<std::size_t>(i)]);
        }
        MPI_Waitall(all, requests_.data(), MPI_STATUSES_IGNORE);
        for (int link = 1; link <= item.links; ++link) {
            MPI_Recv(nullptr, 0, MPI_CHAR, link, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }

    void receive_window(const Item& item) {
        for (int i = 0; i < item.window; ++i) {
            MPI_Irecv(received_.data(), static_cast<int>(item.size), MPI_CHAR, 0, data_tag, MPI_COMM_WORLD,
                      &requests_[static_cast<std::size_t>(i)]);
        }
        MPI_Waitall(item.window, requests_.data(), MPI_STATUSES_IGNORE);
    }

    static constexpr int data_tag = 41;
    static constexpr int answer_tag = 42;

    const Job& job_;
    ProgramBuffer sent_;
    ProgramBuffer received_;
    std::array<MPI_Request, std::size_t{most_window} * most_links> requests_{};
};

}  // namespace idlewave::probe::one_sided
