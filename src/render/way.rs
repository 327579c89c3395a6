//! The way of a sowing over the board.

use crate::pit::{opposite, owner};
use crate::position::Position;
use crate::render::scene::{PIT, PITCH, Plan, Point, Shape, colour, disc};
use crate::sowing::{self, Sowing, SowingEnd};

/// The most rounds of the board that are drawn.
const MOST_ROUNDS: usize = 6;
/// Laps of an endless sowing that are followed.
const ENDLESS_LAPS: u32 = 100;
/// The most units from the line of the first lap drawn to that of the last one.
const SPREAD: f32 = 24.0;

/// What a move did, pit by pit.
pub(super) struct Way {
    columns: usize,
    /// Ring indices that every lap passes: the pit lifted, then the pits reached; at most one round.
    laps: Vec<Vec<usize>>,
    last: Option<usize>,
    /// The pits that the capture emptied.
    taken: Vec<usize>,
    origin: usize,
}

impl Way {
    /// Follows the sowing of `column`, of which `sowing` tells the end.
    pub(super) fn new(position: &Position, column: usize, sowing: &Sowing) -> Way {
        let columns = position.board().columns();
        let side = position.to_move();
        let endless = sowing.end == SowingEnd::Endless;
        let followed = if endless { ENDLESS_LAPS } else { sowing.laps };
        let steps = sowing::trace(position.board(), position.ruleset(), side, column, followed);
        let mut laps: Vec<Vec<usize>> = Vec::new();
        for lap in steps.chunk_by(|one, next| one.lap == next.lap) {
            let passed = lap.len().saturating_sub(2 * columns + 1);
            laps.push(lap[passed..].iter().map(|step| step.pit.into()).collect());
        }
        // The last rounds tell how the board came to be, the first ones how an endless sowing goes.
        if !endless {
            laps.reverse();
        }
        let mut pits = 0;
        laps.retain(|lap| {
            pits += lap.len();
            pits <= MOST_ROUNDS * 2 * columns + 1
        });
        if !endless {
            laps.reverse();
        }
        let last = sowing.last.map(usize::from);
        let mut taken = Vec::new();
        if let (SowingEnd::Captured, Some(last)) = (sowing.end, last) {
            taken.push(last);
            // A lone seed is taken by itself (C2).
            if sowing.captured > 1 {
                taken.push(opposite(last, columns));
            }
        }
        Way {
            columns,
            laps,
            last,
            taken,
            origin: crate::pit::ring_index(side, column, columns),
        }
    }

    /// Describes what is drawn over the board.
    pub(super) fn shapes(&self, plan: &Plan) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let apart = (SPREAD / self.laps.len() as f32).min(5.0);
        for (index, lap) in self.laps.iter().enumerate() {
            let out = (index as f32 - (self.laps.len() as f32 - 1.0) / 2.0) * apart;
            self.add_lap(&mut shapes, plan, lap, out);
        }
        let mut mark = |pit: usize, colour| {
            let centre = plan.centre(owner(pit, self.columns), pit % self.columns);
            shapes.push(disc(centre, PIT, None, Some((colour, 3.5))));
        };
        mark(self.origin, colour::WAY);
        if let Some(last) = self.last {
            mark(last, colour::LIGHT);
        }
        for &pit in &self.taken {
            mark(pit, colour::TAKEN);
        }
        shapes
    }

    /// Draws a lap `out` units outside of the middles of the pits; laps further out turn wider.
    fn add_lap(&self, shapes: &mut Vec<Shape>, plan: &Plan, lap: &[usize], out: f32) {
        let mut points: Vec<Point> = Vec::new();
        for (index, &pit) in lap.iter().enumerate() {
            let here = self.point(plan, pit, out);
            let before = index.checked_sub(1).map(|before| lap[before]);
            if let Some(before) = before {
                let there = self.point(plan, before, out);
                if owner(before, self.columns) != owner(pit, self.columns) {
                    // Around the numbers of the pits.
                    let x = here.0 + self.turn(before, pit) * (PIT + 0.8 * out);
                    points.extend([(x, there.1), (x, here.1)]);
                } else if self.place(plan, before).0 != self.place(plan, pit).0 {
                    // To the edge of one band, and on from that of the next one.
                    let forward = self.place(plan, before).1 > self.place(plan, pit).1;
                    let step = if forward { 0.7 * PITCH } else { -0.7 * PITCH };
                    points.push((there.0 + step, there.1));
                    shapes.push(line(std::mem::take(&mut points)));
                    points.push((here.0 - step, here.1));
                }
            }
            points.push(here);
        }
        if let [.., from, to] = points[..] {
            shapes.push(line(points));
            shapes.push(arrow(from, to));
        }
    }

    /// Returns the band of a pit and its place there.
    fn place(&self, plan: &Plan, pit: usize) -> (usize, usize) {
        plan.place(owner(pit, self.columns), pit % self.columns)
    }

    /// Tells at which end a step from one row to the other goes: 1 on the right, -1 on the left.
    fn turn(&self, before: usize, pit: usize) -> f32 {
        let anticlockwise = (before + 1) % (2 * self.columns) == pit;
        if anticlockwise == (before < self.columns) {
            1.0
        } else {
            -1.0
        }
    }

    /// Returns where the line of a lap passes a pit.
    fn point(&self, plan: &Plan, pit: usize, out: f32) -> Point {
        let (x, y) = plan.centre(owner(pit, self.columns), pit % self.columns);
        let down = if pit < self.columns { out } else { -out };
        (x, y + down)
    }
}

fn line(points: Vec<Point>) -> Shape {
    Shape::Line {
        points,
        colour: colour::WAY,
        width: 2.2,
        opacity: 0.8,
    }
}

/// Draws the head of an arrow from one point to another.
fn arrow(from: Point, to: Point) -> Shape {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let length = (x * x + y * y).sqrt().max(1.0);
    let (x, y) = (7.0 * x / length, 7.0 * y / length);
    let tip = (to.0 + 0.6 * x, to.1 + 0.6 * y);
    Shape::Area {
        points: vec![
            tip,
            (tip.0 - 1.4 * x - 0.65 * y, tip.1 - 1.4 * y + 0.65 * x),
            (tip.0 - 1.4 * x + 0.65 * y, tip.1 - 1.4 * y - 0.65 * x),
        ],
        fill: colour::WAY,
    }
}
