//! What a ply does to the numbers of 64 games, all lanes in one loop.
//!
//! The loops are plain; run as kernels they are compiled for the instructions of the processor.

// Kernels must be inlined into the functions that switch the instructions on.
#![allow(clippy::inline_always)]

use crate::batch::LANES;
use crate::batch::simd::{Kernel, Row, Vector};

/// Spreads the bits of a byte over eight bytes.
const SPREAD: [[i8; 8]; 256] = spread();

const fn spread() -> [[i8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> bit & 1) as i8;
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Spreads a set of lanes over bytes, 255 in each of its lanes.
#[inline(always)]
fn bytes_of<V: Vector>(v: V, lanes: u64) -> Row {
    let mut row = Row::ZERO;
    v.store(v.select(v.mask(lanes), v.splat(255), v.splat(0)), &mut row);
    row
}

/// Collects the lanes whose byte is not 0.
#[inline(always)]
fn lanes_of_bytes<V: Vector>(v: V, row: &Row) -> u64 {
    v.bits(v.some(v.load(row)))
}

/// Reads the actions of a block and finds the lanes whose action is a legal column.
pub(super) struct Choose<'a> {
    /// At most 64.
    pub(super) actions: &'a [i64],
    pub(super) legal: &'a [u64; LANES],
    /// Gets the columns of these lanes; in other lanes, any number.
    pub(super) columns: &'a mut [u8; LANES],
}

impl Kernel for Choose<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> u64 {
        let mut chosen = Row::ZERO;
        let lanes = self.actions.iter().zip(self.legal);
        for (((&action, &legal), column), chosen) in
            lanes.zip(self.columns.iter_mut()).zip(&mut chosen.0)
        {
            let inside = u8::from((0..64).contains(&action));
            *column = action as u8;
            *chosen = (legal >> (action as u64 & 63)) as u8 & inside & 1;
        }
        lanes_of_bytes(v, &chosen)
    }
}

/// Counts a ply: seeds taken, quiet plies, plies.
pub(super) struct Count<'a> {
    /// Lanes that played a column.
    pub(super) played: u64,
    /// Lanes whose sowing came to an end.
    pub(super) landed: u64,
    /// Lanes in which North played.
    pub(super) north: u64,
    /// Seeds taken; 0 in other lanes than those of `landed`.
    pub(super) taken: &'a [u16; LANES],
    pub(super) captured: &'a mut [[u16; LANES]; 2],
    pub(super) quiet: &'a mut [u16; LANES],
    pub(super) plies: &'a mut [u32; LANES],
}

impl Kernel for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let landed = bytes_of(v, self.landed);
        let north = bytes_of(v, self.north);
        let played = bytes_of(v, self.played);
        let [south_has, north_has] = self.captured;
        for lane in 0..LANES {
            let taken = self.taken[lane];
            let of_north = u16::from(north.0[lane] & 1).wrapping_neg() & taken;
            south_has[lane] = south_has[lane].wrapping_add(taken - of_north);
            north_has[lane] = north_has[lane].wrapping_add(of_north);
            let next = if taken > 0 {
                0
            } else {
                self.quiet[lane].wrapping_add(1)
            };
            self.quiet[lane] = if landed.0[lane] > 0 {
                next
            } else {
                self.quiet[lane]
            };
            self.plies[lane] = self.plies[lane].wrapping_add(u32::from(played.0[lane] & 1));
        }
    }
}

/// Finds the lanes whose game may be over (E1, E3, E4).
pub(super) struct FindOver<'a> {
    pub(super) legal: &'a [u64; LANES],
    pub(super) quiet: &'a [u16; LANES],
    pub(super) plies: &'a [u32; LANES],
    pub(super) quiet_limit: u16,
    pub(super) max_plies: u32,
}

impl Kernel for FindOver<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> u64 {
        let mut over = Row::ZERO;
        for lane in 0..LANES {
            let stuck = u8::from(self.legal[lane] == 0);
            let quiet = u8::from(self.quiet[lane] >= self.quiet_limit);
            let cut = u8::from(self.plies[lane] >= self.max_plies);
            over.0[lane] = stuck | quiet | cut;
        }
        lanes_of_bytes(v, &over)
    }
}

/// Writes the last three numbers of every observation: own captured, other captured, quiet plies.
pub(super) struct WriteRest<'a> {
    /// Lanes in which North is to move.
    pub(super) north: u64,
    pub(super) captured: &'a [[u16; LANES]; 2],
    pub(super) quiet: &'a [u16; LANES],
    /// `i16[rows, length]`.
    pub(super) out: &'a mut [i16],
    pub(super) length: usize,
}

impl Kernel for WriteRest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let north = bytes_of(v, self.north);
        let [south_has, north_has] = self.captured;
        let mut rest = [[0_u16; 4]; LANES];
        for lane in 0..LANES {
            let of_north = north.0[lane] > 0;
            let (own, other) = (south_has[lane], north_has[lane]);
            let (own, other) = if of_north { (other, own) } else { (own, other) };
            rest[lane] = [own, other, self.quiet[lane], 0];
        }
        for (out, rest) in self.out.chunks_exact_mut(self.length).zip(&rest) {
            let out = &mut out[self.length - 3..];
            out[0] = rest[0] as i16;
            out[1] = rest[1] as i16;
            out[2] = rest[2] as i16;
        }
    }
}

/// Writes the seeds captured by South and North, `i16[rows, 2]`.
pub(super) fn write_captured(captured: &[[u16; LANES]; 2], out: &mut [i16]) {
    let [south_has, north_has] = captured;
    let pairs = out.as_chunks_mut::<2>().0;
    for ((pair, &south), &north) in pairs.iter_mut().zip(south_has).zip(north_has) {
        *pair = [south as i16, north as i16];
    }
}

/// Writes a set of lanes, 1 in each of its lanes.
pub(super) struct WriteLanes<'a> {
    pub(super) lanes: u64,
    /// At most 64.
    pub(super) out: &'a mut [i8],
}

impl Kernel for WriteLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let row = bytes_of(v, self.lanes);
        for (out, byte) in self.out.iter_mut().zip(row.0) {
            *out = (byte & 1) as i8;
        }
    }
}

/// Writes sets of columns, `i8[rows, C]`.
pub(super) fn write_masks(legal: &[u64; LANES], columns: usize, out: &mut [i8]) {
    match columns {
        6 => write_short_masks::<6>(legal, out),
        8 => write_short_masks::<8>(legal, out),
        _ => {
            for (out, &legal) in out.chunks_exact_mut(columns).zip(legal) {
                for (out, byte) in out.chunks_mut(8).zip(legal.to_le_bytes()) {
                    out.copy_from_slice(&SPREAD[usize::from(byte)][..out.len()]);
                }
            }
        }
    }
}

fn write_short_masks<const C: usize>(legal: &[u64; LANES], out: &mut [i8]) {
    for (out, &legal) in out.as_chunks_mut::<C>().0.iter_mut().zip(legal) {
        out.copy_from_slice(&SPREAD[usize::from(legal as u8)][..C]);
    }
}
