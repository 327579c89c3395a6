//! Scenes as pixels.

use thiserror::Error;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

use crate::position::{MoveError, Position};
use crate::render::glyphs;
use crate::render::scene::{Anchor, Colour, Point, Scene, Shape, colour, gleams};
use crate::render::way::Way;

/// The most pixels for each unit of a picture.
pub const MAX_SCALE: i64 = 4;

/// A picture as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// `W`, an even number.
    pub width: usize,
    /// `H`, an even number.
    pub height: usize,
    /// `u8[H, W, 3]`: red, green and blue from the upper left corner row by row.
    pub rgb: Vec<u8>,
}

/// Why a picture is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PictureError {
    /// A scale outside its range.
    #[error("scale is {scale}, expected 1 to {MAX_SCALE}")]
    Scale {
        /// The scale given.
        scale: i64,
    },
    /// A column that cannot be played.
    #[error(transparent)]
    Move(#[from] MoveError),
}

/// Draws a position as pixels, `scale` of them for each unit of the [sizes](crate::render) of a picture.
///
/// `status` replaces the line that says whose turn it is or how the game ended, for games that ended
/// by something else than the rules.
///
/// ```
/// use endodoi::{render, Position, Variant};
/// let picture = render::pixels(&Position::start(&Variant::CrossEndodoi.ruleset()), None, 1)?;
/// assert_eq!((picture.width, picture.height), (448, 352));
/// assert_eq!(picture.rgb.len(), 3 * 448 * 352);
/// # Ok::<(), render::PictureError>(())
/// ```
///
/// # Errors
/// [`PictureError`] for a scale outside 1 to [`MAX_SCALE`].
pub fn pixels(
    position: &Position,
    status: Option<&str>,
    scale: i64,
) -> Result<Picture, PictureError> {
    paint_scene(&Scene::new(position, status, None), scale)
}

/// Plays a column and draws the position it leads to with the way of its sowing, as
/// [`svg_of_move`](crate::render::svg_of_move) does, in the pixels of [`pixels`].
///
/// # Errors
/// [`PictureError`] for a scale outside 1 to [`MAX_SCALE`] and a column that cannot be played.
pub fn pixels_of_move(
    position: &Position,
    column: usize,
    status: Option<&str>,
    scale: i64,
) -> Result<Picture, PictureError> {
    let (after, sowing) = position.play_sowing(column)?;
    let way = Way::new(position, column, &sowing);
    paint_scene(&Scene::new(&after, status, Some(&way)), scale)
}

fn paint_scene(scene: &Scene, scale: i64) -> Result<Picture, PictureError> {
    let refused = || PictureError::Scale { scale };
    if !(1..=MAX_SCALE).contains(&scale) {
        return Err(refused());
    }
    let (width, height) = (scene.width * scale as u32, scene.height * scale as u32);
    // Pictures of these sizes are far from what it refuses.
    let mut canvas = Canvas {
        pixels: Pixmap::new(width, height).ok_or_else(refused)?,
        scale: Transform::from_scale(scale as f32, scale as f32),
    };
    // Bytes have no transparent corners.
    let [red, green, blue] = colour::EDGE;
    canvas
        .pixels
        .fill(tiny_skia::Color::from_rgba8(red, green, blue, 255));
    for shape in &scene.shapes {
        canvas.draw(shape);
    }
    let opaque = canvas.pixels.data().as_chunks::<4>().0;
    Ok(Picture {
        width: width as usize,
        height: height as usize,
        rgb: opaque
            .iter()
            .flat_map(|&[red, green, blue, _]| [red, green, blue])
            .collect(),
    })
}

/// Pixels that shapes are drawn on.
struct Canvas {
    pixels: Pixmap,
    scale: Transform,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Slab {
                corner,
                width,
                height,
                radius,
                fill,
                rim,
            } => {
                let path = slab(*corner, (*width, *height), *radius);
                if let Some(fill) = fill {
                    self.fill(path.as_ref(), *fill);
                }
                if let Some((colour, width)) = rim {
                    self.stroke(path.as_ref(), *colour, *width, 1.0);
                }
            }
            Shape::Seeds { centres, radius } => self.draw_seeds(centres, *radius),
            Shape::Text {
                at: (x, y),
                size,
                anchor,
                colour,
                bold,
                text,
            } => {
                let width = glyphs::width(text, *size);
                let left = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                let path = glyphs::path(text, *size, (left, *y));
                let weight = if *bold { 0.13 } else { 0.085 };
                self.stroke(path.as_ref(), *colour, weight * size, 1.0);
            }
            Shape::Line {
                points,
                colour,
                width,
                opacity,
            } => self.stroke(polyline(points, false).as_ref(), *colour, *width, *opacity),
            Shape::Area { points, fill } => self.fill(polyline(points, true).as_ref(), *fill),
        }
    }

    fn draw_seeds(&mut self, centres: &[Point], radius: f32) {
        let discs = circles(centres.iter().copied(), radius);
        self.fill(discs.as_ref(), colour::SEED);
        self.stroke(discs.as_ref(), colour::SEED_EDGE, 1.0, 1.0);
        let (middles, width) = gleams(centres, radius);
        self.fill(circles(middles, width / 2.0).as_ref(), colour::GLEAM);
    }

    /// Fills a path; `None` is an empty one.
    fn fill(&mut self, path: Option<&Path>, colour: Colour) {
        if let Some(path) = path {
            let paint = paint(colour, 1.0);
            let pixels = &mut self.pixels;
            pixels.fill_path(path, &paint, FillRule::Winding, self.scale, None);
        }
    }

    fn stroke(&mut self, path: Option<&Path>, colour: Colour, width: f32, opacity: f32) {
        let stroke = Stroke {
            width,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        if let Some(path) = path {
            let paint = paint(colour, opacity);
            let pixels = &mut self.pixels;
            pixels.stroke_path(path, &paint, &stroke, self.scale, None);
        }
    }
}

fn paint([red, green, blue]: Colour, opacity: f32) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity) as u8);
    paint.anti_alias = true;
    paint
}

fn circles(centres: impl Iterator<Item = Point>, radius: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (x, y) in centres {
        path.push_circle(x, y, radius);
    }
    path.finish()
}

fn polyline(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 {
            path.move_to(x, y);
        } else {
            path.line_to(x, y);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Builds a rectangle with round corners.
fn slab((x, y): Point, (width, height): (f32, f32), radius: f32) -> Option<Path> {
    if radius <= 0.0 {
        return Rect::from_xywh(x, y, width, height).map(PathBuilder::from_rect);
    }
    let (right, bottom) = (x + width, y + height);
    // The usual cubic curve for a quarter of a circle.
    let near = radius * (1.0 - 0.552_284_8);
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.cubic_to(right - near, y, right, y + near, right, y + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(
        right,
        bottom - near,
        right - near,
        bottom,
        right - radius,
        bottom,
    );
    path.line_to(x + radius, bottom);
    path.cubic_to(x + near, bottom, x, bottom - near, x, bottom - radius);
    path.line_to(x, y + radius);
    path.cubic_to(x, y + near, x + near, y, x + radius, y);
    path.close();
    path.finish()
}
