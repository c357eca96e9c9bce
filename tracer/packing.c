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
    uint64_t* words;
    size_t room;
    size_t count;
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

static uint16_t slot_of(const Content* content) {
    const uint64_t factor = 0x9E3779B97F4A7C15;
    uint64_t hash = (content->call | (uint64_t)content->info << 8) * factor;
    for (size_t i = 0; i < content->count; i++) {
        hash = (hash ^ content->words[i]) * factor;
        hash ^= hash >> 29;
    }
    return (uint16_t)(1 + (hash >> 32) % SLOTS);
}

// Whether the same record may come again: polls and waits have other times.
static bool may_repeat(unsigned call) {
    return call != CALL_POLLS && call != CALL_CORE_WAIT;
}

// Stores a record. Returns its slot, or 0 without the memory.
static uint16_t store(uint16_t slot, const Content* content) {
    Stored* stored = &packing.stored[slot];
    if (packing.words - stored->count + content->count > STORED_WORDS) return 0;
    if (stored->room < content->count || !stored->words) {
        const size_t room = content->count < REFERENCE ? REFERENCE : content->count;
        uint64_t* words = realloc(stored->words, room * sizeof *words);
        if (!words) return 0;
        stored->words = words;
        stored->room = room;
    }
    packing.words += content->count - stored->count;
    if (content->count > 0) memcpy(stored->words, content->words, content->count * sizeof *content->words);
    stored->count = content->count;
    stored->call = (uint8_t)content->call;
    stored->info = (uint8_t)content->info;
    stored->next = 0;
    return slot;
}

// Writes the words as differences: the first ones to those of the last such call, so that a tag that counts up or
// another request is small; the others to the third before, as lists of completions have three words for each.
static char* put_words(char* at, const Content* content, uint64_t* reference) {
    unsigned char* sizes = (unsigned char*)at;
    memset(sizes, 0, (content->count + 1) / 2);
    at += (content->count + 1) / 2;
    for (size_t i = 0; i < content->count; i++) {
        const uint64_t word = content->words[i];
        const uint64_t from = i >= REFERENCE ? content->words[i - BEFORE] : reference ? reference[i] : 0;
        const uint64_t difference = zigzag((int64_t)(word - from));
        const unsigned size = size_of(difference);
        sizes[i / 2] |= (unsigned char)(size << (i % 2 * 4));
        at = put(at, difference, size);
        if (i < REFERENCE && reference) reference[i] = word;
    }
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
    int kind = FOLLOWS;
    if (slot == 0 || !is_stored(slot, &content)) {
        slot = may_repeat(content.call) ? slot_of(&content) : 0;
        kind = slot != 0 && is_stored(slot, &content) ? REPEATS : NEW;
    }
    const uint64_t gap_number = zigzag(gap);
    const unsigned gap_size = size_of(gap_number | 1);
    const unsigned duration_size = size_of((uint64_t)duration | 1);
    char* next = put(at + 1, gap_number, gap_size);
    next = put(next, (uint64_t)duration, duration_size);
    if (kind == REPEATS) next = put(next, slot, sizeof slot);
    if (kind == NEW) {
        if (slot != 0) slot = store(slot, &content);
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
