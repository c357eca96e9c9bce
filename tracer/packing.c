#include "packing.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

// The first byte of a record: the kind, and how many bytes, less one, the gap and the duration have.
enum { FOLLOWS = 1, REPEATS = 2, NEW = 3, GAP_SHIFT = 2, DURATION_SHIFT = 5 };

enum { SLOTS = 2048, CALLS = 256, REFERENCE = 8, BEFORE = 3, FIXED = 8 };
enum { STORED_WORDS = 1 << 21 };  // at most, which bounds the memory

typedef struct {
    uint64_t hash;  // of call, info and words
    uint64_t* words;
    uint32_t room;
    uint32_t count;
    uint16_t next;  // the slot of the record that followed the last time; 0: none
    uint8_t call;   // 0: nothing is stored here
    uint8_t info;
} Stored;

static struct {
    Stored stored[SLOTS + 1];  // from 1 on
    uint16_t last;             // the slot of the last record that is stored; 0: none
    size_t words;              // stored
    uint64_t reference[CALLS][REFERENCE];
} packing;

void packing_start(void) {
    for (size_t i = 0; i <= SLOTS; i++)
        packing.stored[i] = (Stored){.words = packing.stored[i].words, .room = packing.stored[i].room};
    packing.last = 0;
    packing.words = 0;
    memset(packing.reference, 0, sizeof packing.reference);
}

size_t packing_room(size_t count) {
    return 1 + 2 * sizeof(uint64_t) + FIXED + (count + 1) / 2 + count * sizeof(uint64_t) + sizeof(uint64_t);
}

static unsigned size_of(uint64_t number) {
    return number == 0 ? 0 : (71U - (unsigned)__builtin_clzll(number)) / 8;
}

// A number whose small absolute values are small.
static uint64_t zigzag(int64_t number) {
    return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
}

// Writes the low `size` bytes; those behind them become zero.
static char* put(char* at, uint64_t number, unsigned size) {
    memcpy(at, &number, sizeof number);
    return at + size;
}

static bool is_stored(uint16_t slot, const Content* content) {
    const Stored* stored = &packing.stored[slot];
    if (stored->call != content->call || stored->info != content->info || stored->count != content->count) return false;
    for (size_t i = 0; i < content->count; i++) {
        if (stored->words[i] != content->words[i]) return false;
    }
    return true;
}

// The words are multiplied independently of one another: a record with new words would wait for a chain of products.
static uint64_t hash_of(const Content* content) {
    const uint64_t factor = 0x9E3779B97F4A7C15;  // of Fibonacci hashing
    uint64_t hash = content->call | (uint64_t)content->info << 8;
    for (size_t i = 0; i < content->count; i++) {
        const uint64_t product = content->words[i] * factor;
        const unsigned turn = 1 + 11 * (unsigned)i % 63;  // another one for each of 63, so that their order counts
        hash += product << turn | product >> (64 - turn);
    }
    hash = (hash ^ hash >> 32) * factor;
    return hash ^ hash >> 32;
}

static uint16_t slot_of(uint64_t hash) {
    return (uint16_t)(1 + hash % SLOTS);
}

// Whether the same record may come again: polls and waits have other times.
static bool may_repeat(unsigned call) {
    return call != CALL_POLLS && call != CALL_CORE_WAIT;
}

// Few words are copied in place, which takes less than a call.
static void copy(uint64_t* to, const uint64_t* from, size_t count) {
    if (count > REFERENCE) {
        memcpy(to, from, count * sizeof *from);
        return;
    }
    for (size_t i = 0; i < count; i++) to[i] = from[i];
}

// Stores a record. Returns its slot, or 0 without the memory.
static uint16_t store(uint64_t hash, const Content* content) {
    const uint16_t slot = slot_of(hash);
    Stored* stored = &packing.stored[slot];
    if (packing.words - stored->count + content->count > STORED_WORDS) return 0;
    if (stored->room < content->count || !stored->words) {
        const size_t room = content->count < REFERENCE ? REFERENCE : content->count;
        uint64_t* words = realloc(stored->words, room * sizeof *words);
        if (!words) return 0;
        stored->words = words;
        stored->room = (uint32_t)room;
    }
    packing.words += content->count - stored->count;
    copy(stored->words, content->words, content->count);
    stored->hash = hash;
    stored->count = (uint32_t)content->count;
    stored->call = (uint8_t)content->call;
    stored->info = (uint8_t)content->info;
    stored->next = 0;
    return slot;
}

// Writes the words as differences: the first ones to those of the last such call, so that a tag that counts up or
// another request is small; the others to the third before, as lists of completions have three words for each. Their
// sizes lie before them, two in a byte.
static char* put_words(char* at, const Content* content, uint64_t* reference) {
    char* sizes = at;
    at += (content->count + 1) / 2;
    uint64_t next_sizes = 0;  // of up to sixteen words; in a register, as the next word would wait for memory
    for (size_t i = 0; i < content->count; i++) {
        const uint64_t word = content->words[i];
        const uint64_t from = i >= REFERENCE ? content->words[i - BEFORE] : reference ? reference[i] : 0;
        const uint64_t difference = zigzag((int64_t)(word - from));
        const unsigned size = size_of(difference);
        next_sizes |= (uint64_t)size << (i % 16 * 4);
        at = put(at, difference, size);
        if (i < REFERENCE && reference) reference[i] = word;
        if (i % 16 == 15) {
            memcpy(sizes, &next_sizes, sizeof next_sizes);
            sizes += sizeof next_sizes;
            next_sizes = 0;
        }
    }
    memcpy(sizes, &next_sizes, (content->count % 16 + 1) / 2);
    return at;
}

static char* put_new(char* at, const Content* content, uint16_t slot) {
    const uint64_t fixed = (uint64_t)slot | (uint64_t)(content->call & 0xff) << 16 |
                           (uint64_t)(content->info & 0xff) << 24 | (uint64_t)(uint32_t)content->count << 32;
    at = put(at, fixed, FIXED);
    return put_words(at, content, slot == 0 ? NULL : packing.reference[content->call]);
}

size_t packing_write(char* at, Content content, int64_t gap, int64_t duration) {
    uint16_t slot = packing.stored[packing.last].next;
    uint64_t hash = 0;
    int kind = FOLLOWS;
    if (slot == 0 || !is_stored(slot, &content)) {
        hash = hash_of(&content);
        slot = may_repeat(content.call) ? slot_of(hash) : 0;
        kind = slot != 0 && packing.stored[slot].hash == hash && is_stored(slot, &content) ? REPEATS : NEW;
    }
    const uint64_t gap_number = zigzag(gap);
    const unsigned gap_size = size_of(gap_number | 1);
    const unsigned duration_size = size_of((uint64_t)duration | 1);
    char* next = put(at + 1, gap_number, gap_size);
    next = put(next, (uint64_t)duration, duration_size);
    if (kind == REPEATS) next = put(next, slot, sizeof slot);
    if (kind == NEW) {
        if (slot != 0) slot = store(hash, &content);
        next = put_new(next, &content, slot);
    }
    if (slot != 0) {
        packing.stored[packing.last].next = packing.last != 0 ? slot : 0;
        packing.last = slot;
    }
    const unsigned first = (unsigned)kind | (gap_size - 1) << GAP_SHIFT | (duration_size - 1) << DURATION_SHIFT;
    atomic_store_explicit((_Atomic unsigned char*)at, (unsigned char)first, memory_order_release);
    return (size_t)(next - at);
}
