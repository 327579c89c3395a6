//! Standings as text: a table for the terminal, the same as Markdown.

use std::fmt;

use crate::arena::standings::{PairingStanding, PlayerStanding, Standings};
use crate::arena::table::signed;

/// Pairings that are listed one by one; of more only the players are shown.
const LISTED: usize = 45;

/// A table: headings, then rows. The first `left` columns are words, the others numbers.
struct Table {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new<const N: usize>(left: usize, headings: [&str; N]) -> Table {
        Table {
            left,
            rows: vec![headings.map(str::to_owned).to_vec()],
        }
    }

    fn columns(&self) -> usize {
        self.rows[0].len()
    }

    fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells: Vec<String> = cells
                .map(|(column, (cell, &width))| {
                    if column < self.left {
                        format!("{cell:width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                })
                .collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        self.rows.iter().map(line).collect()
    }

    fn markdown(&self) -> String {
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = |column: usize| if column < self.left { "---" } else { "---:" };
        let rules: Vec<String> = (0..self.columns())
            .map(|column| rule(column).to_owned())
            .collect();
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        lines.insert(1, line(&rules));
        lines.concat()
    }
}

fn players_table(standings: &Standings, clocked: bool) -> Table {
    let mut table = Table::new(
        2,
        [
            "",
            "player",
            "rating",
            "95 % interval",
            "games",
            "W/D/L",
            "score",
            "margin",
        ],
    );
    let timed = ["s/move", "longest"].map(str::to_owned);
    if clocked {
        table.rows[0].extend(timed);
    }
    for (place, player) in standings.ranked().into_iter().enumerate() {
        let mut row = vec![
            (place + 1).to_string(),
            player.name.clone(),
            signed(player.rating, 0),
            format!("{} to {}", signed(player.low, 0), signed(player.high, 0)),
            player.games.to_string(),
            counts(player.wins, player.draws, player.losses),
            format!("{:.3}", player.score),
            signed(player.margin, 2),
        ];
        if clocked {
            row.push(format!("{:.4}", player.seconds_per_move));
            row.push(format!("{:.4}", player.longest_move));
        }
        table.rows.push(row);
    }
    table
}

fn pairings_table(pairings: &[PairingStanding]) -> Table {
    let mut table = Table::new(
        2,
        [
            "",
            "",
            "games",
            "W/D/L",
            "score",
            "95 % interval",
            "margin",
            "distinct",
        ],
    );
    for pairing in pairings {
        let half = pairing
            .margin_half
            .map_or(String::new(), |half| format!(" ± {half:.2}"));
        table.rows.push(vec![
            pairing.a.clone(),
            pairing.b.clone(),
            pairing.games.to_string(),
            counts(pairing.wins, pairing.draws, pairing.losses),
            format!("{:.3}", pairing.score),
            format!("{:.3} to {:.3}", pairing.low, pairing.high),
            format!("{}{half}", signed(pairing.margin, 2)),
            pairing.distinct.to_string(),
        ]);
    }
    table
}

fn counts(wins: u32, draws: u32, losses: u32) -> String {
    format!("{wins}/{draws}/{losses}")
}

impl Standings {
    /// Returns the players with the best first: by rating, equals in the order given.
    pub fn ranked(&self) -> Vec<&PlayerStanding> {
        let mut ranked: Vec<&PlayerStanding> = self.players.iter().collect();
        ranked.sort_by(|a, b| b.rating.total_cmp(&a.rating));
        ranked
    }

    /// Returns the tables as Markdown; `clocked` shows the time of moves.
    pub fn to_markdown(&self, clocked: bool) -> String {
        let parts = self.tables(clocked).into_iter();
        let mut parts: Vec<String> = parts.map(|table| table.markdown()).collect();
        parts.push(format!("- {}\n", self.notes().join("\n- ")));
        parts.join("\n")
    }

    /// Returns the tables as text; `clocked` shows the time of moves.
    pub fn to_text(&self, clocked: bool) -> String {
        let parts = self.tables(clocked).into_iter();
        let mut parts: Vec<String> = parts.map(|table| table.text()).collect();
        parts.push(format!("{}\n", self.notes().join("\n")));
        parts.join("\n")
    }

    fn tables(&self, clocked: bool) -> Vec<Table> {
        let mut tables = vec![players_table(self, clocked)];
        if self.pairings.len() <= LISTED {
            tables.push(pairings_table(&self.pairings));
        }
        tables
    }

    /// Says in words what is true of all games, and what went wrong.
    fn notes(&self) -> Vec<String> {
        let first = &self.first_move;
        let mut notes = vec![
            format!(
                "South moves first and scores {:.3} ({:.3} to {:.3}), worth {} points of rating \
                 ({} to {}); {:.1} % of games are drawn",
                first.score,
                first.low,
                first.high,
                signed(first.elo.value, 0),
                signed(first.elo.low, 0),
                signed(first.elo.high, 0),
                100.0 * self.draw_rate
            ),
            format!(
                "{} of {} games {} distinct",
                self.distinct,
                self.games,
                if self.distinct == 1 { "is" } else { "are" }
            ),
        ];
        match self.cut {
            0 => {}
            1 => notes.push("1 game was cut, half a point each".to_owned()),
            cut => notes.push(format!("{cut} games were cut, half a point each")),
        }
        for player in &self.players {
            if let Some(flag) = player.flag {
                let (name, flag) = (&player.name, flag.name());
                notes.push(format!("{name} is {flag}: its rating leans on the prior"));
            }
            let faults = [
                ("illegal", player.illegal),
                ("error", player.error),
                ("late", player.late),
            ];
            let lost = faults.into_iter().filter(|&(_, games)| games > 0);
            let lost: Vec<String> = lost.map(|(why, games)| format!("{games} {why}")).collect();
            if !lost.is_empty() {
                notes.push(format!(
                    "{} lost games by its own fault: {}; at first: {}",
                    player.name,
                    lost.join(", "),
                    player.failure.as_deref().unwrap_or("nothing said")
                ));
            }
        }
        notes
    }
}

impl fmt::Display for Standings {
    /// Writes the tables as text, without the time of moves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(false))
    }
}
