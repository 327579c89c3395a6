//! Results as a table of text.

use std::fmt::Write as _;

use crate::arena::MatchResult;

/// Writes one line for each match, under a line of headings: opponent, games, wins/draws/losses,
/// score with its 95 % interval, mean margin, and the score in the games as South and as North.
///
/// Where games were cut or lost by a player's fault, a line below says so.
pub fn table(rows: &[(&str, &MatchResult)]) -> String {
    let width = rows
        .iter()
        .map(|(label, _)| label.chars().count())
        .chain(["opponent".len()])
        .max()
        .unwrap_or(0);
    let mut text = format!(
        "{:width$}  {:>6}  {:>17}  {:>6}  {:>15}  {:>15}  {:>8}  {:>8}\n",
        "opponent", "games", "W/D/L", "score", "95 % interval", "margin", "as South", "as North",
    );
    for (label, result) in rows {
        let wdl = format!("{}/{}/{}", result.wins, result.draws, result.losses);
        let interval = format!("{:.3} to {:.3}", result.interval.0, result.interval.1);
        let margin = format!("{} ± {:.2}", signed(result.margin, 2), result.margin_half);
        let [south, north] = result.score_as;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{label:width$}  {:>6}  {wdl:>17}  {:>6.3}  {interval:>15}  {margin:>15}  {south:>8.3}  {north:>8.3}",
            result.games.len(),
            result.score,
        );
        text.push_str(&notes(result));
    }
    text
}

/// Writes a line about games that did not end by the rules, nothing if there are none.
fn notes(result: &MatchResult) -> String {
    let mut notes = Vec::new();
    if result.cut > 0 {
        notes.push(format!("{} cut (half a point each)", result.cut));
    }
    for (name, forfeits) in result.names.iter().zip(result.forfeits) {
        for (count, reason) in [(forfeits.illegal, "illegal"), (forfeits.error, "error")] {
            if count > 0 {
                notes.push(format!("{count} lost by {name} ({reason})"));
            }
        }
    }
    if notes.is_empty() {
        return String::new();
    }
    format!("  {}\n", notes.join(", "))
}

/// Writes a number with its sign and so many digits after the point; what rounds to 0 is +0.
pub(super) fn signed(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => format!("+{rest}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn what_rounds_to_zero_is_plus_zero() {
        for (value, digits, text) in [
            (-0.4, 0, "+0"),
            (-0.0, 0, "+0"),
            (0.4, 0, "+0"),
            (-0.6, 0, "-1"),
            (-0.004, 2, "+0.00"),
            (-0.006, 2, "-0.01"),
            (-10.0, 0, "-10"),
            (f64::NEG_INFINITY, 0, "-inf"),
        ] {
            assert_eq!(signed(value, digits), text);
        }
    }
}
