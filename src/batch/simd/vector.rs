//! The operations on 64 lanes of bytes that the lockstep kernel is written in.

/// Games in one block.
pub(crate) const LANES: usize = 64;

/// One byte of every lane.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Row(pub(crate) [u8; LANES]);

impl Row {
    pub(crate) const ZERO: Row = Row([0; LANES]);
}

/// The most pits of a board that lies in lanes: twice round the ring fits a row.
pub(crate) const MAX_PITS: usize = 32;

/// The four state words of every lane's [`Xoshiro128PlusPlus`](crate::rng::Xoshiro128PlusPlus).
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Streams(pub(crate) [[u32; LANES]; 4]);

/// For the end of every lap on a ring gone round twice, `0..=2N`: which pits lie before it an odd
/// number of times, eight pits to a row.
///
/// Two ends that are less than `N` apart differ in exactly the pits between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefixes(pub(crate) [Row; MAX_PITS / 8]);

impl Prefixes {
    pub(crate) fn new(pits: usize) -> Prefixes {
        let mut rows = [Row::ZERO; MAX_PITS / 8];
        for end in 1..=(2 * pits).min(LANES - 1) {
            let pit = (end - 1) % pits;
            for (group, row) in rows.iter_mut().enumerate() {
                let flip = if pit / 8 == group { 1 << (pit % 8) } else { 0 };
                row.0[end] = row.0[end - 1] ^ flip;
            }
        }
        Prefixes(rows)
    }
}

/// Work that is written once for every set of instructions.
///
/// Implementations of `run` are marked `#[inline(always)]`: only inlined into the function that
/// switches the instructions on are the operations single instructions.
pub(crate) trait Kernel {
    type Output;

    fn run<V: Vector>(self, v: V) -> Self::Output;
}

/// A set of instructions for 64 lanes of bytes; a value proves that the processor has them.
///
/// Comparisons and numbers are unsigned. The twin of every implementation is
/// [`Portable`](super::portable::Portable), which is plain Rust.
pub(crate) trait Vector: Copy {
    /// A byte of every lane in registers.
    type Bytes: Copy;
    /// A flag of every lane in registers.
    type Mask: Copy;
    /// Where the seeds of one lap fall.
    type Lap: Copy;
    /// What [`by_bit`](Vector::by_bit) tells apart.
    type Choice: Copy;

    /// Laps that random games sow between two looks at who has ended (measured).
    const BURST: usize;

    /// Sowings that take longer side by side than one after the other.
    const FEW: u32;

    fn load(self, row: &Row) -> Self::Bytes;
    fn store(self, bytes: Self::Bytes, row: &mut Row);
    fn splat(self, byte: u8) -> Self::Bytes;
    fn add(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    fn sub(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    fn min(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    fn max(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    fn eq(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask;
    /// Compares `a < b`.
    fn lt(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask;
    /// Compares `a < b` where both are below 128.
    fn lt_small(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask;
    /// Flags the lanes whose byte is odd.
    fn odd(self, a: Self::Bytes) -> Self::Mask;
    /// Flags the lanes whose byte is not zero.
    fn some(self, a: Self::Bytes) -> Self::Mask;
    fn and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Returns `a` without `b`.
    fn without(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn xor(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Takes `a` where the flag is set and `b` elsewhere.
    fn select(self, mask: Self::Mask, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    /// Adds one where the flag is set.
    fn increment(self, a: Self::Bytes, mask: Self::Mask) -> Self::Bytes;
    /// Adds where the flag is set.
    fn add_where(self, a: Self::Bytes, mask: Self::Mask, b: Self::Bytes) -> Self::Bytes;
    /// Keeps where the flag is set, zero elsewhere.
    fn keep(self, a: Self::Bytes, mask: Self::Mask) -> Self::Bytes;
    /// Sets to zero where the flag is set.
    fn clear(self, a: Self::Bytes, mask: Self::Mask) -> Self::Bytes;
    /// Returns the flags as bits, lane 0 the lowest.
    fn bits(self, mask: Self::Mask) -> u64;
    fn mask(self, bits: u64) -> Self::Mask;

    /// Tells lanes apart by bit `bit` of a byte, 0 to 4.
    fn by_bit(self, a: Self::Bytes, bit: u32) -> Self::Choice;
    /// Takes `one` where the bit is set and `zero` elsewhere.
    fn choose(self, choice: Self::Choice, one: Self::Bytes, zero: Self::Bytes) -> Self::Bytes;

    /// Takes the byte of the lane that each byte of `lanes` names, below 64.
    fn of_lanes(self, row: &Row, lanes: Self::Bytes) -> Self::Bytes;
    /// Deals the first bytes of a queue, of at least 64, to the lanes of a set in order; the others keep theirs.
    fn deal(self, queue: &[u8], lanes: u64, old: Self::Bytes) -> Self::Bytes;
    /// Moves the bytes of the lanes of a set to the front of `out`, of at least 64 bytes, in order;
    /// any bytes follow them.
    fn pack(self, bytes: Self::Bytes, lanes: u64, out: &mut [u8]);

    /// Prepares a lap that drops `rest` seeds, fewer than there are pits, from the pit `first` on,
    /// which may also be the number of pits and is pit 0 then.
    fn begin_lap(
        self,
        prefixes: &Prefixes,
        pits: usize,
        first: Self::Bytes,
        rest: Self::Bytes,
    ) -> Self::Lap;
    /// Drops a lap's seed into `pit` where it has one for it; called for every pit in turn.
    fn drop_seed(self, lap: &mut Self::Lap, pit: usize, seeds: Self::Bytes) -> Self::Bytes;
    /// Does the same after emptying the pit in the lanes that lift it.
    #[inline(always)]
    fn lift_and_drop(
        self,
        lap: &mut Self::Lap,
        pit: usize,
        seeds: Self::Bytes,
        lift: Self::Bytes,
    ) -> Self::Bytes {
        let left = self.clear(seeds, self.eq(lift, self.splat(pit as u8)));
        self.drop_seed(lap, pit, left)
    }

    /// Draws a number below `bounds` in the lanes of `lanes`, as [`below`](crate::rng::below)
    /// does; other lanes draw nothing and get 0.
    fn below(self, streams: &mut Streams, lanes: u64, bounds: Self::Bytes) -> Self::Bytes;
}

/// A lap as the steps from its first pit to the pit whose turn it is, for sets of instructions
/// without a look-up in 64 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps<V: Vector> {
    steps: V::Bytes,
    rest: V::Bytes,
    count: V::Bytes,
}

impl<V: Vector> Steps<V> {
    /// Starts at pit 0; the arguments are those of [`Vector::begin_lap`].
    #[inline(always)]
    pub(crate) fn new(v: V, pits: usize, first: V::Bytes, rest: V::Bytes) -> Steps<V> {
        let count = v.splat(pits as u8);
        let steps = v.sub(count, first);
        Steps {
            steps: v.min(steps, v.sub(steps, count)),
            rest,
            count,
        }
    }

    /// Does what [`Vector::drop_seed`] does and goes on to the next pit.
    #[inline(always)]
    pub(crate) fn drop_seed(&mut self, v: V, seeds: V::Bytes) -> V::Bytes {
        let seeds = v.increment(seeds, v.lt_small(self.steps, self.rest));
        let steps = v.add(self.steps, v.splat(1));
        self.steps = v.min(steps, v.sub(steps, self.count));
        seeds
    }
}

/// Does what [`Vector::deal`] does, lane by lane.
#[inline(always)]
pub(super) fn deal_each<V: Vector>(v: V, queue: &[u8], mut lanes: u64, old: V::Bytes) -> V::Bytes {
    let mut row = Row::ZERO;
    v.store(old, &mut row);
    for &byte in &queue[..LANES] {
        if lanes == 0 {
            break;
        }
        row.0[lanes.trailing_zeros() as usize % LANES] = byte;
        lanes &= lanes - 1;
    }
    v.load(&row)
}

/// Does what [`Vector::pack`] does, lane by lane.
#[inline(always)]
pub(super) fn pack_each<V: Vector>(v: V, bytes: V::Bytes, mut lanes: u64, out: &mut [u8]) {
    let mut row = Row::ZERO;
    v.store(bytes, &mut row);
    for byte in &mut out[..LANES] {
        if lanes == 0 {
            break;
        }
        *byte = row.0[lanes.trailing_zeros() as usize % LANES];
        lanes &= lanes - 1;
    }
}
