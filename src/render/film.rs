//! A whole game as one SVG that moves.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use crate::pit::{opposite, owner, ring_index};
use crate::position::{MoveError, Position};
use crate::render::scene::{self, PIT, Plan, Scene, Shape, colour};
use crate::render::svg::{head, hex, number, write_shape};
use crate::render::{status, title};
use crate::side::Side;
use crate::sowing::{self, Sowing, SowingEnd};

/// Seconds of a seed dropped, of a lift, of a capture, between two moves, and at the end.
const DROP: f64 = 0.11;
const LIFT: f64 = 0.25;
const TAKE: f64 = 0.7;
const REST: f64 = 0.7;
const END: f64 = 4.0;
/// The most seconds that the laps of one move take.
const MOST_SOWING: f64 = 5.0;
/// Laps of an endless sowing that are shown.
const ENDLESS_LAPS: u32 = 20;

/// Plays columns from a position and draws the game as one SVG that moves, over and over.
///
/// Every sowing is shown seed by seed, the long ones faster. The picture needs no script: it moves
/// where SVG's own animation is known, as in browsers, and shows the start elsewhere. Of an endless
/// sowing (S6) the first 20 laps are shown. `end` is the last line, for games that ended by something
/// else than the rules.
///
/// ```
/// use endodoi::{render, Position, Variant};
/// let start = Position::start(&Variant::CrossEndodoi.ruleset());
/// let film = render::svg_of_game(&start, &[3, 1], None)?;
/// assert!(film.starts_with("<svg ") && film.contains("<animate "));
/// # Ok::<(), endodoi::MoveError>(())
/// ```
///
/// # Errors
/// [`MoveError`] as [`Position::play`] for the first column that cannot be played.
pub fn svg_of_game(
    start: &Position,
    columns: &[usize],
    end: Option<&str>,
) -> Result<String, MoveError> {
    let mut film = Film::new(start);
    let mut position = *start;
    for (ply, &column) in columns.iter().enumerate() {
        let (after, sowing) = position.play_sowing(column)?;
        film.add_move(ply, &position, column, &sowing);
        film.rest(&after);
        position = after;
    }
    if let Some(line) = end {
        film.lines.push((film.time, line.to_owned()));
    }
    film.time += END;
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = film.write(&mut out, start);
    Ok(out)
}

/// Something that has one value after another, each from its second on.
#[derive(Clone, Debug)]
struct Track<T>(Vec<(f64, T)>);

impl<T: PartialEq + Copy> Track<T> {
    fn new(value: T) -> Track<T> {
        Track(vec![(0.0, value)])
    }

    fn last(&self) -> T {
        self.0[self.0.len() - 1].1
    }

    fn set(&mut self, time: f64, value: T) {
        if self.last() != value {
            self.0.push((time, value));
        }
    }

    /// Writes the element that changes `attribute` as time goes, `name` the text of a value.
    fn write(
        &self,
        out: &mut String,
        attribute: &str,
        total: f64,
        name: impl Fn(T) -> String,
    ) -> fmt::Result {
        if self.0.len() < 2 {
            return Ok(());
        }
        let times = self.0.iter().map(|(time, _)| share(time / total));
        let values = self.0.iter().map(|&(_, value)| name(value));
        write!(
            out,
            "<animate attributeName=\"{attribute}\" calcMode=\"discrete\" dur=\"{total:.2}s\" \
             repeatCount=\"indefinite\" keyTimes=\"{}\" values=\"{}\"/>",
            times.collect::<Vec<_>>().join(";"),
            values.collect::<Vec<_>>().join(";"),
        )
    }
}

/// Writes a share of the whole time without zeros at its end.
fn share(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What changes in a game, and when.
struct Film {
    plan: Plan,
    columns: usize,
    time: f64,
    /// Seeds of every pit.
    pits: Vec<Track<u16>>,
    captured: [Track<u16>; 2],
    /// The pit that was lifted first in the last move, and the one that the hand is at.
    origin: Track<Option<usize>>,
    hand: Track<Option<usize>>,
    lines: Vec<(f64, String)>,
}

impl Film {
    fn new(start: &Position) -> Film {
        let board = start.board();
        let columns = board.columns();
        Film {
            plan: Plan::new(columns),
            columns,
            time: REST,
            pits: board.pits().iter().copied().map(Track::new).collect(),
            captured: board.captured().map(Track::new),
            origin: Track::new(None),
            hand: Track::new(None),
            lines: vec![(0.0, status(start))],
        }
    }

    /// Sows one move; the position after it is not yet shown.
    fn add_move(&mut self, ply: usize, position: &Position, column: usize, sowing: &Sowing) {
        let side = position.to_move();
        let endless = sowing.end == SowingEnd::Endless;
        let laps = if endless { ENDLESS_LAPS } else { sowing.laps };
        let steps = sowing::trace(position.board(), position.ruleset(), side, column, laps);
        let lifts = f64::from(laps.min(steps.last().map_or(0, |step| step.lap)));
        let seconds = lifts * LIFT + (steps.len() as f64 - lifts) * DROP;
        let faster = (MOST_SOWING / seconds).min(1.0);
        let line = move_line(ply, side, column, sowing);
        self.lines.push((self.time, line));
        let origin = ring_index(side, column, self.columns);
        self.origin.set(self.time, Some(origin));
        let mut lap = 0;
        for step in steps {
            let pit = usize::from(step.pit);
            self.pits[pit].set(self.time, step.seeds);
            self.hand.set(self.time, Some(pit));
            self.time += faster * if step.lap > lap { LIFT } else { DROP };
            lap = step.lap;
        }
        if let (SowingEnd::Captured, Some(last)) = (sowing.end, sowing.last) {
            let last = usize::from(last);
            self.pits[last].set(self.time, 0);
            // A lone seed is taken by itself (C2).
            if sowing.captured > 1 {
                self.pits[opposite(last, self.columns)].set(self.time, 0);
            }
            let before = self.captured[side.index()].last();
            self.captured[side.index()].set(self.time, before + sowing.captured);
            self.time += TAKE;
        }
        self.time += REST;
    }

    /// Shows a position as it is, with what its end moved (E1).
    fn rest(&mut self, position: &Position) {
        let board = position.board();
        self.hand.set(self.time, None);
        for (track, &seeds) in self.pits.iter_mut().zip(board.pits()) {
            track.set(self.time, seeds);
        }
        for (track, captured) in self.captured.iter_mut().zip(board.captured()) {
            track.set(self.time, captured);
        }
        if position.is_over() {
            self.lines.push((self.time, status(position)));
        }
    }

    fn write(&self, out: &mut String, start: &Position) -> fmt::Result {
        let mut scene = Scene::wood(&self.plan);
        for side in [Side::North, Side::South] {
            for column in 0..self.columns {
                scene.add_pit(&self.plan, side, column, false);
                scene.add_label(&self.plan, side, column, false);
            }
            scene.add_tray(&self.plan, side, false);
        }
        out.push_str(&head(&scene, &start.to_string()));
        for shape in &scene.shapes {
            write_shape(out, shape)?;
        }
        self.write_heaps(out)?;
        for side in Side::BOTH {
            self.write_captured(out, side)?;
        }
        for pit in 0..self.pits.len() {
            self.write_pit(out, pit)?;
        }
        self.write_ring(out, &self.origin, colour::WAY)?;
        self.write_ring(out, &self.hand, colour::LIGHT)?;
        for (index, (time, line)) in self.lines.iter().enumerate() {
            let until = self.lines.get(index + 1).map(|&(until, _)| until);
            let shape = scene::status_line(&self.plan, line.clone());
            self.write_during(out, &shape, *time, until)?;
        }
        out.push_str("</svg>");
        Ok(())
    }

    /// Writes every heap of seeds that occurs, with its number: below North's pits, above South's.
    fn write_heaps(&self, out: &mut String) -> fmt::Result {
        out.push_str("<defs>");
        for side in Side::BOTH {
            let own = self.pits.iter().enumerate();
            let own = own.filter(|&(pit, _)| owner(pit, self.columns) == side);
            let heaps: BTreeSet<u16> = own
                .flat_map(|(_, track)| track.0.iter().map(|&(_, seeds)| seeds))
                .collect();
            for seeds in heaps {
                write!(out, "<g id=\"{}\">", heap(side, seeds))?;
                if seeds > 0 {
                    let (centres, radius) =
                        crate::render::seeds::in_pit(seeds.into(), (0.0, 0.0), PIT - 2.0);
                    write_shape(out, &Shape::Seeds { centres, radius })?;
                }
                write_shape(out, &scene::seed_number((0.0, 0.0), side, seeds))?;
                out.push_str("</g>");
            }
        }
        out.push_str("</defs>");
        Ok(())
    }

    fn write_pit(&self, out: &mut String, pit: usize) -> fmt::Result {
        let side = owner(pit, self.columns);
        let track = &self.pits[pit];
        let (x, y) = self.plan.centre(side, pit % self.columns);
        let first = heap(side, track.0[0].1);
        write!(
            out,
            "<use href=\"#{first}\" x=\"{}\" y=\"{}\">",
            number(x),
            number(y)
        )?;
        track.write(out, "href", self.time, |seeds| {
            format!("#{}", heap(side, seeds))
        })?;
        out.push_str("</use>");
        Ok(())
    }

    /// Writes the seeds that lie in a tray, each capture from its time on, and their number.
    fn write_captured(&self, out: &mut String, side: Side) -> fmt::Result {
        let track = &self.captured[side.index()].0;
        let (centres, radius) = self.plan.in_tray(side, self.captured[side.index()].last());
        let mut shown = 0;
        for (index, &(time, captured)) in track.iter().enumerate() {
            let until = track.get(index + 1).map(|&(until, _)| until);
            let number = scene::captured_number(&self.plan, side, captured);
            self.write_during(out, &number, time, until)?;
            let next = centres.len().min(captured.into());
            if next > shown {
                let centres = centres[shown..next].to_vec();
                self.write_during(out, &Shape::Seeds { centres, radius }, time, None)?;
                shown = next;
            }
        }
        Ok(())
    }

    /// Writes a shape that is seen from one time on, and perhaps until another.
    fn write_during(
        &self,
        out: &mut String,
        shape: &Shape,
        from: f64,
        until: Option<f64>,
    ) -> fmt::Result {
        let mut seen = Track::new(from <= 0.0);
        seen.set(from, true);
        if let Some(until) = until {
            seen.set(until, false);
        }
        let opacity = |seen| u8::from(seen).to_string();
        write!(out, "<g opacity=\"{}\">", opacity(from <= 0.0))?;
        seen.write(out, "opacity", self.time, opacity)?;
        write_shape(out, shape)?;
        out.push_str("</g>");
        Ok(())
    }

    /// Writes the rim of the pit that something is at.
    fn write_ring(
        &self,
        out: &mut String,
        track: &Track<Option<usize>>,
        colour: scene::Colour,
    ) -> fmt::Result {
        let away = -2.0 * PIT;
        let place = |pit: Option<usize>| {
            pit.map_or((away, away), |pit| {
                self.plan
                    .centre(owner(pit, self.columns), pit % self.columns)
            })
        };
        let radius = number(PIT);
        let stroke = hex(colour);
        let (x, y) = place(track.0[0].1);
        write!(
            out,
            "<ellipse cx=\"{}\" cy=\"{}\" rx=\"{radius}\" ry=\"{radius}\" fill=\"none\" \
             stroke=\"{stroke}\" stroke-width=\"3.5\">",
            number(x),
            number(y),
        )?;
        track.write(out, "cx", self.time, |pit| number(place(pit).0))?;
        track.write(out, "cy", self.time, |pit| number(place(pit).1))?;
        out.push_str("</ellipse>");
        Ok(())
    }
}

/// Returns the id of a heap; equal heaps of two pictures on a page are the same.
fn heap(side: Side, seeds: u16) -> String {
    match side {
        Side::South => format!("S{seeds}"),
        Side::North => format!("N{seeds}"),
    }
}

fn move_line(ply: usize, side: Side, column: usize, sowing: &Sowing) -> String {
    let laps = match (sowing.end, sowing.laps) {
        (SowingEnd::Endless, _) => "without end".to_owned(),
        (_, 1) => "1 lap".to_owned(),
        (_, laps) => format!("{laps} laps"),
    };
    let taken = match sowing.captured {
        0 => String::new(),
        taken => format!(", takes {taken}"),
    };
    format!(
        "{}. {} sows column {column}: {laps}{taken}",
        ply + 1,
        title(side)
    )
}
