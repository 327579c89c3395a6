//! Where seeds lie in a pit and in a tray.

use crate::render::scene::Point;

/// The most seeds of a pit that are drawn; its number tells the rest.
pub(super) const MOST_IN_PIT: usize = 60;

/// The largest radius of a seed.
const SEED: f32 = 5.6;

/// Seeds on the rings around the centre, for heaps of up to seven.
const SMALL: [&[usize]; 8] = [&[], &[1], &[2], &[3], &[4], &[5], &[1, 5], &[1, 6]];

/// A turn by the golden angle, which sunflowers use: its cosine and sine.
const GOLDEN: (f32, f32) = (-0.737_368_9, 0.675_490_3);

/// Places the seeds of a pit, the first ones of a large heap; returns their centres and radius.
///
/// No two cover each other. Only additions, products and roots are used, which are the same on
/// every platform.
pub(super) fn in_pit(seeds: usize, centre: Point, radius: f32) -> (Vec<Point>, f32) {
    let seeds = seeds.min(MOST_IN_PIT);
    if let Some(rings) = SMALL.get(seeds) {
        let turn = turns(seeds);
        let mut centres = Vec::new();
        for &count in *rings {
            let reach = match (count, rings.len()) {
                (1, _) => 0.0,
                (2, 1) => 7.2,
                (3, 1) => 8.2,
                (4, 1) => 9.4,
                (5, 1) => 11.0,
                _ => 13.2,
            };
            centres.extend(on_ring(count, reach, turn, centre));
        }
        return (centres, SEED);
    }
    // The closest of these points are 1.54 spacings apart.
    let spacing = (radius - 1.0) / ((seeds as f32).sqrt() + 0.75);
    let seed = (0.76 * spacing).min(SEED);
    let mut direction = (1.0, 0.0);
    let centres = (0..seeds)
        .map(|index| {
            let reach = spacing * (index as f32 + 0.5).sqrt();
            direction = rotate(direction, GOLDEN);
            (
                centre.0 + reach * direction.0,
                centre.1 + reach * direction.1,
            )
        })
        .collect();
    (centres, seed)
}

/// Places captured seeds in rows, as many as find room; returns their centres and radius.
pub(super) fn in_tray(
    seeds: usize,
    (left, top): Point,
    (width, height): (f32, f32),
) -> (Vec<Point>, f32) {
    let room = |rows: usize| {
        let pitch = height / rows as f32;
        (pitch, ((width / pitch - 0.5) as usize).max(1))
    };
    let fits = |&rows: &usize| room(rows).1 * rows >= seeds;
    let rows = (2..=5).find(fits).unwrap_or(5);
    let (pitch, in_row) = room(rows);
    let centres = (0..seeds.min(rows * in_row))
        .map(|index| {
            // Column by column, every other row half a seed to the right.
            let (place, row) = (index / rows, index % rows);
            let shift = if row % 2 == 1 { 1.0 } else { 0.5 };
            (
                left + (place as f32 + shift) * pitch,
                top + (row as f32 + 0.5) * pitch,
            )
        })
        .collect();
    (centres, (0.43 * pitch).min(SEED))
}

/// Returns a direction that makes heaps of different sizes lie differently.
fn turns(seeds: usize) -> Point {
    (0..seeds).fold((0.0, -1.0), |direction, _| rotate(direction, GOLDEN))
}

fn on_ring(
    count: usize,
    reach: f32,
    mut direction: Point,
    centre: Point,
) -> impl Iterator<Item = Point> {
    let step = match count {
        2 => (-1.0, 0.0),
        3 => (-0.5, 0.866_025_4),
        4 => (0.0, 1.0),
        5 => (0.309_017, 0.951_056_5),
        _ => (0.5, 0.866_025_4),
    };
    (0..count).map(move |_| {
        direction = rotate(direction, step);
        (
            centre.0 + reach * direction.0,
            centre.1 + reach * direction.1,
        )
    })
}

/// Turns a direction by another one.
fn rotate((x, y): Point, (cosine, sine): Point) -> Point {
    (x * cosine - y * sine, x * sine + y * cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells whether some two discs cover each other.
    fn cover(centres: &[Point], radius: f32) -> bool {
        let apart = |one: &Point, two: &Point| (one.0 - two.0).hypot(one.1 - two.1);
        centres.iter().enumerate().any(|(index, one)| {
            let others = &centres[..index];
            others
                .iter()
                .any(|two| apart(one, two) < 2.0 * radius - 0.01)
        })
    }

    #[test]
    fn seeds_in_a_pit_lie_side_by_side_within_it() {
        for seeds in 1..=MOST_IN_PIT + 5 {
            let (centres, radius) = in_pit(seeds, (50.0, 80.0), 24.0);
            assert_eq!(centres.len(), seeds.min(MOST_IN_PIT));
            assert!(!cover(&centres, radius), "{seeds}");
            assert!(radius > 2.0, "{seeds}: {radius}");
            for (x, y) in centres {
                let reach = (x - 50.0).hypot(y - 80.0) + radius;
                assert!(reach <= 24.0, "{seeds}: {reach}");
            }
        }
    }

    #[test]
    fn seeds_in_a_tray_lie_side_by_side_within_it() {
        for seeds in [1, 2, 30, 48, 49, 100, 144, 200, 400] {
            let (centres, radius) = in_tray(seeds, (10.0, 20.0), (280.0, 30.0));
            assert!(centres.len() == seeds || centres.len() > 200, "{seeds}");
            assert!(!cover(&centres, radius), "{seeds}");
            for (x, y) in centres {
                assert!(x - radius >= 10.0 && x + radius <= 290.0, "{seeds}: {x}");
                assert!(y - radius >= 20.0 && y + radius <= 50.0, "{seeds}: {y}");
            }
        }
    }
}
