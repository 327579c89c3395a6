//! Bounds of positions, shared by all threads without locks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::search::solver::field::Key;

/// Words of a line of the cache.
const LINE: usize = 8;

/// The column of an entry that knows none.
pub(super) const NO_COLUMN: u8 = 0x7E;

/// Plies from which on an entry is worth a place in a file.
const DEAR: u8 = 3;

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Proven: the value is at least this.
    pub(super) lower: i32,
    /// Proven: the value is at most this.
    pub(super) upper: i32,
    /// Not proven: what a search of `depth` plies said, a lower bound if `above`, else an upper.
    pub(super) guess: i32,
    /// Whether `guess` is a lower bound.
    pub(super) above: bool,
    /// Plies searched, 0 to 255.
    pub(super) depth: u8,
    /// The move to look at first, or [`NO_COLUMN`].
    pub(super) column: u8,
}

impl Entry {
    /// Knows nothing of a position with so many seeds.
    pub(super) const fn open(seeds: i32) -> Entry {
        Entry {
            lower: -seeds,
            upper: seeds,
            guess: 0,
            above: false,
            depth: 0,
            column: NO_COLUMN,
        }
    }

    fn pack(self) -> u64 {
        let low = |number: i32| u64::from(number as i16 as u16);
        low(self.lower)
            | low(self.upper) << 16
            | low(self.guess) << 32
            | u64::from(self.depth) << 48
            | u64::from(self.column.wrapping_add(1) & 0x7F) << 56
            | u64::from(self.above) << 63
    }

    /// Tells whether an entry took more than the search of a few plies.
    pub(super) fn is_dear(word: u64) -> bool {
        Entry::unpack(word).depth >= DEAR
    }

    fn unpack(word: u64) -> Entry {
        let number = |shift: u32| i32::from((word >> shift) as i16);
        Entry {
            lower: number(0),
            upper: number(16),
            guess: number(32),
            above: word >> 63 == 1,
            depth: (word >> 48) as u8,
            column: ((word >> 56) as u8 & 0x7F).wrapping_sub(1),
        }
    }
}

/// A transposition table of four entries a line.
///
/// An entry is two words: what is known, and the tag mixed with it, so that an entry written by
/// two threads at once is taken for nobody's (Hyatt and Mann 2002).
#[derive(Debug)]
pub(super) struct Memory {
    words: Box<[AtomicU64]>,
    /// Words before the first that begins a line of the cache.
    offset: usize,
    lines: u64,
}

impl Memory {
    /// Allocates about so many bytes, at least a line; `None` if the system refuses.
    ///
    /// The system gives the pages when they are first written.
    pub(super) fn new(bytes: u64) -> Option<Memory> {
        let lines = (bytes / (8 * LINE as u64)).max(1);
        let words = usize::try_from(lines)
            .ok()?
            .checked_add(1)?
            .checked_mul(LINE)?;
        let words: Box<[AtomicU64]> = bytemuck::allocation::try_zeroed_slice_box(words).ok()?;
        let offset = words.as_ptr().align_offset(8 * LINE).min(LINE);
        Some(Memory {
            words,
            offset,
            lines,
        })
    }

    /// Returns its size in bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.lines * 8 * LINE as u64
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        for word in &self.words {
            if word.load(Ordering::Relaxed) != 0 {
                word.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Lists every entry: its tag and what is known.
    pub(super) fn entries(&self) -> impl Iterator<Item = [u64; 2]> {
        self.words[self.offset..]
            .chunks_exact(2)
            .filter_map(|pair| {
                let known = pair[0].load(Ordering::Relaxed);
                (known != 0).then(|| [pair[1].load(Ordering::Relaxed) ^ known, known])
            })
    }

    /// Takes an entry of another memory; `place` is that of its tag.
    pub(super) fn take(&self, place: u64, [tag, known]: [u64; 2]) {
        self.store(Key { place, tag }, Entry::unpack(known));
    }

    #[inline]
    fn line(&self, key: Key) -> &[AtomicU64] {
        let line = ((u128::from(key.place) * u128::from(self.lines)) >> 64) as usize;
        let first = self.offset + line * LINE;
        &self.words[first..first + LINE]
    }

    /// Begins to fetch the line of a position.
    #[inline]
    pub(super) fn touch(&self, key: Key) -> u64 {
        self.line(key)[0].load(Ordering::Relaxed)
    }

    /// Returns what is known of a position.
    #[inline]
    pub(super) fn probe(&self, key: Key) -> Option<Entry> {
        for pair in self.line(key).chunks_exact(2) {
            let known = pair[0].load(Ordering::Relaxed);
            if pair[1].load(Ordering::Relaxed) ^ known == key.tag && known != 0 {
                return Some(Entry::unpack(known));
            }
        }
        None
    }

    /// Keeps what is known of a position, in the place of what took the least work.
    #[inline]
    pub(super) fn store(&self, key: Key, entry: Entry) {
        let line = self.line(key);
        let (mut at, mut least) = (0, u32::MAX);
        for (index, pair) in line.chunks_exact(2).enumerate() {
            let known = pair[0].load(Ordering::Relaxed);
            if known != 0 && pair[1].load(Ordering::Relaxed) ^ known == key.tag {
                at = index;
                break;
            }
            let work = if known == 0 {
                0
            } else {
                1 + u32::from(Entry::unpack(known).depth)
            };
            if work < least {
                (at, least) = (index, work);
            }
        }
        let known = entry.pack();
        line[2 * at].store(known, Ordering::Relaxed);
        line[2 * at + 1].store(known ^ key.tag, Ordering::Relaxed);
    }
}
