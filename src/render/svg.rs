//! Scenes as SVG.

use std::fmt::Write;

use crate::position::{MoveError, Position};
use crate::render::scene::{Anchor, Colour, Point, Scene, Shape, colour, gleams};
use crate::render::way::Way;

/// Draws a position as an SVG picture that needs no style sheet, font file or script.
///
/// The picture has the position's text as its title. Its seeds are its only circles.
///
/// ```
/// use endodoi::{render, Position, Variant};
/// let picture = render::svg(&Position::start(&Variant::EnDodoi.ruleset()));
/// assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>"));
/// assert_eq!(picture.matches("<circle").count(), 64);
/// ```
pub fn svg(position: &Position) -> String {
    write_scene(&Scene::new(position, None, None), &position.to_string())
}

/// Plays a column and draws the position it leads to with the way of its sowing.
///
/// The pit that was lifted first has a blue rim, the way of every lap is a blue line, the pit of
/// the last seed has a white rim, and the pits of a capture have a red one. Of a sowing of more than
/// six rounds of the board the last laps are drawn, of an endless one the first (S6).
///
/// ```
/// use endodoi::{render, Position, Variant};
/// let start = Position::start(&Variant::EnDodoi.ruleset());
/// let picture = render::svg_of_move(&start, 3)?;
/// assert!(picture.contains(&start.play(3)?.to_string()));
/// # Ok::<(), endodoi::MoveError>(())
/// ```
///
/// # Errors
/// [`MoveError`] as [`Position::play`] for a column that cannot be played.
pub fn svg_of_move(position: &Position, column: usize) -> Result<String, MoveError> {
    let (after, sowing) = position.play_sowing(column)?;
    let way = Way::new(position, column, &sowing);
    let scene = Scene::new(&after, None, Some(&way));
    Ok(write_scene(&scene, &after.to_string()))
}

fn write_scene(scene: &Scene, title: &str) -> String {
    let mut out = head(scene, title);
    for shape in &scene.shapes {
        // Writing to a string does not fail.
        let _ = write_shape(&mut out, shape);
    }
    out.push_str("</svg>");
    out
}

/// Opens the picture of a scene.
pub(super) fn head(scene: &Scene, title: &str) -> String {
    let Scene { width, height, .. } = scene;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" style=\"max-width:100%\" role=\"img\" \
         font-family=\"sans-serif\"><title>{title}</title>"
    )
}

pub(super) fn write_shape(out: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Slab {
            corner,
            width,
            height,
            radius,
            fill,
            rim,
        } => {
            write_slab(out, *corner, [*width, *height, *radius])?;
            let fill = fill.map_or_else(|| "none".to_owned(), hex);
            write!(out, " fill=\"{fill}\"")?;
            if let Some((colour, width)) = rim {
                let width = number(*width);
                write!(out, " stroke=\"{}\" stroke-width=\"{width}\"", hex(*colour))?;
            }
            out.push_str("/>");
            Ok(())
        }
        Shape::Seeds { centres, radius } => write_seeds(out, centres, *radius),
        Shape::Text {
            at,
            size,
            anchor,
            colour,
            bold,
            text,
        } => {
            write_text_start(out, *at, *size, *anchor)?;
            let weight = if *bold { " font-weight=\"bold\"" } else { "" };
            let fill = hex(*colour);
            write!(out, "{weight} fill=\"{fill}\">{}</text>", escape(text))
        }
        Shape::Line {
            points,
            colour,
            width,
            opacity,
        } => write!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\" opacity=\"{}\"/>",
            list(points),
            hex(*colour),
            number(*width),
            number(*opacity)
        ),
        Shape::Area { points, fill } => {
            let (points, fill) = (list(points), hex(*fill));
            write!(out, "<polygon points=\"{points}\" fill=\"{fill}\"/>")
        }
    }
}

/// Opens a rectangle of some width and height with round corners.
fn write_slab(
    out: &mut String,
    (x, y): Point,
    [width, height, radius]: [f32; 3],
) -> std::fmt::Result {
    let (x, y) = (number(x), number(y));
    let (width, height) = (number(width), number(height));
    write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""
    )?;
    if radius > 0.0 {
        write!(out, " rx=\"{}\"", number(radius))?;
    }
    Ok(())
}

fn write_text_start(
    out: &mut String,
    (x, y): Point,
    size: f32,
    anchor: Anchor,
) -> std::fmt::Result {
    let (x, y, size) = (number(x), number(y), number(size));
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}"
    )
}

fn write_seeds(out: &mut String, centres: &[Point], radius: f32) -> std::fmt::Result {
    write!(
        out,
        "<g fill=\"{}\" stroke=\"{}\" stroke-width=\"1\">",
        hex(colour::SEED),
        hex(colour::SEED_EDGE)
    )?;
    let size = number(radius);
    for &(x, y) in centres {
        let (x, y) = (number(x), number(y));
        write!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{size}\"/>")?;
    }
    let (gleams, width) = gleams(centres, radius);
    let (colour, width) = (hex(colour::GLEAM), number(width));
    out.push_str("</g><path d=\"");
    for (x, y) in gleams {
        write!(out, "M{} {}h.01", number(x), number(y))?;
    }
    write!(
        out,
        "\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
    )
}

/// Writes a number with one decimal, or two below 1, without zeros at its end.
pub(super) fn number(value: f32) -> String {
    let text = if value.abs() < 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    };
    match text.trim_end_matches('0').trim_end_matches('.') {
        "" | "-" | "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

fn list(points: &[Point]) -> String {
    let points = points
        .iter()
        .map(|&(x, y)| format!("{},{}", number(x), number(y)));
    points.collect::<Vec<String>>().join(" ")
}

pub(super) fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
