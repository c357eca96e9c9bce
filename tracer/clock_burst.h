// A burst of questions for another rank's clock, and what it says of the offset. For the tracer and for the
// probe of clocks: in the part of C11 that is C++ as well.
//
// Cristian's method (1989): the answer was read somewhere between question and return, so each exchange holds
// the offset between two bounds. What delays a message only widens them; so the highest of the lower bounds
// and the lowest of the upper ones, which may come from two exchanges, hold it best (the envelope of SKaMPI's
// synchronisation: T. Worsch, R. Reussner, W. Augustin, On benchmarking collective MPI operations, 2002). What
// no number of exchanges cures is a path that is never as short in one direction as in the other.
#ifndef IDLEWAVE_CLOCK_BURST_H
#define IDLEWAVE_CLOCK_BURST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t (*read)(const void* context);  // ns
    const void* context;
} ClockSource;

typedef struct {
    int64_t asked;     // the asking rank's clock, ns
    int64_t answer;    // the other's
    int64_t answered;  // the asking rank's again
} ClockExchange;

typedef struct {
    int64_t offset;  // the other clock minus this one's, ns
    int64_t error;   // it is not further off than this, ns
    int64_t at;      // this rank's clock when it held, ns
} ClockOffset;

// A burst goes on until BURST_IDLE exchanges in a row have narrowed nothing by a fiftieth.
enum { BURST_LEAST = 15, BURST_MOST = 60, BURST_IDLE = 10, BURST_TAG_ASK = 2, BURST_TAG_ANSWER = 3, BURST_TAG_END = 4 };

// Clocks drift by less than one part in this.
enum { BURST_DRIFT = 10000 };

static inline ClockOffset clock_offset_between(ClockExchange low, ClockExchange high) {
    const int64_t low_at = low.asked + (low.answered - low.asked) / 2;
    const int64_t high_at = high.asked + (high.answered - high.asked) / 2;
    const int64_t apart = high_at > low_at ? high_at - low_at : low_at - high_at;
    const int64_t lower = low.answer - low.answered - apart / BURST_DRIFT;
    const int64_t upper = high.answer - high.asked + apart / BURST_DRIFT;
    ClockOffset found;
    found.offset = lower + (upper - lower) / 2;
    found.error = (upper - lower + 1) / 2;
    found.at = low_at + (high_at - low_at) / 2;
    return found;
}

// The offset by `count` exchanges, at least one: between the best bounds of all, or by the shortest round trip where
// that is nearer (bounds that were taken long apart are widened by what clocks may drift meanwhile).
static inline ClockOffset clock_estimate(const ClockExchange* exchanges, int count) {
    ClockExchange low = exchanges[0];
    ClockExchange high = exchanges[0];
    ClockExchange shortest = exchanges[0];
    for (int i = 1; i < count; i++) {
        const ClockExchange e = exchanges[i];
        if (e.answer - e.answered > low.answer - low.answered) low = e;
        if (e.answer - e.asked < high.answer - high.asked) high = e;
        if (e.answered - e.asked < shortest.answered - shortest.asked) shortest = e;
    }
    const ClockOffset single = clock_offset_between(shortest, shortest);
    const ClockOffset both = clock_offset_between(low, high);
    return both.error > 0 && both.error < single.error ? both : single;
}

// The asking side. Returns how many exchanges there were, at most BURST_MOST, which `exchanges` has room for.
static inline int clock_ask(MPI_Comm comm, int other, ClockSource clock, ClockExchange* exchanges) {
    int count = 0;
    int idle = 0;
    int64_t error = INT64_MAX;
    while (count < BURST_MOST && (count < BURST_LEAST || idle < BURST_IDLE)) {
        ClockExchange* e = &exchanges[count++];
        e->asked = clock.read(clock.context);
        PMPI_Send(NULL, 0, MPI_BYTE, other, BURST_TAG_ASK, comm);
        PMPI_Recv(&e->answer, 1, MPI_INT64_T, other, BURST_TAG_ANSWER, comm, MPI_STATUS_IGNORE);
        e->answered = clock.read(clock.context);
        const int64_t now = clock_estimate(exchanges, count).error;
        idle = now < error - error / 50 ? 0 : idle + 1;
        if (now < error) error = now;
    }
    PMPI_Send(NULL, 0, MPI_BYTE, other, BURST_TAG_END, comm);
    return count;
}

// The answering side: until the other has enough.
static inline void clock_answer(MPI_Comm comm, int other, ClockSource clock) {
    while (true) {
        MPI_Status status;
        PMPI_Recv(NULL, 0, MPI_BYTE, other, MPI_ANY_TAG, comm, &status);
        if (status.MPI_TAG != BURST_TAG_ASK) return;
        const int64_t answer = clock.read(clock.context);
        PMPI_Send(&answer, 1, MPI_INT64_T, other, BURST_TAG_ANSWER, comm);
    }
}

#endif
