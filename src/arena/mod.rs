//! Tournaments and paired matches between players, with intervals; regret, the seeds that a
//! player's moves lose.
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
//!
//! A tournament is a schedule of pairs that the settings fix. Any part of it can be played by
//! itself, anywhere; the games together make the standings.
//!
//! ```
//! use std::ops::ControlFlow;
//! use endodoi::arena::{Standings, TournamentConfig, different_names, play_chunks};
//! use endodoi::policy::{AlphaBeta, Greedy, Random};
//! use endodoi::Variant;
//!
//! let config = TournamentConfig::new(Variant::CrossEndodoi.ruleset(), 20);
//! let names = different_names(&["random", "greedy", "alphabeta:2"]);
//! let (mut random, mut greedy, mut deep) = (Random, Greedy::default(), AlphaBeta::new(2)?);
//! let chunks = config.chunks(names.len(), 5);
//! let games = play_chunks(
//!     &config,
//!     &mut [&mut random, &mut greedy, &mut deep],
//!     &chunks,
//!     None,
//!     &mut |_finished| ControlFlow::Continue(()),
//! )?;
//! let standings = Standings::of(&config, &names, &games)?;
//! assert_eq!(standings.games, 60);
//! println!("{standings}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod interval;
mod openings;
mod pairs;
mod played;
mod ratings;
mod regret;
mod sprt;
mod standings;
mod standings_text;
mod table;
mod tournament;

pub use interval::{paired_interval, paired_interval_of};
pub use openings::{Book, BookError, Opening, Openings};
pub use pairs::{ArenaError, Forfeits, MatchResult, PairConfig, PairedGame, play_pairs};
pub use played::{GameNote, MoveTimes, TournamentGame};
pub use ratings::{
    Draws, Estimate, FirstMove, PairOutcome, PlayerRating, RatingConfig, RatingError, RatingFlag,
    Ratings, fit_ratings,
};
pub use regret::{
    Answer, Exam, ExamConfig, ExamProgress, MoveWorth, Phase, Question, Reference, Regret,
    RegretError, RegretPart, WatchExam, regret_table,
};
pub use sprt::{EloModel, Hypothesis, SprtConfig, SprtError, SprtResult};
pub use standings::{PairingStanding, PlayerStanding, SouthStanding, Standings};
pub use table::table;
pub use tournament::{Chunk, TournamentConfig, TournamentError, different_names, play_chunks};
