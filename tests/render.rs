//! Pictures of positions: text, SVG and pixels.

#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use common::{changed, dodoi, random_board, set_up, stream};
use endodoi::render::{self, PictureError};
use endodoi::{Endless, MoveError, Position, Side, Variant};

/// Seeds drawn in every group of discs: those captured by North and South, then the pits with
/// seeds, North's row first, from the left of the picture.
fn drawn(picture: &str) -> Vec<usize> {
    let groups = picture.split("<g ").skip(1);
    groups
        .map(|group| {
            let group = group.split("</g>").next().unwrap_or_default();
            group.matches("<circle").count()
        })
        .collect()
}

/// The texts on a picture.
fn texts(picture: &str) -> Vec<&str> {
    let texts = picture.split("</text>").filter_map(|part| {
        let start = part.find("<text")?;
        part[start..].split('>').nth(1)
    });
    texts.collect()
}

/// Returns the seeds of the pits, North's row first, from the left of the picture.
fn shown(position: &Position) -> Vec<u16> {
    let board = position.board();
    let north = board.row(Side::North).iter().rev();
    north.chain(board.row(Side::South)).copied().collect()
}

#[test]
fn opposite_pits_face_each_other_in_the_text() {
    let position = Position::from_text("1,2,30/4,5,600 S 7-8 0", &dodoi(3)).expect("a position");
    assert_eq!(
        render::ansi(&position),
        "\
North    2    1    0
       600    5    4   captured 8
         1    2   30   captured 7
South   [0]  [1]  [2]
South to move"
    );
}

#[test]
fn the_end_is_named() {
    let position = Position::from_text("0,0/1,1 S 3-1 0", &dodoi(2)).expect("a position");
    assert!(render::ansi(&position).ends_with("draw (stuck)"));
    assert!(texts(&render::svg(&position)).contains(&"draw (stuck)"));
}

/// Checks that a text has every column once, all seeds in their order, and lines that fit.
fn check_text(position: &Position) {
    let text = render::ansi(position);
    let columns = position.board().columns();
    let bands = if columns > 16 {
        columns.div_ceil(11)
    } else {
        1
    };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5 * bands);
    let numbers = |name: &str| -> Vec<usize> {
        let own = lines[..5 * bands - 1]
            .iter()
            .filter(|line| line.starts_with(name));
        let words = own.flat_map(|line| line[5..].split_whitespace());
        words
            .map(|word| word.trim_matches(['[', ']']).parse().expect("a column"))
            .collect()
    };
    assert_eq!(numbers("South"), (0..columns).collect::<Vec<_>>());
    assert_eq!(numbers("North"), (0..columns).rev().collect::<Vec<_>>());
    let seeds = |row: usize| -> Vec<u16> {
        let own = (0..bands).flat_map(|band| {
            let line = lines[5 * band + row].split("captured").next();
            line.unwrap_or_default().split_whitespace()
        });
        own.map(|word| word.parse().expect("seeds")).collect()
    };
    assert_eq!([seeds(1), seeds(2)].concat(), shown(position));
    for (side, line) in [(Side::North, 1), (Side::South, 5 * bands - 3)] {
        let captured = position.board().captured()[side.index()];
        assert!(lines[line].ends_with(&format!("  captured {captured}")));
    }
    assert_eq!(text.matches("captured ").count(), 2);
    if columns > 16 {
        assert!(lines.iter().all(|line| line.len() <= 80), "{text}");
    }
}

#[test]
fn every_pit_shows_its_seeds_and_their_number_on_boards_of_all_sizes() {
    let mut rng = stream(41, 0);
    for columns in 1..=64 {
        let ruleset = dodoi(columns);
        for most in [3, 12, 90] {
            let board = random_board(&mut rng, ruleset.pits(), most);
            let position = set_up(&ruleset, &board, 1, [3, 30], 5);
            let picture = render::svg(&position);
            let seeds = shown(&position);
            let captured = position.board().captured();
            if captured == [3, 30] {
                let discs = seeds.iter().map(|&seeds| usize::from(seeds.min(60)));
                let expected = [30, 3].into_iter().chain(discs.filter(|&seeds| seeds > 0));
                assert_eq!(drawn(&picture), expected.collect::<Vec<_>>(), "{position}");
            }
            // Seeds and label of every pit, names and captures, the status.
            let mut expected: Vec<String> = seeds.iter().map(u16::to_string).collect();
            expected
                .extend((0..columns).flat_map(|column| [column.to_string(), column.to_string()]));
            expected.extend(captured.map(|seeds| seeds.to_string()));
            expected.extend(["North", "South"].map(str::to_owned));
            let status = render::ansi(&position);
            expected.extend(status.lines().last().map(str::to_owned));
            let mut got = texts(&picture);
            got.sort_unstable();
            expected.sort_unstable();
            assert_eq!(got, expected, "{position}");
            check_text(&position);
        }
    }
}

#[test]
fn playable_pits_have_bright_rims() {
    // Column 0 is empty.
    let ruleset = dodoi(6);
    let position = set_up(
        &ruleset,
        &[0, 1, 2, 3, 4, 5, 4, 4, 4, 4, 4, 4],
        0,
        [0, 0],
        0,
    );
    let rims = |position: &Position| {
        let picture = render::svg(position);
        picture.matches("stroke=\"#ffd45e\"").count()
    };
    assert_eq!(rims(&position), 5);
    let over = Position::from_text("0,0/1,1 S 3-1 0", &dodoi(2)).expect("a position");
    assert_eq!(rims(&over), 0);
}

#[test]
fn wide_boards_are_cut_into_bands_of_sixteen_columns_at_most() {
    for (columns, size) in [
        (1, (384, 352)),
        (5, (384, 352)),
        (6, (448, 352)),
        (16, (1088, 352)),
        (17, (640, 560)),
        (32, (1088, 560)),
        (33, (768, 768)),
        (50, (896, 976)),
        (64, (1088, 976)),
    ] {
        let start = Position::start(&dodoi(columns));
        let picture = render::pixels(&start, None, 1).expect("a scale");
        assert_eq!((picture.width, picture.height), size, "{columns} columns");
        let view = format!("viewBox=\"0 0 {} {}\"", size.0, size.1);
        assert!(render::svg(&start).contains(&view));
    }
}

#[test]
fn sizes_of_pixels_are_even_and_all_of_them_are_there() {
    for columns in 1..=64 {
        let start = Position::start(&dodoi(columns));
        for scale in if columns % 31 == 6 { 1..=4 } else { 1..=1 } {
            let picture = render::pixels(&start, None, scale).expect("a scale");
            assert_eq!((picture.width % 2, picture.height % 2), (0, 0));
            assert_eq!(picture.rgb.len(), 3 * picture.width * picture.height);
        }
    }
}

#[test]
fn pixels_tell_positions_and_lines_apart() {
    let mut positions = vec![Position::start(&dodoi(6))];
    for column in [0, 1, 3] {
        let last = positions[positions.len() - 1];
        positions.push(last.play(column).expect("legal"));
    }
    let draw = |position: &Position, line| render::pixels(position, line, 1).expect("a scale");
    let mut pictures: Vec<_> = positions.iter().map(|p| draw(p, None)).collect();
    assert_eq!(pictures[0], draw(&positions[0], None));
    pictures.push(draw(&positions[0], Some("South to move; over (max_plies)")));
    pictures.push(draw(&positions[0], Some("South to move; over (illegal)")));
    for (index, one) in pictures.iter().enumerate() {
        assert!(pictures[..index].iter().all(|two| one != two), "{index}");
    }
}

#[test]
fn scales_outside_their_range_are_refused() {
    let start = Position::start(&dodoi(2));
    for scale in [i64::MIN, -1, 0, 5, i64::MAX] {
        let refused = render::pixels(&start, None, scale);
        assert_eq!(refused, Err(PictureError::Scale { scale }));
    }
}

/// Colours of the rims on a picture of a move: lifted first, last seed, captured.
fn marks(picture: &str) -> [usize; 3] {
    ["#6cd4f5", "#fff6e6", "#ff8a65"].map(|colour| {
        let rim = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"3.5\"");
        picture.matches(&rim).count()
    })
}

#[test]
fn a_picture_of_a_move_shows_the_position_after_it_and_the_way_there() {
    let start = Position::start(&dodoi(6));
    // Five laps with a capture, and five laps that end in North's row (rules.md).
    for (column, pits) in [(0, [1, 1, 2]), (4, [1, 1, 0])] {
        let picture = render::svg_of_move(&start, column).expect("legal");
        assert_eq!(marks(&picture), pits);
        assert_eq!(picture.matches("<polyline").count(), 1 + 5);
        assert_eq!(picture.matches("<polygon").count(), 1 + 5);
        let after = start.play(column).expect("legal");
        assert_eq!(drawn(&picture), drawn(&render::svg(&after)));
        assert!(picture.contains(&format!("<title>{after}</title>")));
    }
}

#[test]
fn a_lone_seed_taken_marks_its_own_pit_alone() {
    let ruleset = changed(&dodoi(3), |f| {
        f.lone_capture = Some(endodoi::LoneCapture::Taken);
    });
    let position = set_up(&ruleset, &[1, 0, 2, 2, 0, 2], 0, [0, 0], 0);
    let picture = render::svg_of_move(&position, 0).expect("legal");
    assert_eq!(marks(&picture), [1, 1, 1]);
}

#[test]
fn the_way_of_a_move_is_cut_at_the_ends_of_bands() {
    let start = Position::start(&Variant::EnGehe.ruleset());
    let picture = render::svg_of_move(&start, 12).expect("legal");
    assert_eq!(marks(&picture), [1, 1, 2]);
    let (_, sowing) = start.play_sowing(12).expect("legal");
    // A groove for each of the four bands, a line for each lap and for each change of the band.
    assert!(picture.matches("<polyline").count() > 4 + sowing.laps as usize);
}

#[test]
fn an_endless_move_is_drawn_where_it_may_be_played() {
    let ruleset = changed(&dodoi(2), |f| f.endless = Some(Endless::Draw));
    let position = set_up(&ruleset, &[2, 0, 2, 1], 0, [0, 0], 0);
    let picture = render::svg_of_move(&position, 0).expect("legal");
    assert!(texts(&picture).contains(&"draw (endless)"));
    assert_eq!(marks(&picture), [1, 0, 0]);
    let empty = render::svg_of_move(&position, 1);
    assert!(matches!(empty, Err(MoveError::EmptyPit { .. })));
}

#[test]
fn pixels_of_a_move_show_the_way_over_the_position_after_it() {
    let start = Position::start(&dodoi(6));
    let after = start.play(0).expect("legal");
    let way = render::pixels_of_move(&start, 0, None, 1).expect("legal");
    let rest = render::pixels(&after, None, 1).expect("a scale");
    assert_eq!((way.width, way.height), (rest.width, rest.height));
    let changed = way
        .rgb
        .iter()
        .zip(&rest.rgb)
        .filter(|(one, two)| one != two);
    let share = changed.count() as f64 / rest.rgb.len() as f64;
    assert!((0.001..0.2).contains(&share), "{share}");
    let refused = render::pixels_of_move(&start, 9, None, 1);
    assert!(matches!(refused, Err(PictureError::Move(_))));
    let refused = render::pixels_of_move(&start, 0, None, 7);
    assert_eq!(refused, Err(PictureError::Scale { scale: 7 }));
}

/// The last value of every animated attribute of some name.
fn last_values<'a>(film: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!("<animate attributeName=\"{attribute}\"");
    let values = film.split(start.as_str()).skip(1).filter_map(|part| {
        let values = part.split("values=\"").nth(1)?.split('"').next()?;
        values.rsplit(';').next()
    });
    values.collect()
}

#[test]
fn a_film_ends_with_the_last_position_and_its_line() {
    let start = Position::start(&dodoi(6));
    let columns = [0, 1, 3];
    let end = columns.iter().fold(start, |position, &column| {
        position.play(column).expect("legal")
    });
    let film = render::svg_of_game(&start, &columns, Some("a < line")).expect("legal");
    let heaps: Vec<&str> = last_values(&film, "href");
    let pits = end.board().pits().iter().enumerate();
    let expected: Vec<String> = pits
        .map(|(pit, seeds)| format!("#{}{seeds}", if pit < 6 { 'S' } else { 'N' }))
        .collect();
    assert_eq!(heaps, expected);
    assert!(film.contains(">1. South sows column 0: 5 laps, takes 2<"));
    assert!(film.contains(">a &lt; line<"));
    let captured = end.board().captured();
    for seeds in captured {
        assert!(film.contains(&format!(">{seeds}</text>")));
    }
    let refused = render::svg_of_game(&start, &[0, 9], None);
    assert!(matches!(refused, Err(MoveError::ColumnRange { .. })));
}

#[test]
fn a_film_without_moves_stands_still() {
    let start = Position::start(&dodoi(2));
    let film = render::svg_of_game(&start, &[], None).expect("no move");
    assert!(!film.contains("<animate"));
    assert_eq!(film.matches("<use").count(), 4);
}

#[test]
fn a_film_of_an_endless_sowing_goes_back_to_the_board_before_it() {
    let ruleset = changed(&dodoi(2), |f| f.endless = Some(Endless::Draw));
    let position = set_up(&ruleset, &[2, 0, 2, 1], 0, [0, 0], 0);
    let film = render::svg_of_game(&position, &[0], None).expect("legal");
    assert_eq!(last_values(&film, "href"), ["#S2", "#S0", "#N2", "#N1"]);
    assert!(film.contains("without end") && film.contains("draw (endless)"));
}
