//! Which question about a value is asked next.
//!
//! The windows next to the likely value decide it and cost the most; a bound further out is proven
//! by a tree that is smaller the further out it lies. So the windows in the middle come first, and
//! whenever one of them is not decided within its patience, both bounds are brought in a little
//! before it is asked again with twice the patience. What was learned stays in the memory, and a
//! search that is stopped has bounds worth having.

/// Positions visited before it is worth searching for the likely value.
const UNGUESSED: u64 = 50_000;

/// Positions that the first window in the middle may take before bounds further out are proven.
const PATIENCE: u64 = 4_000_000;

/// How much less the windows on either side may take than the one in the middle.
const SIDE_SHARE: u64 = 4;

/// The width of the first step inwards, in seeds, and of the shortest.
const STEPS: (i32, i32) = (8, 2);

/// Who is asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Next to the first guess, which may be a bad one.
    First,
    /// Next to the likely value.
    Middle,
    /// Brings in the lower bound.
    Below,
    /// Brings in the upper bound.
    Above,
}

/// Is the value at least `threshold`? Given up after about so many positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) threshold: i32,
    pub(super) nodes: u64,
}

/// The bounds of a value and the way they are brought together.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    lower: i32,
    upper: i32,
    turn: Turn,
    /// The threshold in the middle.
    middle: i32,
    patience: u64,
    /// Positions left in this turn.
    left: u64,
    /// Steps inwards from below and from above.
    steps: [i32; 2],
}

impl Windows {
    /// Begins with proven bounds and a guess, which may be far off.
    pub(super) const fn new((lower, upper): (i32, i32), guess: i32) -> Windows {
        Windows {
            lower,
            upper,
            turn: Turn::First,
            middle: guess,
            patience: PATIENCE,
            left: UNGUESSED,
            steps: [STEPS.0; 2],
        }
    }

    /// Returns the proven bounds.
    pub(super) const fn bounds(&self) -> (i32, i32) {
        (self.lower, self.upper)
    }

    /// Tells whether the first guess did not lead to the value soon.
    pub(super) fn wants_guess(&self) -> bool {
        self.turn == Turn::First && self.left == 0 && self.lower < self.upper
    }

    /// Puts the likely value in the middle, if there is one.
    pub(super) fn guess(&mut self, value: Option<i32>) {
        self.middle = value.unwrap_or(self.middle);
        self.turn = Turn::Middle;
        self.left = self.patience;
    }

    /// Returns what to ask now, `None` if the bounds have met.
    pub(super) fn ask(&mut self) -> Option<Window> {
        if self.lower >= self.upper {
            return None;
        }
        loop {
            let middle = self.middle.clamp(self.lower + 1, self.upper);
            let threshold = match self.turn {
                Turn::First | Turn::Middle => middle,
                Turn::Below => (middle - STEPS.1).min(self.lower + self.steps[0]),
                Turn::Above => (middle + STEPS.1).max(self.upper - self.steps[1] + 1),
            };
            if self.lower < threshold && threshold <= self.upper {
                return Some(Window {
                    threshold,
                    nodes: self.left,
                });
            }
            // Nothing but the middle is left between this bound and it.
            self.pass();
        }
    }

    /// Takes the answer to what was asked: a bound on one side of the threshold, or `None` if it
    /// was given up after so many positions.
    pub(super) fn learn(&mut self, window: Window, bound: Option<i32>, nodes: u64) {
        let inner = matches!(self.turn, Turn::First | Turn::Middle);
        match bound {
            // Values of one position nearly always have the parity of its seeds.
            Some(bound) if bound >= window.threshold => {
                self.lower = self.lower.max(bound);
                if inner {
                    self.middle = self.lower + 2;
                }
            }
            Some(bound) => {
                self.upper = self.upper.min(bound);
                if inner {
                    self.middle = self.upper - 1;
                }
            }
            None => self.shorten(),
        }
        if self.turn == Turn::Middle && bound.is_some() {
            return;
        }
        self.left = self.left.saturating_sub(nodes);
        if bound.is_none() {
            self.left = 0;
        }
        if self.left == 0 && self.turn != Turn::First {
            self.pass();
        }
    }

    /// Takes shorter steps where the last one was too long.
    fn shorten(&mut self) {
        match self.turn {
            Turn::Below => self.steps[0] = (self.steps[0] / 2).max(STEPS.1),
            Turn::Above => self.steps[1] = (self.steps[1] / 2).max(STEPS.1),
            Turn::First | Turn::Middle => {}
        }
    }

    /// Gives the turn to the next.
    fn pass(&mut self) {
        let side = self.patience / SIDE_SHARE;
        (self.turn, self.left) = match self.turn {
            Turn::First | Turn::Middle => (Turn::Below, side),
            Turn::Below => (Turn::Above, side),
            Turn::Above => {
                self.patience = self.patience.saturating_mul(2);
                (Turn::Middle, self.patience)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a proof costs: the more the nearer the threshold is to the value.
    fn cost(value: i32, threshold: i32, most: u64) -> u64 {
        let away = value.abs_diff(threshold).min(40);
        (most >> away).max(1)
    }

    /// Asks until the bounds have met or `budget` positions are spent; the bounds at any moment.
    fn play(value: i32, guess: i32, most: u64, budget: u64) -> (Vec<(i32, i32)>, u64) {
        let mut windows = Windows::new((-64, 64), 1);
        let (mut spent, mut all) = (0, vec![windows.bounds()]);
        while spent < budget
            && let Some(window) = windows.ask()
        {
            let cost = cost(value, window.threshold, most);
            let (bound, nodes) = match cost {
                cost if cost > window.nodes => (None, window.nodes),
                cost if value >= window.threshold => (Some(window.threshold), cost),
                cost => (Some(window.threshold - 1), cost),
            };
            windows.learn(window, bound, nodes);
            spent += nodes;
            if windows.wants_guess() {
                windows.guess(Some(guess));
            }
            all.push(windows.bounds());
        }
        (all, spent)
    }

    #[test]
    fn bounds_meet_in_every_value_from_every_guess() {
        for value in -64..=64 {
            for guess in [-100, -7, 0, 6, 100] {
                for most in [1, 1 << 20, 1 << 30] {
                    let (all, _) = play(value, guess, most, u64::MAX);
                    assert_eq!(all.last(), Some(&(value, value)), "{guess} {most}");
                    for pair in all.windows(2) {
                        assert!(pair[0].0 <= pair[1].0 && pair[1].1 <= pair[0].1);
                        assert!(pair[1].0 <= value && value <= pair[1].1);
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_come_in_where_the_middle_is_out_of_reach() {
        // The proof at the value would take 2^40 positions.
        let (all, spent) = play(6, 4, 1 << 40, 100_000_000);
        assert!(spent < 200_000_000);
        let &(lower, upper) = all.last().expect("bounds");
        assert!(-14 <= lower && upper <= 26, "{lower} to {upper}");
    }

    #[test]
    fn easy_values_are_never_looked_at_from_afar() {
        let mut windows = Windows::new((-64, 64), 1);
        let mut asked = Vec::new();
        while let Some(window) = windows.ask() {
            asked.push(window.threshold);
            let bound = if window.threshold <= 4 {
                window.threshold
            } else {
                window.threshold - 1
            };
            windows.learn(window, Some(bound), 1000);
        }
        assert_eq!(asked, [1, 3, 5, 4]);
    }
}
