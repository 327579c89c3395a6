//! The random streams of 64 games side by side.

use crate::batch::simd::LANES;
use crate::rng;

/// The state words of every lane's [`Xoshiro128PlusPlus`](rng::Xoshiro128PlusPlus).
///
/// In plain loops over arrays the generator's arithmetic is done for many lanes at once.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Streams([[u32; LANES]; 4]);

impl Streams {
    pub(super) const NONE: Streams = Streams([[0; LANES]; 4]);

    /// Gives a lane a stream by its state.
    pub(super) fn set(&mut self, lane: usize, words: [u32; 4]) {
        for (of_lanes, word) in self.0.iter_mut().zip(words) {
            of_lanes[lane] = word;
        }
    }

    /// Returns a lane's stream as it is.
    pub(super) fn stream(&self, lane: usize) -> rng::Xoshiro128PlusPlus {
        rng::stream_of_words(self.0.map(|of_lanes| of_lanes[lane]))
    }

    /// Returns a lane's stream as it was before its last word.
    pub(super) fn stream_before(&self, lane: usize) -> rng::Xoshiro128PlusPlus {
        let [n0, n1, n2, n3] = self.0.map(|of_lanes| of_lanes[lane]);
        let t3 = n3.rotate_right(11);
        let s0 = n0 ^ t3;
        let shifted = n1 ^ n2;
        let s1 = shifted ^ shifted << 9 ^ shifted << 18 ^ shifted << 27;
        let s2 = n1 ^ s1 ^ s0;
        rng::stream_of_words([s0, s1, s2, t3 ^ s1])
    }

    /// Draws a number below its bound in every lane, as [`rng::below`] does.
    #[inline(always)]
    pub(super) fn below(&mut self, bounds: &[u32; LANES], numbers: &mut [u32; LANES]) {
        for lane in 0..LANES {
            let word = self.step(lane);
            numbers[lane] = ((u64::from(word) * u64::from(bounds[lane])) >> 32) as u32;
        }
    }

    /// Draws one word in a lane.
    #[inline(always)]
    pub(super) fn step(&mut self, lane: usize) -> u32 {
        let [s0, s1, s2, s3] = &mut self.0;
        rng::next_word([&mut s0[lane], &mut s1[lane], &mut s2[lane], &mut s3[lane]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, RngCore};

    #[test]
    fn lanes_draw_what_their_streams_draw_and_can_go_back() {
        let mut streams = Streams::NONE;
        let mut twins = Vec::new();
        for lane in 0..LANES {
            streams.set(lane, rng::stream_words(lane as u64, 0, Purpose::Play));
            twins.push(rng::stream(lane as u64, 0, Purpose::Play));
        }
        let bounds = std::array::from_fn(|lane| 1 + lane as u32);
        let mut numbers = [0; LANES];
        for _ in 0..200 {
            let before = twins.clone();
            streams.below(&bounds, &mut numbers);
            for lane in 0..LANES {
                assert_eq!(numbers[lane], rng::below(&mut twins[lane], bounds[lane]));
                assert_eq!(streams.stream(lane), twins[lane]);
                assert_eq!(streams.stream_before(lane), before[lane]);
            }
        }
        assert_eq!(streams.step(5), twins[5].next_u32());
        assert_eq!(streams.stream(5), twins[5]);
    }
}
