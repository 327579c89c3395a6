//! Where the pairs of a tournament start: random openings, or a book of positions.

use std::collections::HashSet;

use thiserror::Error;

use crate::batch::opening;
use crate::notation::NotationError;
use crate::position::Position;
use crate::rng::{self, Purpose};
use crate::ruleset::Ruleset;

/// The most positions of a book.
const MAX_POSITIONS: usize = 1 << 16;

/// Positions that pairs of games start from, all different and open.
///
/// As text a book has one position a line. What follows a tab is a note, as what the position is
/// worth; empty lines and those that start with `#` say nothing.
///
/// ```
/// use endodoi::arena::Book;
/// use endodoi::Variant;
///
/// let ruleset = Variant::CrossEndodoi.ruleset();
/// let text = "# One position.\n3,3,3,0,4,4/4,3,3,3,3,3 N 0-0 1\t+2\n";
/// let book = Book::parse(text, &ruleset)?;
/// assert_eq!(book.positions().len(), 1);
/// # Ok::<(), endodoi::arena::BookError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    positions: Vec<Position>,
}

/// Why a book is refused.
#[derive(Debug, Error)]
pub enum BookError {
    /// A line is no position of the rules.
    #[error("line {line} of the book: {error}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        error: NotationError,
    },
    /// No game can start from a position that is over.
    #[error("position {index} of the book, {text}, is over")]
    Over {
        /// The position, from 0.
        index: usize,
        /// The position.
        text: String,
    },
    /// The position has other rules than the first one.
    #[error("position {index} of the book is one of {got}, the first one of {expected}")]
    Rules {
        /// The position, from 0.
        index: usize,
        /// Its rules.
        got: String,
        /// Those of the first position.
        expected: String,
    },
    /// The position is there twice.
    #[error("position {index} of the book, {text}, is there twice")]
    Twice {
        /// The position, from 0.
        index: usize,
        /// The position.
        text: String,
    },
    /// Nothing, or more than can be drawn from.
    #[error("the book holds {positions} positions, expected 1 to {MAX_POSITIONS}")]
    Size {
        /// The positions given.
        positions: usize,
    },
}

impl Book {
    /// Makes a book of open positions, all different and of the same rules.
    ///
    /// # Errors
    /// [`BookError`] names the first position that cannot be played from.
    pub fn new(positions: Vec<Position>) -> Result<Book, BookError> {
        let mut seen = HashSet::new();
        let (Some(first), 1..=MAX_POSITIONS) = (positions.first(), positions.len()) else {
            let positions = positions.len();
            return Err(BookError::Size { positions });
        };
        for (index, position) in positions.iter().enumerate() {
            if position.ruleset() != first.ruleset() {
                return Err(BookError::Rules {
                    index,
                    got: position.ruleset().to_string(),
                    expected: first.ruleset().to_string(),
                });
            }
            let text = position.to_string();
            if position.is_over() {
                return Err(BookError::Over { index, text });
            }
            if !seen.insert(*position) {
                return Err(BookError::Twice { index, text });
            }
        }
        Ok(Book { positions })
    }

    /// Reads a book from its text.
    ///
    /// # Errors
    /// [`BookError`] names the first line that is no position, or a position as [`Book::new`].
    pub fn parse(text: &str, ruleset: &Ruleset) -> Result<Book, BookError> {
        let read = |(index, line): (usize, &str)| {
            let position = line.split('\t').next().unwrap_or("").trim();
            if position.is_empty() || position.starts_with('#') {
                return None;
            }
            let position = Position::from_text(position, ruleset);
            let line = index + 1;
            Some(position.map_err(|error| BookError::Line { line, error }))
        };
        let positions = text.lines().enumerate().filter_map(read);
        Book::new(positions.collect::<Result<_, _>>()?)
    }

    /// Returns the positions in the order given.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Returns the rules of all positions.
    pub fn ruleset(&self) -> &Ruleset {
        self.positions[0].ruleset()
    }

    /// Shuffles the order in which the positions are played by a seed.
    fn order(&self, seed: u64) -> Vec<Position> {
        let mut order = self.positions.clone();
        let mut stream = rng::stream(seed, 0, Purpose::Opening);
        for last in (1..order.len()).rev() {
            order.swap(last, rng::below(&mut stream, last as u32 + 1) as usize);
        }
        order
    }
}

/// What the pairs of a tournament start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Openings {
    /// So many random legal plies from the start of the game, 0 to 10,000; an opening that ends
    /// the game is drawn again.
    Random {
        /// The plies.
        plies: u32,
    },
    /// The positions of a book, each once, in an order drawn by the seed.
    Book(Book),
}

/// What both games of one pair start with, whoever plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The first position.
    pub start: Position,
    /// The columns played from there before the players choose.
    pub moves: Vec<u8>,
    /// The position after them.
    pub position: Position,
}

/// The openings of one seed: opening `p` depends on (seed, `p`) and the kind of openings alone.
#[derive(Clone, Debug)]
pub(crate) struct Drawer {
    ruleset: Ruleset,
    seed: u64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Random { plies: u32 },
    Ordered(Vec<Position>),
}

impl Drawer {
    pub(crate) fn new(openings: &Openings, ruleset: &Ruleset, seed: u64) -> Drawer {
        let kind = match openings {
            Openings::Random { plies } => Kind::Random { plies: *plies },
            Openings::Book(book) => Kind::Ordered(book.order(seed)),
        };
        Drawer {
            ruleset: *ruleset,
            seed,
            kind,
        }
    }

    /// Draws the opening of a pair, `None` where the book has no more or every opening drawn
    /// ended the game.
    pub(crate) fn opening(&self, pair: u32) -> Option<Opening> {
        match &self.kind {
            Kind::Random { plies } => {
                let start = Position::start(&self.ruleset);
                let row_seed = rng::mix(self.seed, pair.into());
                let (position, moves) = opening::draw_moves(&start, *plies, row_seed, 0)?;
                Some(Opening {
                    start,
                    moves,
                    position,
                })
            }
            Kind::Ordered(order) => order.get(pair as usize).map(|&start| Opening {
                start,
                moves: Vec::new(),
                position: start,
            }),
        }
    }
}
