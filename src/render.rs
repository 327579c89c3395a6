//! Pictures of positions: plain text for terminals, SVG for notebooks.
//!
//! Both show the board as South sees it: North's row above, from North's right to its left, so
//! that opposite pits face each other (B2).

use crate::position::{Outcome, Position};
use crate::side::Side;

/// Draws a position as lines of plain text, without a line end after the last.
///
/// Column numbers stand outside the rows; a column that the side to move may play is in brackets.
///
/// ```
/// use endodoi::{render, Position, Variant};
/// let text = render::ansi(&Position::start(&Variant::CrossEndodoi.ruleset()));
/// assert_eq!(text, "\
/// North   5   4   3   2   1   0
///         3   3   3   3   3   3   captured 0
///         3   3   3   3   3   3   captured 0
/// South  [0] [1] [2] [3] [4] [5]
/// South to move");
/// ```
pub fn ansi(position: &Position) -> String {
    let width = cell_width(position);
    let numbers = |side: Side| {
        let cells = shown_columns(position, side).map(|column| {
            if is_playable(position, side, column) {
                format!("{:>width$}]", format!("[{column}"))
            } else {
                format!("{column:>width$} ")
            }
        });
        format!("{} {}", title(side), cells.collect::<String>())
    };
    let seeds = |side: Side| {
        let row = position.board().row(side);
        let cells = shown_columns(position, side).map(|column| format!("{:>width$} ", row[column]));
        let captured = position.board().captured()[side.index()];
        format!("      {}  captured {captured}", cells.collect::<String>())
    };
    let lines = [
        numbers(Side::North).trim_end().to_owned(),
        seeds(Side::North),
        seeds(Side::South),
        numbers(Side::South).trim_end().to_owned(),
        status(position),
    ];
    lines.join("\n")
}

/// Draws a position as an SVG picture that needs no style sheet, font file or script.
///
/// Pits that the side to move may play have a bright rim; captured seeds stand at the owner's
/// right.
///
/// ```
/// use endodoi::{render, Position, Variant};
/// let picture = render::svg(&Position::start(&Variant::EnDodoi.ruleset()));
/// assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>"));
/// assert_eq!(picture.matches("<circle").count(), 16);
/// ```
pub fn svg(position: &Position) -> String {
    let columns = position.board().columns();
    let width = 2 * MARGIN + columns * PIT;
    let status_y = HEIGHT - 10;
    let mut parts = vec![
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" \
             width=\"{width}\" style=\"max-width:100%;min-width:{}px;height:auto\" role=\"img\" \
             font-family=\"sans-serif\" text-anchor=\"middle\">",
            columns * SMALLEST_PIT
        ),
        format!("<title>{position}</title>"),
        format!(
            "<rect width=\"{width}\" height=\"{HEIGHT}\" rx=\"14\" fill=\"#7a5230\"/>\
             <rect x=\"{MARGIN}\" y=\"{ROWS_TOP}\" width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#8f6339\"/>",
            columns * PIT,
            2 * PIT
        ),
    ];
    for (side, row) in [(Side::North, 0), (Side::South, 1)] {
        for (place, column) in shown_columns(position, side).enumerate() {
            parts.push(svg_pit(position, side, column, (place, row)));
        }
        parts.push(svg_captured(position, side, width));
    }
    parts.push(format!(
        "<text x=\"{}\" y=\"{status_y}\" font-size=\"13\" fill=\"#fff3e0\">{}</text></svg>",
        width / 2,
        status(position)
    ));
    parts.concat()
}

/// Width and height of a pit's square, in SVG units.
const PIT: usize = 48;
/// Width of a pit below which a wide board is not shrunk: its numbers would be too small to read.
const SMALLEST_PIT: usize = 26;
/// Space left and right of the rows, for the captured seeds.
const MARGIN: usize = 72;
/// Top of North's row.
const ROWS_TOP: usize = 26;
/// Height of the whole picture: two rows with their numbers, and the line of the status.
const HEIGHT: usize = ROWS_TOP + 2 * PIT + 46;

fn svg_pit(position: &Position, side: Side, column: usize, (place, row): (usize, usize)) -> String {
    let x = MARGIN + place * PIT + PIT / 2;
    let y = ROWS_TOP + row * PIT + PIT / 2;
    let number_y = if side == Side::North {
        ROWS_TOP - 8
    } else {
        ROWS_TOP + 2 * PIT + 16
    };
    let seeds = position.board().row(side)[column];
    let rim = if is_playable(position, side, column) {
        "#ffd54f"
    } else {
        "#5a3a20"
    };
    let colour = if seeds == 0 { "#8a6f57" } else { "#fff3e0" };
    let font = if seeds < 1000 { 18 } else { 13 };
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"20\" fill=\"#4a2f19\" stroke=\"{rim}\" stroke-width=\"2.5\"/>\
         <text x=\"{x}\" y=\"{}\" font-size=\"{font}\" fill=\"{colour}\">{seeds}</text>\
         <text x=\"{x}\" y=\"{number_y}\" font-size=\"11\" fill=\"#e0c9ab\">{column}</text>",
        y + 6
    )
}

/// Writes the captured seeds at the owner's right: South's on the right, North's on the left.
fn svg_captured(position: &Position, side: Side, width: usize) -> String {
    let name = title(side);
    let x = match side {
        Side::South => width - MARGIN / 2,
        Side::North => MARGIN / 2,
    };
    let middle = ROWS_TOP + PIT;
    let captured = position.board().captured()[side.index()];
    format!(
        "<text x=\"{x}\" y=\"{}\" font-size=\"13\" fill=\"#e0c9ab\">{name}</text>\
         <text x=\"{x}\" y=\"{}\" font-size=\"22\" fill=\"#fff3e0\">{captured}</text>",
        middle - 10,
        middle + 16
    )
}

/// Lists a row's columns from the left of the picture to its right.
fn shown_columns(position: &Position, side: Side) -> impl Iterator<Item = usize> {
    let columns = position.board().columns();
    (0..columns).map(move |place| match side {
        Side::South => place,
        Side::North => columns - 1 - place,
    })
}

/// Returns the width of a cell: the longest number or column with its bracket, and a space.
fn cell_width(position: &Position) -> usize {
    let most = position.board().pits().iter().max().copied().unwrap_or(0);
    let last = position.board().columns() - 1;
    let digits = |number: usize| number.to_string().len();
    1 + digits(usize::from(most)).max(digits(last) + 1)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruleset::{Ruleset, RulesetFields, Variant};

    fn ruleset(columns: i64) -> Ruleset {
        let fields = RulesetFields {
            columns: Some(columns),
            ..RulesetFields::default()
        };
        Ruleset::new(Variant::EnDodoi, &fields).unwrap()
    }

    #[test]
    fn opposite_pits_face_each_other_in_the_text() {
        let position = Position::from_text("1,2,30/4,5,600 S 7-8 0", &ruleset(3)).unwrap();
        assert_eq!(
            ansi(&position),
            "\
North    2    1    0
       600    5    4   captured 8
         1    2   30   captured 7
South   [0]  [1]  [2]
South to move"
        );
    }

    #[test]
    fn the_end_is_named() {
        let position = Position::from_text("0,0/1,1 S 3-1 0", &ruleset(2)).unwrap();
        assert!(ansi(&position).ends_with("draw (stuck)"));
        assert!(svg(&position).contains("draw (stuck)"));
    }

    #[test]
    fn every_pit_of_every_size_is_drawn_once() {
        for columns in 1..=64 {
            let start = Position::start(&ruleset(columns));
            assert_eq!(svg(&start).matches("<circle").count() as i64, 2 * columns);
            assert_eq!(ansi(&start).lines().count(), 5);
        }
    }
}
