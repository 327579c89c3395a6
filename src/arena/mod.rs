//! Paired matches between players, with intervals; regret, the seeds that a player's moves lose.
//!
//! A pair is two games from one random opening with the sides swapped. The opening is the unit of
//! every interval: the two games of a pair are not independent of each other.
//!
//! ```
//! use endodoi::arena::{PairConfig, play_pairs};
//! use endodoi::policy::{Greedy, Random};
//! use endodoi::Variant;
//!
//! let config = PairConfig::new(Variant::CrossEndodoi.ruleset(), 40);
//! let result = play_pairs(&mut Greedy::default(), &mut Random, &config)?;
//! assert_eq!(result.wins + result.draws + result.losses, 40);
//! assert!(result.score > 0.5 && result.interval.0 < result.score);
//! println!("{}", endodoi::arena::table(&[("random", &result)]));
//! # Ok::<(), endodoi::arena::ArenaError>(())
//! ```

mod interval;
mod pairs;
mod ratings;
mod regret;
mod table;

pub use interval::paired_interval;
pub use pairs::{ArenaError, Forfeits, MatchResult, PairConfig, PairedGame, play_pairs};
pub use ratings::{
    Draws, Estimate, FirstMove, PairOutcome, PlayerRating, RatingConfig, RatingError, RatingFlag,
    Ratings, fit_ratings,
};
pub use regret::{
    Answer, Exam, ExamConfig, ExamProgress, MoveWorth, Phase, Question, Reference, Regret,
    RegretError, RegretPart, WatchExam, regret_table,
};
pub use table::table;
