//! What a position is worth where the search stops.

/// Judges positions at the leaves of an alpha-beta search, one at a time.
///
/// Ends of the game never reach it: they are exact. The batched evaluator of tree search is
/// [`crate::search::Evaluator`].
///
/// ```
/// use endodoi::search::{AlphaBetaConfig, AlphaBetaSearch, LeafEvaluator, SearchLimit};
/// use endodoi::{Position, Variant};
///
/// /// Counts half of what lies before each side as won by it.
/// #[derive(Clone)]
/// struct Halves;
///
/// impl LeafEvaluator for Halves {
///     const UNITS: i32 = 2;
///
///     fn margin(&mut self, pits: &[u16]) -> i32 {
///         let seeds = |row: &[u16]| row.iter().map(|&seeds| i32::from(seeds)).sum::<i32>();
///         let (own, other) = pits.split_at(pits.len() / 2);
///         seeds(own) - seeds(other)
///     }
/// }
///
/// let start = Position::start(&Variant::EnDodoi.ruleset());
/// let config = AlphaBetaConfig::new(SearchLimit::Depth(3));
/// let found = AlphaBetaSearch::with_evaluator(config, Halves)?.search(&start)?;
/// assert_eq!(found.depth, 3);
/// # Ok::<(), endodoi::search::SearchError>(())
/// ```
pub trait LeafEvaluator: Clone + Send {
    /// Units in a seed, 1 to 256: bounds and values of the search are whole numbers of units.
    const UNITS: i32;

    /// Whether every leaf is worth 0, which spares the search the boards of its last ply.
    const ALWAYS_ZERO: bool = false;

    /// Hears of a position whose moves all lead to leaves, before these are judged.
    ///
    /// `pits` is as in [`LeafEvaluator::margin`], from the view of the side to move there, which
    /// is not the side to move at the leaves. It must not change what a leaf is worth: it is for
    /// evaluators that keep something of a position for the positions next to it.
    fn approach(&mut self, _pits: &[u16]) {}

    /// Returns the seeds that the side to move still takes less those the other side still takes,
    /// in units.
    ///
    /// `pits` is `u16[2C]`: the mover's row from his left, then the other row from its owner's
    /// left. No other part of the position may count, so that equal boards are worth the same
    /// wherever they are met. What is above the seeds on the board is cut to them.
    fn margin(&mut self, pits: &[u16]) -> i32;
}

/// The captured difference: nobody is taken to win anything more after a leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedCount;

impl LeafEvaluator for SeedCount {
    const UNITS: i32 = 1;
    const ALWAYS_ZERO: bool = true;

    fn margin(&mut self, _pits: &[u16]) -> i32 {
        0
    }
}
