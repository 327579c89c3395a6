//! Positions as lines of plain text.

use crate::position::Position;
use crate::render::{is_playable, shown_columns, status, title};
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

/// Returns the width of a cell: the longest number or column with its bracket, and a space.
fn cell_width(position: &Position) -> usize {
    let most = position.board().pits().iter().max().copied().unwrap_or(0);
    let last = position.board().columns() - 1;
    let digits = |number: usize| number.to_string().len();
    1 + digits(usize::from(most)).max(digits(last) + 1)
}
