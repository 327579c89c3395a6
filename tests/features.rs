//! What a network sees of a position: the same on every set of instructions.
#![allow(clippy::unwrap_used)]

use endodoi::policy::features::{FEATURES, FeatureWriter, write_features};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::simulate::Instructions;
use endodoi::{
    Direction, Endless, LoneCapture, Position, Ruleset, RulesetFields, Setup, Side, Variant,
};

/// Draws a rule set of any size and any options.
fn draw_rules(rng: &mut Xoshiro128PlusPlus) -> Ruleset {
    let mut below = |bound| i64::from(rng::below(rng, bound));
    let columns = [1 + below(9), 1 + below(64), 50][below(3) as usize];
    let fields = RulesetFields {
        columns: Some(columns),
        seeds_per_pit: Some([4, 1 + below(12), 1 + below(64)][below(3) as usize]),
        direction: Some([Direction::Anticlockwise, Direction::Parity][below(2) as usize]),
        lone_capture: Some([LoneCapture::Stays, LoneCapture::Taken][below(2) as usize]),
        endless: Some([Endless::Illegal, Endless::Draw][below(2) as usize]),
        lap_limit: Some([10_000, 1 + below(40)][below(2) as usize]),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

/// Draws a position with many empty pits, or with heavy ones, or from a random game.
fn draw_position(rng: &mut Xoshiro128PlusPlus, ruleset: &Ruleset) -> Option<Position> {
    let columns = ruleset.columns();
    let kind = rng::below(rng, 4);
    if kind > 1 {
        let mut position = Position::start(ruleset);
        for _ in 0..rng::below(rng, 40) {
            let legal = position.legal_moves();
            let column = legal.nth(rng::below(rng, legal.len().max(1) as u32) as usize)?;
            position = position.play(column).ok()?;
        }
        return Some(position);
    }
    let most = [3, 6, 40, 300][rng::below(rng, 4) as usize];
    let mut row = || -> Vec<i64> {
        (0..columns)
            .map(|_| i64::from(rng::below(rng, 3).min(1) * rng::below(rng, most)))
            .collect()
    };
    let (south, north) = (row(), row());
    let setup = Setup {
        south,
        north,
        to_move: [Side::South, Side::North][rng::below(rng, 2) as usize],
        captured: [rng::below(rng, 90).into(), rng::below(rng, 90).into()],
        ..Setup::default()
    };
    setup.position(ruleset).ok()
}

#[test]
fn every_set_of_instructions_writes_the_features_of_the_slow_twin() {
    let mut rng = rng::stream(1, 0, Purpose::Policy);
    let sets = Instructions::ALL
        .into_iter()
        .filter(|set| set.is_available());
    let mut writers: Vec<(Instructions, FeatureWriter)> = sets
        .map(|set| (set, FeatureWriter::with_instructions(set)))
        .collect();
    let (mut compared, mut answered) = (0, 0);
    for _ in 0..400 {
        let ruleset = draw_rules(&mut rng);
        for _ in 0..3 {
            let Some(position) = draw_position(&mut rng, &ruleset) else {
                continue;
            };
            if position.is_over() {
                continue;
            }
            let mut expected = vec![7.0; ruleset.pits() * FEATURES];
            write_features(&position, &mut expected);
            for (set, writer) in &mut writers {
                let mut got = vec![8.0; expected.len()];
                writer.write(&position, &mut got);
                assert!(got == expected, "{} {ruleset} {position}", set.name());
            }
            compared += 1;
            // The other side's share of playable answers.
            answered += usize::from(expected.chunks(FEATURES).any(|row| row[27] > 0.0));
        }
    }
    assert!(compared > 800 && answered > 300, "{compared} {answered}");
}

#[test]
fn a_longer_array_is_filled_from_its_start_and_a_shorter_one_left_alone() {
    let position = Position::start(&Variant::EnGehe.ruleset());
    let length = position.ruleset().pits() * FEATURES;
    let mut writer = FeatureWriter::default();
    for more in [-1, 0, 1] {
        let mut out = vec![7.0_f32; length.saturating_add_signed(more)];
        writer.write(&position, &mut out);
        let kept = out.iter().filter(|&&number| number >= 7.0).count();
        assert_eq!(kept, [length - 1, 0, 1][(more + 1) as usize], "{more}");
    }
}
