//! The transposition table of the alpha-beta player.
//!
//! It remembers what earlier visits proved about a position. Threads share it without locks: an
//! entry is two words, and the first holds the key mixed with the second, so that words of two
//! different entries do not pass for one (Hyatt and Mann 2002).

use std::sync::atomic::{AtomicU64, Ordering};

/// Entries that share a cache line; a position may be kept in any one of its line.
const WAYS: usize = 4;

/// Fewer lines than this would leave bits of the key that neither place nor entry tells.
const LEAST_LINES: usize = 1 << GENERATION_BITS;

/// Bits of the first word that tell the search an entry belongs to.
const GENERATION_BITS: u32 = 8;

/// Bits of a bound: 32,767 seeds of 256 units, and the sign.
const BOUND_BITS: u32 = 24;

/// What is known of a position that was searched to some depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The least it can be worth to its mover.
    pub(super) lower: i32,
    /// The most it can be worth to its mover.
    pub(super) upper: i32,
    /// The plies it was searched to, below 128.
    pub(super) depth: u8,
    /// The column that did best, below 64.
    pub(super) column: u8,
}

impl Entry {
    fn to_word(self) -> u64 {
        let bound = |value: i32| u64::from(value as u32) & ((1 << BOUND_BITS) - 1);
        bound(self.lower)
            | bound(self.upper) << BOUND_BITS
            | u64::from(self.depth) << (2 * BOUND_BITS)
            | u64::from(self.column) << (2 * BOUND_BITS + 8)
    }

    fn of_word(word: u64) -> Entry {
        let bound = |word: u64| (word as i32) << (32 - BOUND_BITS) >> (32 - BOUND_BITS);
        Entry {
            lower: bound(word),
            upper: bound(word >> BOUND_BITS),
            depth: (word >> (2 * BOUND_BITS)) as u8,
            column: (word >> (2 * BOUND_BITS + 8)) as u8,
        }
    }
}

/// Two words: the key mixed with the entry, and the entry.
#[derive(Debug, Default)]
struct Slot([AtomicU64; 2]);

#[derive(Debug, Default)]
#[repr(align(64))]
struct Line([Slot; WAYS]);

/// A table of a size fixed when it is made.
#[derive(Debug, Default)]
pub(super) struct Table {
    lines: Box<[Line]>,
    /// The search whose entries hold; 0 is nobody's.
    generation: u8,
}

impl Table {
    /// Makes an empty table of at most `bytes`, rounded down to a power of two; one of less than
    /// 16 KiB keeps nothing.
    pub(super) fn new(bytes: usize) -> Table {
        let lines = bytes / size_of::<Line>();
        let lines = match lines.checked_ilog2() {
            Some(bits) if lines >= LEAST_LINES => 1 << bits,
            _ => 0,
        };
        Table {
            lines: (0..lines).map(|_| Line::default()).collect(),
            generation: 0,
        }
    }

    /// Forgets all entries, by a new generation; the memory is wiped once in 255 times.
    pub(super) fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.generation = 1;
            for line in &mut self.lines {
                *line = Line::default();
            }
        }
    }

    fn line(&self, key: u64) -> Option<&Line> {
        self.lines
            .get(key as usize & self.lines.len().wrapping_sub(1))
    }

    /// Returns the first word of an entry, unmixed: the place of a line tells the lowest bits of
    /// the key, which make room for the generation.
    fn tag(&self, key: u64) -> u64 {
        (key >> GENERATION_BITS << GENERATION_BITS) | u64::from(self.generation)
    }

    /// Looks a position up by its key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Entry> {
        let tag = self.tag(key);
        self.line(key)?.0.iter().find_map(|slot| {
            let [first, second] = slot.load();
            (first ^ second == tag).then(|| Entry::of_word(second))
        })
    }

    /// Keeps an entry, in the place of what is least worth keeping in its line: the same
    /// position, an entry of an earlier search, or the shallowest one.
    #[inline]
    pub(super) fn put(&self, key: u64, entry: Entry) {
        let Some(line) = self.line(key) else {
            return;
        };
        let tag = self.tag(key);
        let worth = |slot: &&Slot| {
            let [first, second] = slot.load();
            let old = first ^ second;
            if old == tag {
                0
            } else if old as u8 == self.generation {
                2 + u32::from(Entry::of_word(second).depth)
            } else {
                1
            }
        };
        if let Some(slot) = line.0.iter().min_by_key(worth) {
            slot.store([tag, entry.to_word()]);
        }
    }
}

impl Slot {
    #[inline]
    fn load(&self) -> [u64; 2] {
        let Slot([first, second]) = self;
        [
            first.load(Ordering::Relaxed),
            second.load(Ordering::Relaxed),
        ]
    }

    #[inline]
    fn store(&self, [tag, word]: [u64; 2]) {
        let Slot([first, second]) = self;
        first.store(tag ^ word, Ordering::Relaxed);
        second.store(word, Ordering::Relaxed);
    }
}
