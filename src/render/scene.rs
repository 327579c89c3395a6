//! What is on a picture of a position, and where.

use crate::position::Position;
use crate::render::way::Way;
use crate::render::{glyphs, is_playable, seeds, shown_columns, status, title};
use crate::side::Side;

/// Red, green and blue.
pub(super) type Colour = [u8; 3];
/// A place: units to the right and down from the upper left corner.
pub(super) type Point = (f32, f32);

/// The colours of a board of dark wood and of seeds as grey as nickernuts.
pub(super) mod colour {
    use super::Colour;

    pub(in crate::render) const WOOD: Colour = [0x6b, 0x43, 0x24];
    pub(in crate::render) const EDGE: Colour = [0x3b, 0x23, 0x12];
    pub(in crate::render) const FIELD: Colour = [0x85, 0x58, 0x31];
    pub(in crate::render) const GROOVE: Colour = [0x6f, 0x46, 0x25];
    pub(in crate::render) const PIT: Colour = [0x33, 0x1f, 0x11];
    pub(in crate::render) const PIT_FLOOR: Colour = [0x42, 0x2a, 0x18];
    pub(in crate::render) const RIM: Colour = [0x5c, 0x39, 0x1d];
    pub(in crate::render) const BRIGHT: Colour = [0xff, 0xd4, 0x5e];
    pub(in crate::render) const SEED: Colour = [0xd3, 0xd2, 0xc8];
    pub(in crate::render) const GLEAM: Colour = [0xf4, 0xf3, 0xec];
    pub(in crate::render) const SEED_EDGE: Colour = [0x6f, 0x6d, 0x63];
    pub(in crate::render) const LIGHT: Colour = [0xff, 0xf6, 0xe6];
    pub(in crate::render) const DIM: Colour = [0xec, 0xd8, 0xb8];
    pub(in crate::render) const WAY: Colour = [0x6c, 0xd4, 0xf5];
    pub(in crate::render) const TAKEN: Colour = [0xff, 0x8a, 0x65];
}

/// Where a text stands by its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One thing on a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A rectangle with round corners; a circle where `radius` is half its sides.
    Slab {
        corner: Point,
        width: f32,
        height: f32,
        radius: f32,
        fill: Option<Colour>,
        rim: Option<(Colour, f32)>,
    },
    /// Equal discs that do not cover each other, each with a gleam.
    Seeds { centres: Vec<Point>, radius: f32 },
    /// A line of text whose baseline is at the point's height; `size` as in fonts.
    Text {
        at: Point,
        size: f32,
        anchor: Anchor,
        colour: Colour,
        bold: bool,
        text: String,
    },
    /// A line through points with round corners and ends.
    Line {
        points: Vec<Point>,
        colour: Colour,
        width: f32,
        opacity: f32,
    },
    /// A filled polygon.
    Area { points: Vec<Point>, fill: Colour },
}

/// A picture as shapes, to be drawn in their order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    /// Even, as encoders of video want it.
    pub(super) width: u32,
    /// Even.
    pub(super) height: u32,
    pub(super) shapes: Vec<Shape>,
}

/// The most columns side by side.
const MAX_BAND: usize = 16;
/// Width of a column.
pub(super) const PITCH: f32 = 64.0;
/// Radius of a pit.
pub(super) const PIT: f32 = 26.0;
/// The least width of a picture: the longest status must fit.
const MIN_WIDTH: f32 = 384.0;
/// From the edge of the picture to its contents.
const PAD: f32 = 14.0;
/// From the edge of the picture to the first column.
const SIDE: f32 = 32.0;
/// Height of a tray of captured seeds.
const TRAY: f32 = 38.0;
/// Between trays, bands and the status.
const GAP: f32 = 10.0;
/// Height of a band: two rows of pits with their numbers and labels.
const BAND: f32 = 198.0;
/// From the top of a band to the pits of its upper and of its lower row.
const ROW: [f32; 2] = [50.0, 148.0];
/// Height of the line of the status.
const STATUS: f32 = 30.0;

/// Where the pits of a board lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    columns: usize,
    /// Columns of every band but perhaps the last.
    band: usize,
    width: f32,
}

impl Plan {
    pub(super) fn new(columns: usize) -> Plan {
        let bands = columns.div_ceil(MAX_BAND);
        let band = columns.div_ceil(bands);
        Plan {
            columns,
            band,
            width: (band as f32 * PITCH + 2.0 * SIDE).max(MIN_WIDTH),
        }
    }

    fn bands(&self) -> usize {
        self.columns.div_ceil(self.band)
    }

    fn height(&self) -> f32 {
        self.south_tray() + TRAY + STATUS + PAD
    }

    fn south_tray(&self) -> f32 {
        Plan::band_top(self.bands())
    }

    /// Returns the top of a side's tray.
    fn tray(&self, side: Side) -> f32 {
        match side {
            Side::North => PAD,
            Side::South => self.south_tray(),
        }
    }

    /// Places captured seeds in their tray; returns their centres and radius.
    pub(super) fn in_tray(&self, side: Side, captured: u16) -> (Vec<Point>, f32) {
        let corner = (PAD + 85.0, self.tray(side) + 4.0);
        let room = (self.width - 2.0 * PAD - 150.0, TRAY - 8.0);
        seeds::in_tray(captured.into(), corner, room)
    }

    fn band_top(band: usize) -> f32 {
        PAD + TRAY + GAP + band as f32 * (BAND + GAP)
    }

    /// Returns the left edge of the columns.
    fn left(&self) -> f32 {
        (self.width - self.band as f32 * PITCH) / 2.0
    }

    /// Returns the band of a pit, counted from the top, and its place from the left.
    pub(super) fn place(&self, side: Side, column: usize) -> (usize, usize) {
        let place = match side {
            Side::South => column,
            Side::North => self.columns - 1 - column,
        };
        (place / self.band, place % self.band)
    }

    /// Returns the columns of a band.
    fn columns_of(&self, band: usize) -> usize {
        self.band.min(self.columns - band * self.band)
    }

    /// Returns the centre of a pit.
    pub(super) fn centre(&self, side: Side, column: usize) -> Point {
        let (band, place) = self.place(side, column);
        let row = match side {
            Side::North => ROW[0],
            Side::South => ROW[1],
        };
        let x = self.left() + (place as f32 + 0.5) * PITCH;
        (x, Plan::band_top(band) + row)
    }
}

impl Scene {
    /// Describes the picture of a position.
    ///
    /// `line` replaces the one that says whose turn it is or how the game ended; `way` is what
    /// the last move did.
    pub(super) fn new(position: &Position, line: Option<&str>, way: Option<&Way>) -> Scene {
        let plan = Plan::new(position.board().columns());
        let mut scene = Scene::wood(&plan);
        for side in [Side::North, Side::South] {
            for column in shown_columns(position, side) {
                let playable = is_playable(position, side, column);
                scene.add_pit(&plan, side, column, playable);
            }
            let moves = side == position.to_move() && !position.is_over();
            scene.add_tray(&plan, side, moves);
            scene.add_captured(&plan, position, side);
        }
        if let Some(way) = way {
            scene.shapes.extend(way.shapes(&plan));
        }
        for side in [Side::North, Side::South] {
            for column in shown_columns(position, side) {
                scene.add_seeds(&plan, position, side, column);
                scene.add_numbers(&plan, position, side, column);
            }
        }
        scene.add(status_line(
            &plan,
            line.map_or_else(|| status(position), str::to_owned),
        ));
        scene
    }

    /// Describes a board without pits and trays.
    pub(super) fn wood(plan: &Plan) -> Scene {
        let (width, height) = (plan.width, plan.height());
        let mut scene = Scene {
            width: width as u32,
            height: height as u32,
            shapes: Vec::new(),
        };
        scene.add(slab((0.0, 0.0), (width, height), 18.0, colour::WOOD));
        scene.add(Shape::Slab {
            corner: (1.5, 1.5),
            width: width - 3.0,
            height: height - 3.0,
            radius: 16.5,
            fill: None,
            rim: Some((colour::EDGE, 3.0)),
        });
        for band in 0..plan.bands() {
            scene.add_band(plan, band);
        }
        scene
    }

    fn add(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    /// Draws the field of a band; where the board goes on in another band, it runs to the edge.
    fn add_band(&mut self, plan: &Plan, band: usize) {
        let top = Plan::band_top(band);
        let mut left = plan.left() - 12.0;
        let mut right = plan.left() + plan.columns_of(band) as f32 * PITCH + 12.0;
        let (first, last) = (band == 0, band + 1 == plan.bands());
        if !first {
            left = 3.0;
        }
        if !last {
            right = plan.width - 3.0;
        }
        let size = (right - left, BAND);
        self.add(slab((left, top), size, 20.0, colour::FIELD));
        // A side that goes on has no round corners.
        for (goes_on, x) in [(!first, left), (!last, right - 24.0)] {
            if goes_on {
                self.add(slab((x, top), (24.0, BAND), 0.0, colour::FIELD));
            }
        }
        let middle = top + f32::midpoint(ROW[0], ROW[1]);
        self.add(Shape::Line {
            points: vec![(left + 10.0, middle), (right - 10.0, middle)],
            colour: colour::GROOVE,
            width: 2.0,
            opacity: 1.0,
        });
    }

    pub(super) fn add_pit(&mut self, plan: &Plan, side: Side, column: usize, playable: bool) {
        let centre = plan.centre(side, column);
        let rim = if playable {
            (colour::BRIGHT, 3.0)
        } else {
            (colour::RIM, 3.0)
        };
        self.add(disc(centre, PIT, Some(colour::PIT), Some(rim)));
        let floor = (centre.0, centre.1 + 2.0);
        self.add(disc(floor, PIT - 4.0, Some(colour::PIT_FLOOR), None));
    }

    fn add_seeds(&mut self, plan: &Plan, position: &Position, side: Side, column: usize) {
        let seeds = usize::from(position.board().row(side)[column]);
        if seeds > 0 {
            let (centres, radius) = seeds::in_pit(seeds, plan.centre(side, column), PIT - 2.0);
            self.add(Shape::Seeds { centres, radius });
        }
    }

    /// Writes the seeds of a pit on its inner side, its column on the outer one.
    fn add_numbers(&mut self, plan: &Plan, position: &Position, side: Side, column: usize) {
        let seeds = position.board().row(side)[column];
        self.add(seed_number(plan.centre(side, column), side, seeds));
        self.add_label(plan, side, column, is_playable(position, side, column));
    }

    /// Writes a pit's column on its outer side.
    pub(super) fn add_label(&mut self, plan: &Plan, side: Side, column: usize, playable: bool) {
        let (x, y) = plan.centre(side, column);
        let label = match side {
            Side::North => y - PIT - 8.0,
            Side::South => y + PIT + 18.0,
        };
        let ink = if playable {
            colour::BRIGHT
        } else {
            colour::DIM
        };
        let label = (x, label);
        self.add(text(
            label,
            13.0,
            Anchor::Middle,
            ink,
            playable,
            column.to_string(),
        ));
    }

    /// Draws the owner's name and its tray.
    pub(super) fn add_tray(&mut self, plan: &Plan, side: Side, moves: bool) {
        let top = plan.tray(side);
        let base = top + TRAY / 2.0 + 5.5;
        let ink = if moves { colour::BRIGHT } else { colour::LIGHT };
        let name = (PAD + 20.0, base);
        self.add(text(
            name,
            16.0,
            Anchor::Start,
            ink,
            moves,
            title(side).to_owned(),
        ));
        if moves {
            let (x, y) = (PAD + 4.0, top + TRAY / 2.0);
            let points = vec![(x, y - 6.0), (x + 10.0, y), (x, y + 6.0)];
            let fill = colour::BRIGHT;
            self.add(Shape::Area { points, fill });
        }
        let (left, right) = (PAD + 78.0, plan.width - PAD - 58.0);
        let width = right - left;
        self.add(Shape::Slab {
            corner: (left, top),
            width,
            height: TRAY,
            radius: 12.0,
            fill: Some(colour::PIT_FLOOR),
            rim: Some((colour::RIM, 2.0)),
        });
    }

    /// Draws the captured seeds in their tray, and their number.
    fn add_captured(&mut self, plan: &Plan, position: &Position, side: Side) {
        let captured = position.board().captured()[side.index()];
        if captured > 0 {
            let (centres, radius) = plan.in_tray(side, captured);
            self.add(Shape::Seeds { centres, radius });
        }
        self.add(captured_number(plan, side, captured));
    }
}

/// Describes the number of a pit's seeds, on its inner side.
pub(super) fn seed_number((x, y): Point, side: Side, seeds: u16) -> Shape {
    let at = match side {
        Side::North => (x, y + PIT + 17.0),
        Side::South => (x, y - PIT - 6.0),
    };
    let ink = if seeds == 0 {
        colour::DIM
    } else {
        colour::LIGHT
    };
    let number = seeds.to_string();
    text(at, 16.0, Anchor::Middle, ink, seeds > 0, number)
}

/// Describes the number of a side's captured seeds.
pub(super) fn captured_number(plan: &Plan, side: Side, captured: u16) -> Shape {
    let base = plan.tray(side) + TRAY / 2.0 + 7.0;
    let at = (plan.width - PAD - 4.0, base);
    let number = captured.to_string();
    text(at, 20.0, Anchor::End, colour::LIGHT, true, number)
}

/// Describes the line below the board.
pub(super) fn status_line(plan: &Plan, line: String) -> Shape {
    let at = (plan.width / 2.0, plan.height() - PAD - 3.0);
    let room = (plan.width - 2.0 * PAD) / glyphs::width(&line, 1.0).max(1.0);
    let size = room.min(15.0);
    text(at, size, Anchor::Middle, colour::LIGHT, false, line)
}

/// Returns where seeds gleam, and the width of that: up and to the left of their middles.
pub(super) fn gleams(centres: &[Point], radius: f32) -> (impl Iterator<Item = Point>, f32) {
    let aside = 0.28 * radius;
    let middles = centres.iter().map(move |&(x, y)| (x - aside, y - aside));
    (middles, 0.62 * radius)
}

fn slab(corner: Point, (width, height): (f32, f32), radius: f32, fill: Colour) -> Shape {
    Shape::Slab {
        corner,
        width,
        height,
        radius,
        fill: Some(fill),
        rim: None,
    }
}

pub(super) fn disc(
    (x, y): Point,
    radius: f32,
    fill: Option<Colour>,
    rim: Option<(Colour, f32)>,
) -> Shape {
    Shape::Slab {
        corner: (x - radius, y - radius),
        width: 2.0 * radius,
        height: 2.0 * radius,
        radius,
        fill,
        rim,
    }
}

pub(super) fn text(
    at: Point,
    size: f32,
    anchor: Anchor,
    colour: Colour,
    bold: bool,
    text: String,
) -> Shape {
    Shape::Text {
        at,
        size,
        anchor,
        colour,
        bold,
        text,
    }
}
