//! Positions as lines of plain text.

use crate::position::Position;
use crate::render::{is_playable, status, title};
use crate::side::Side;

/// The most columns of a board that is not cut, and of a band of one that is: 80 characters hold it.
const MOST_COLUMNS: usize = 16;
const MOST_BAND: usize = 11;

/// Draws a position as lines of plain text, without a line end after the last.
///
/// Column numbers stand outside the rows; a column that the side to move may play is in brackets.
/// Boards of more than 16 columns are cut into bands of at most 11, with an empty line between them.
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
    let columns = position.board().columns();
    let bands = if columns > MOST_COLUMNS {
        columns.div_ceil(MOST_BAND)
    } else {
        1
    };
    let band = columns.div_ceil(bands);
    let places: Vec<usize> = (0..columns).collect();
    let mut lines = Vec::new();
    for (index, places) in places.chunks(band).enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        // North's left is on the right of the picture.
        let north: Vec<usize> = places.iter().map(|place| columns - 1 - place).collect();
        let (first, last) = (index == 0, index + 1 == bands);
        lines.extend([
            number_line(position, Side::North, &north),
            seed_line(position, Side::North, &north, first),
            seed_line(position, Side::South, places, last),
            number_line(position, Side::South, places),
        ]);
    }
    lines.push(status(position));
    lines.join("\n")
}

/// Writes a side's name and the numbers of some of its columns.
fn number_line(position: &Position, side: Side, columns: &[usize]) -> String {
    let width = cell_width(position);
    let cells = columns.iter().map(|&column| {
        if is_playable(position, side, column) {
            format!("{:>width$}]", format!("[{column}"))
        } else {
            format!("{column:>width$} ")
        }
    });
    let line = format!("{} {}", title(side), cells.collect::<String>());
    line.trim_end().to_owned()
}

/// Writes the seeds of some columns of a side, and what it captured where that is wanted.
fn seed_line(position: &Position, side: Side, columns: &[usize], captured: bool) -> String {
    let width = cell_width(position);
    let row = position.board().row(side);
    let cells = columns
        .iter()
        .map(|&column| format!("{:>width$} ", row[column]));
    let line = format!("      {}", cells.collect::<String>());
    if captured {
        let captured = position.board().captured()[side.index()];
        return format!("{line}  captured {captured}");
    }
    line.trim_end().to_owned()
}

/// Returns the width of a cell: the longest number or column with its bracket, and a space.
fn cell_width(position: &Position) -> usize {
    let most = position.board().pits().iter().max().copied().unwrap_or(0);
    let last = position.board().columns() - 1;
    let digits = |number: usize| number.to_string().len();
    1 + digits(usize::from(most)).max(digits(last) + 1)
}
