//! Files of endgame tables: written, opened, verified; damaged ones refused by name.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::{changed, dodoi};
use endodoi::search::{EndgameTable, TableError, TableProgress, VerifyTable};
use endodoi::{Direction, Endless, LoneCapture, Ruleset, Variant};

fn quietly(_: TableProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn build(rules: &Ruleset, seeds: u32) -> EndgameTable {
    EndgameTable::build(rules, seeds, Some(2), &mut quietly).expect("small")
}

/// Writes the table of 2x5 with up to 13 seeds, which has two blocks.
fn written(folder: &Path) -> (EndgameTable, PathBuf) {
    let table = build(&dodoi(5), 13);
    let path = folder.join("table.edt");
    table.save(&path, false, &mut quietly).expect("room");
    (table, path)
}

fn verify(path: &Path, which: VerifyTable) -> Result<(), TableError> {
    EndgameTable::open(path, &dodoi(5))?.verify(which, Some(2), &mut quietly)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .into_string()
                .expect("plain")
        })
        .collect()
}

#[test]
fn a_table_read_from_its_file_is_the_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (table, path) = written(folder.path());
    let read = EndgameTable::open(&path, &dodoi(5)).expect("whole");
    assert_eq!((read.max_seeds(), read.positions()), (13, 1_144_066));
    assert_eq!(read.ruleset(), table.ruleset());
    assert_eq!((read.path(), table.path()), (Some(&*path), None));
    for index in 0..table.positions() {
        assert_eq!(read.value_at(index), table.value_at(index));
    }
    assert_eq!(read.value_at(table.positions()), 0);
    assert_eq!(names(folder.path()), ["table.edt"]);
    for which in [VerifyTable::Sample, VerifyTable::All] {
        verify(&path, which).expect("sound");
        table.verify(which, None, &mut quietly).expect("sound");
    }
}

#[test]
fn a_table_of_other_rules_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path) = written(folder.path());
    let refused = |rules: &Ruleset| EndgameTable::open(&path, rules).expect_err("other rules");
    let rules = dodoi(5);
    for other in [
        dodoi(4),
        changed(&rules, |fields| fields.direction = Some(Direction::Parity)),
        changed(&rules, |fields| {
            fields.lone_capture = Some(LoneCapture::Taken);
        }),
        changed(&rules, |fields| fields.lap_limit = Some(9999)),
    ] {
        let error = refused(&other);
        assert!(matches!(error, TableError::FileRuleset { .. }), "{error}");
        assert!(error.to_string().contains("table.edt"), "{error}");
    }
    let draw = changed(&rules, |fields| fields.endless = Some(Endless::Draw));
    assert!(matches!(refused(&draw), TableError::EndlessDraw));
    let same = changed(&rules, |fields| {
        fields.seeds_per_pit = Some(2);
        fields.quiet_limit = Some(3);
        fields.variant = Some(Variant::EnGehe);
    });
    assert!(EndgameTable::open(&path, &same).is_ok());
}

#[test]
fn damage_is_found_wherever_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let (table, path) = written(folder.path());
    let whole = fs::read(&path).expect("readable");
    let values = table.positions() as usize;
    let start = whole.len() - values - 8;
    assert_eq!(start, 4096);
    let damaged = |at: usize, by: u8| {
        let mut bytes = whole.clone();
        bytes[at] ^= by;
        fs::write(&path, bytes).expect("room");
        let error = verify(&path, VerifyTable::Sample).expect_err("damaged");
        assert!(error.to_string().contains("table.edt"), "{error}");
        error
    };
    for at in 0..8 {
        assert!(matches!(damaged(at, 0x20), TableError::NotATable { .. }));
    }
    for at in 8..12 {
        assert!(matches!(damaged(at, 2), TableError::FormatVersion { .. }));
    }
    // The length of the header, its checksum, its text and the spaces after it.
    for at in [12, 13, 14, 15, 16, 19, 20, 30, 300, 4095] {
        let error = damaged(at, 1);
        let named = matches!(error, TableError::Header { .. } | TableError::Length { .. });
        assert!(named, "byte {at}: {error}");
    }
    let blocks = [
        (start, 0),
        (start + (1 << 20) - 1, 0),
        (start + (1 << 20), 1),
        (start + values - 1, 1),
        (start + values, 0),
        (start + values + 7, 1),
    ];
    for (at, wanted) in blocks {
        for by in [1, 0x80] {
            match damaged(at, by) {
                TableError::Damaged { block, .. } => assert_eq!(block, wanted, "byte {at}"),
                error => panic!("byte {at}: {error}"),
            }
        }
    }
}

#[test]
fn files_of_another_length_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path) = written(folder.path());
    let whole = fs::read(&path).expect("readable");
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("room");
        EndgameTable::open_any(&path).expect_err("refused")
    };
    for len in [8, 12, 19, 20, 100, 4095, 4096, 5000, whole.len() - 1] {
        let error = open(&whole[..len]);
        let TableError::Length {
            found, expected, ..
        } = error
        else {
            panic!("{len} bytes: {error}");
        };
        assert_eq!(found, len as u64);
        assert!(expected > found);
        assert!(error.to_string().contains("table.edt"), "{error}");
    }
    let longer = [&whole[..], b"x"].concat();
    assert!(matches!(open(&longer), TableError::Length { .. }));
    for foreign in [
        &b""[..],
        b"EDTABLE",
        b"PAR1 and so on, longer than what is read first",
    ] {
        assert!(matches!(open(foreign), TableError::NotATable { .. }));
    }
}

#[test]
fn a_header_that_contradicts_itself_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path) = written(folder.path());
    let whole = fs::read(&path).expect("readable");
    let with = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let text = String::from_utf8(whole[20..4096].to_vec()).expect("text");
        assert!(text.contains(from), "{text}");
        let mut bytes = whole.clone();
        bytes[20..4096].copy_from_slice(text.replace(from, to).as_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..16]);
        hasher.update(&bytes[20..4096]);
        bytes[16..20].copy_from_slice(&hasher.finalize().to_le_bytes());
        fs::write(&path, bytes).expect("room");
        let error = EndgameTable::open_any(&path).expect_err("refused");
        let TableError::Header { message, .. } = error else {
            panic!("{from}: {error}");
        };
        message
    };
    assert!(with("1144066", "1144067").contains("number of positions"));
    assert!(with("\"positions\"", "\"positiona\"").contains("positiona"));
    assert!(with("\"columns\":5", "\"columns\":0").contains("columns is 0"));
    assert!(with("\"max_seeds\":13", "\"max_seeds\":99").contains("at most"));
    assert!(with("\"illegal\"", "\"draw\"   ").contains("endless"));
}

#[test]
fn values_that_moves_contradict_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path) = written(folder.path());
    let whole = fs::read(&path).expect("readable");
    // A wrong value under a right checksum, as a faulty builder would write it.
    let index = 123_457;
    let mut bytes = whole.clone();
    bytes[4096 + index] ^= 0x40;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[4096..4096 + (1 << 20)]);
    let at = whole.len() - 8;
    bytes[at..at + 4].copy_from_slice(&hasher.finalize().to_le_bytes());
    fs::write(&path, bytes).expect("room");
    let error = verify(&path, VerifyTable::All).expect_err("contradicted");
    assert!(matches!(error, TableError::Inconsistent { .. }), "{error}");
}

#[test]
fn a_file_is_replaced_only_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path) = written(folder.path());
    let before = fs::read(&path).expect("readable");
    let other = build(&dodoi(3), 4);
    let error = other
        .save(&path, false, &mut quietly)
        .expect_err("there already");
    assert!(matches!(error, TableError::Exists { .. }), "{error}");
    assert_eq!(fs::read(&path).expect("readable"), before);
    // A table that is open stays what it was.
    let open = EndgameTable::open(&path, &dodoi(5)).expect("whole");
    other.save(&path, true, &mut quietly).expect("room");
    open.verify(VerifyTable::Sample, None, &mut quietly)
        .expect("sound");
    assert_eq!(
        EndgameTable::open_any(&path).expect("whole").positions(),
        210
    );
}

#[test]
fn nothing_is_left_behind_where_writing_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let (table, path) = written(folder.path());
    let before = fs::read(&path).expect("readable");
    let mut stop = |_: TableProgress| ControlFlow::Break(());
    let error = table.save(&path, true, &mut stop).expect_err("stopped");
    assert!(matches!(error, TableError::Stopped { .. }), "{error}");
    assert_eq!(fs::read(&path).expect("readable"), before);
    assert_eq!(names(folder.path()), ["table.edt"]);
    let nowhere = folder.path().join("nowhere").join("table.edt");
    let error = table
        .save(&nowhere, false, &mut quietly)
        .expect_err("no folder");
    assert!(matches!(error, TableError::Io { .. }), "{error}");
    let error = EndgameTable::open_any(&nowhere).expect_err("no file");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let table = build(&dodoi(5), 13);
    // The device that is always full is reached through a link in place of the temporary name.
    let folder = tempfile::tempdir().expect("a folder");
    let temporary = format!("table.edt.{}.part", std::process::id());
    let temporary = folder.path().join(temporary);
    std::os::unix::fs::symlink("/dev/full", &temporary).expect("a link");
    let path = folder.path().join("table.edt");
    let error = table.save(&path, false, &mut quietly).expect_err("full");
    let TableError::Io { error, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn names_of_files_tell_the_rules() {
    let name = |rules: &Ruleset| EndgameTable::file_name(rules, 16);
    assert_eq!(name(&dodoi(6)), Path::new("en-dodoi-2x6-stays-16.edt"));
    let other = changed(&dodoi(7), |fields| {
        fields.lone_capture = Some(LoneCapture::Taken);
        fields.direction = Some(Direction::Parity);
        fields.lap_limit = Some(100);
    });
    assert_eq!(
        name(&other),
        Path::new("en-dodoi-2x7-taken-parity-laps100-16.edt")
    );
    let cross = Variant::CrossEndodoi.ruleset();
    assert_eq!(name(&cross), Path::new("cross-endodoi-2x6-stays-16.edt"));
}
