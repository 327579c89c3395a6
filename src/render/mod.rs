//! Pictures of positions: plain text for terminals, SVG for notebooks and pages, pixels for videos.
//!
//! All show the board as South sees it: North's row above, from North's right to its left, so
//! that opposite pits face each other (B2). SVG and pixels draw one and the same scene:
//!
//! ```text
//! scene ──┬── svg ── film   text; a game that moves
//! (shapes)└── pixels        RGB bytes, letters from `glyphs`
//! ```
//!
//! A scene is a wooden board on its own background, so that it stands on light and dark pages. Every
//! pit shows its seeds, the first 60 of them as discs, and their number; columns that the side to move
//! may play have a bright rim and label; captured seeds lie in the tray of their owner. Boards of
//! more than 16 columns are cut into bands, one below the other, each with the two rows that face
//! each other.
//!
//! | columns | width | height |
//! |---|---|---|
//! | 1 to 5 | 384 | 352 |
//! | 6 to 16 | 64 for each column, and 64 | 352 |
//! | 17 to 32, in 2 bands | 64 for each column of a band, and 64 | 560 |
//! | 33 to 48, in 3 bands | the same | 768 |
//! | 49 to 64, in 4 bands | the same | 976 |

mod ansi;
mod film;
mod glyphs;
mod pixels;
mod scene;
mod seeds;
mod svg;
mod way;

pub use ansi::ansi;
pub use film::svg_of_game;
pub use pixels::{MAX_SCALE, Picture, PictureError, pixels, pixels_of_move};
pub use svg::{svg, svg_of_move};

use crate::position::{Outcome, Position};
use crate::side::Side;

/// Lists a row's columns from the left of the picture to its right.
fn shown_columns(position: &Position, side: Side) -> impl Iterator<Item = usize> {
    let columns = position.board().columns();
    (0..columns).map(move |place| match side {
        Side::South => place,
        Side::North => columns - 1 - place,
    })
}

fn is_playable(position: &Position, side: Side, column: usize) -> bool {
    side == position.to_move() && position.legal_moves().contains(column)
}

const fn title(side: Side) -> &'static str {
    match side {
        Side::South => "South",
        Side::North => "North",
    }
}

/// Says whose turn it is, or how the game ended.
fn status(position: &Position) -> String {
    let (Some(outcome), Some(reason)) = (position.outcome(), position.end_reason()) else {
        let mover = title(position.to_move());
        return match position.quiet() {
            0 => format!("{mover} to move"),
            1 => format!("{mover} to move, 1 ply without a capture"),
            quiet => format!("{mover} to move, {quiet} plies without a capture"),
        };
    };
    match outcome {
        Outcome::Win(side) => format!("{} wins ({})", title(side), reason.name()),
        Outcome::Draw => format!("draw ({})", reason.name()),
    }
}
