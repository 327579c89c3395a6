//! Batches as bytes: written, restored, refused.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod batch_twin;
mod common;

use batch_twin::{batch, step};
use common::{changed, dodoi};
use endodoi::batch::{Batch, BatchConfig, BatchError, IllegalMove, SnapshotError, StepArrays};
use endodoi::rng::{self, Purpose};
use endodoi::{Endless, LoneCapture, Ruleset, Variant};

fn state(batch: &Batch) -> Vec<u8> {
    batch.save().expect("saved")
}

fn masks(batch: &Batch) -> Vec<i8> {
    let mut masks = vec![0; batch.rows() * batch.ruleset().columns()];
    batch.masks(&mut masks).expect("right length");
    masks
}

/// A batch in mid-game with open, finished, cut and lost rows and one never reset.
fn mixed_batch(ruleset: Ruleset) -> Batch {
    let config = BatchConfig {
        illegal: IllegalMove::Loss,
        max_plies: Some(30),
        random_opening_plies: 2,
        ..BatchConfig::new(80, ruleset)
    };
    let mut fast = batch(config, 21);
    let mut rng = rng::stream(9, 0, Purpose::Policy);
    for _ in 0..45 {
        let actions = mostly_legal(&fast, &mut rng);
        step(&mut fast, &actions);
    }
    fast
}

fn mostly_legal(batch: &Batch, rng: &mut rng::Xoshiro128PlusPlus) -> Vec<i64> {
    let columns = batch.ruleset().columns();
    let masks = masks(batch);
    masks
        .chunks(columns)
        .map(|mask| {
            let legal: Vec<usize> = (0..columns).filter(|&c| mask[c] == 1).collect();
            if legal.is_empty() || rng::below(rng, 100) == 0 {
                return 99;
            }
            legal[rng::below(rng, legal.len() as u32) as usize] as i64
        })
        .collect()
}

#[test]
fn a_restored_batch_goes_on_identically() {
    for ruleset in [
        dodoi(6),
        Variant::CrossEndodoi.ruleset(),
        changed(&dodoi(4), |f| {
            f.endless = Some(Endless::Draw);
            f.lone_capture = Some(LoneCapture::Taken);
            f.lap_limit = Some(8);
        }),
        dodoi(13),
    ] {
        let mut fast = mixed_batch(ruleset);
        let bytes = state(&fast);
        let mut restored = Batch::restore(&bytes).expect("restored");
        assert_eq!(restored.config(), fast.config());
        assert_eq!(state(&restored), bytes);
        assert_eq!(masks(&restored), masks(&fast));
        let mut rng = rng::stream(10, 0, Purpose::Policy);
        for _ in 0..60 {
            let actions = mostly_legal(&fast, &mut rng);
            let arrays = step(&mut fast, &actions);
            assert_eq!(arrays, step(&mut restored, &actions));
        }
        for row in 0..fast.rows() {
            assert_eq!(fast.outcome(row), restored.outcome(row));
            assert_eq!(fast.episode(row), restored.episode(row));
        }
    }
}

#[test]
fn a_batch_not_reset_yet_is_restored_as_such() {
    let mut fresh = Batch::new(BatchConfig::new(3, dodoi(6))).expect("valid settings");
    fresh
        .reset(None, Some(&[true, false, false]))
        .expect("reset");
    let mut restored = Batch::restore(&state(&fresh)).expect("restored");
    let mut arrays = StepArrays::new(&restored);
    assert_eq!(
        restored.step(&[0; 3], arrays.buffers()),
        Err(BatchError::NotReset { row: 1 })
    );
}

/// Replaces the checksum, so that only the content is wrong.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let hash = bytes[..end]
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

fn refusal(bytes: &[u8]) -> BatchError {
    Batch::restore(bytes).expect_err("corrupt")
}

#[test]
fn corrupt_snapshots_are_refused() {
    let bytes = state(&mixed_batch(dodoi(6)));
    assert!(Batch::restore(&sealed(bytes.clone())).is_ok());
    for length in 0..bytes.len() {
        assert!(matches!(refusal(&bytes[..length]), BatchError::Snapshot(_)));
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        refusal(&changed);
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(
        refusal(&longer),
        BatchError::Snapshot(SnapshotError::Length { .. })
    ));
    let mut version = bytes.clone();
    version[8] = 2;
    assert_eq!(
        refusal(&sealed(version)),
        BatchError::Snapshot(SnapshotError::Version {
            got: 2,
            expected: 1
        })
    );
}

#[test]
fn snapshots_of_impossible_games_are_refused_by_field() {
    let mut fast = batch(BatchConfig::new(1, dodoi(6)), 1);
    step(&mut fast, &[0]);
    let bytes = state(&fast);
    // The row is the last 28 + 2N bytes before the checksum.
    let row = bytes.len() - 8 - (28 + 24);
    let cases: [(usize, &[u8], &str); 7] = [
        (0, &[77], "status is 77"),
        (0, &[2], "status is 2"),
        (1, &[2], "side to move is 2"),
        (2, &[0xFF, 0xFF], "quiet is 65535"),
        (
            4,
            &[0xFF, 0x7F, 0xFF, 0x7F],
            "seeds on the board and captured",
        ),
        (8, &[0xFF, 0xFF, 0xFF, 0xFF], "plies is 4294967295"),
        (28, &[0xFF, 0xFF], "holds 65535 seeds"),
    ];
    for (offset, value, message) in cases {
        let mut changed = bytes.clone();
        changed[row + offset..][..value.len()].copy_from_slice(value);
        let error = refusal(&sealed(changed)).to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Any change of any byte is restored or refused, never more than that.
#[test]
fn changed_and_sealed_snapshots_never_panic() {
    let bytes = state(&mixed_batch(dodoi(3)));
    let mut rng = rng::stream(12, 0, Purpose::Policy);
    let mut refused = 0;
    for _ in 0..2000 {
        let mut changed = bytes.clone();
        let at = rng::below(&mut rng, changed.len() as u32) as usize;
        changed[at] = rng::below(&mut rng, 256) as u8;
        match Batch::restore(&sealed(changed)) {
            Ok(mut restored) => {
                let actions = mostly_legal(&restored, &mut rng);
                step(&mut restored, &actions);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100, "{refused}");
}
