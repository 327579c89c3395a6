//! Digests of fixed seeded games: they move exactly when behaviour does.
//!
//! `cargo test --test digest -- --nocapture` prints one line for each rule set of
//! `tests/data/digest.json`. A change that is meant to move a digest records the new values with
//! `ENDODOI_RECORD_DIGEST=1 cargo test --test digest`; the slow reference must agree first.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::path::PathBuf;

use endodoi::perft::digest;
use endodoi::reference::Game;
use endodoi::rng::{self, Purpose};
use endodoi::{Ruleset, Variant};
use serde::{Deserialize, Serialize};

/// The seed of all games.
const SEED: u64 = 1;

/// Games that the slow reference plays of each rule set.
const SLOW_GAMES: u64 = 20;

/// One line of the table.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    ruleset: Ruleset,
    games: u64,
    max_plies: u32,
    /// 16 hexadecimal digits.
    digest: String,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/digest.json")
}

fn table() -> Vec<Entry> {
    let text = std::fs::read_to_string(path()).expect("digest.json is there");
    serde_json::from_str(&text).expect("digest.json is readable")
}

/// Writes the table, one line for each rule set, to a temporary name and renames it.
fn record(table: &[Entry]) {
    let lines: Vec<String> = table
        .iter()
        .map(|entry| serde_json::to_string(entry).expect("serialisable"))
        .collect();
    let temporary = path().with_extension("json.new");
    std::fs::write(&temporary, format!("[\n{}\n]\n", lines.join(",\n"))).expect("written");
    std::fs::rename(temporary, path()).expect("renamed");
}

/// Plays the games of [`digest`] with the slow reference and hashes them the same way: 64-bit
/// FNV-1a over little-endian words.
fn slow_digest(rules: &Ruleset, games: u64, max_plies: u32) -> u64 {
    let mut words = Vec::new();
    let show = |game: &Game, words: &mut Vec<i64>| {
        words.extend(game.observation());
        words.push(match game.end.map(endodoi::reference::End::name) {
            None => 0,
            Some("stuck") => 1,
            Some("quiet") => 2,
            Some(_) => 3,
        });
    };
    for number in 0..games {
        let mut stream = rng::stream(rng::mix(SEED, number), 0, Purpose::Play);
        let mut game = Game::start(rules);
        show(&game, &mut words);
        for _ in 0..max_plies {
            let legal = game.legal();
            if legal.is_empty() {
                break;
            }
            let rank = rng::below(&mut stream, legal.len() as u32) as usize;
            let column = legal[rank];
            let (next, sown) = game.play(column).expect("legal");
            game = next;
            let bits = legal.iter().fold(0_u64, |bits, &column| bits | 1 << column);
            words.extend([bits as i64, column as i64, sown.laps, sown.seeds, sown.gain]);
            show(&game, &mut words);
        }
    }
    words
        .into_iter()
        .flat_map(i64::to_le_bytes)
        .fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        })
}

#[test]
fn digests_of_the_table() {
    let mut table = table();
    let mut moved = Vec::new();
    for entry in &mut table {
        let rules = &entry.ruleset;
        let got = format!("{:016x}", digest(rules, entry.games, SEED, entry.max_plies));
        println!("{got} {rules} ({} games)", entry.games);
        if got != entry.digest {
            moved.push(format!("{rules}: {} became {got}", entry.digest));
            entry.digest = got;
        }
    }
    if std::env::var_os("ENDODOI_RECORD_DIGEST").is_some_and(|value| value == "1") {
        for entry in &table {
            check_against_reference(&entry.ruleset, entry.max_plies);
        }
        record(&table);
    } else {
        assert!(moved.is_empty(), "{}", moved.join("\n"));
    }
}

fn check_against_reference(rules: &Ruleset, max_plies: u32) {
    let games = if rules.columns() > 16 { 2 } else { SLOW_GAMES };
    assert_eq!(
        digest(rules, games, SEED, max_plies),
        slow_digest(rules, games, max_plies),
        "{rules}"
    );
}

#[test]
fn reference_gives_the_same_digests() {
    for entry in table() {
        check_against_reference(&entry.ruleset, entry.max_plies);
    }
}

#[test]
fn table_holds_every_variant_and_option() {
    let table = table();
    for variant in Variant::ALL {
        assert!(table.iter().any(|entry| entry.ruleset == variant.ruleset()));
    }
    let has = |test: &dyn Fn(&Ruleset) -> bool| table.iter().any(|entry| test(&entry.ruleset));
    assert!(has(&|rules| rules.lone_capture().name() == "taken"));
    assert!(has(&|rules| rules.endless().name() == "draw"));
    assert!(has(&|rules| rules.lap_limit() < 50));
    assert!(has(&|rules| rules.quiet_limit() < 10));
    assert!(has(&|rules| rules.columns() == 1));
    assert!(has(
        &|rules| rules.columns() == 64 && rules.seeds_per_pit() == 64
    ));
}

#[test]
fn digest_depends_on_games_seed_and_length() {
    let rules = common::dodoi(6);
    let base = digest(&rules, 3, 1, 50);
    assert_eq!(digest(&rules, 3, 1, 50), base);
    assert_ne!(digest(&rules, 4, 1, 50), base);
    assert_ne!(digest(&rules, 3, 2, 50), base);
    assert_ne!(digest(&rules, 3, 1, 10), base);
}
