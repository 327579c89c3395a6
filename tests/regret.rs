//! Regret: the exam's positions and worths, and what players lose in it.

#![allow(clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use endodoi::arena::{
    Exam, ExamConfig, ExamProgress, Phase, Reference, Regret, RegretError, regret_table,
};
use endodoi::policy::{AlphaBeta, Greedy, Perfect, Policy, PolicyError, PolicySpec, Random};
use endodoi::rng::Xoshiro128PlusPlus;
use endodoi::search::{EndgameTable, SolverOptions, alpha_beta};
use endodoi::{Endless, Outcome, Position, Ruleset, RulesetFields, Side, Variant};

fn rules(columns: usize, seeds: u16) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns as i64),
        seeds_per_pit: Some(i64::from(seeds)),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).expect("in range")
}

fn quietly(_: ExamProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn small(positions: u32) -> ExamConfig {
    ExamConfig {
        positions,
        ..ExamConfig::new(rules(3, 4))
    }
}

fn draw(config: &ExamConfig) -> Exam {
    Exam::draw(config, None, &mut quietly).expect("drawn")
}

fn grade(exam: &Exam, policy: &mut dyn Policy) -> Regret {
    exam.grade(policy, &mut quietly).expect("graded")
}

/// The captured difference that a table says a move leads to.
fn margin(table: &EndgameTable, position: &Position, column: u8) -> i32 {
    let child = position.play(column.into()).expect("legal");
    let rest = i32::from(table.value(&child).expect("in the table"));
    child.board().lead(position.to_move()) - rest
}

#[test]
fn positions_are_open_different_and_have_a_choice() {
    let exam = draw(&small(300));
    let mut seen = std::collections::HashSet::new();
    assert_eq!(exam.questions().len(), 300);
    for asked in exam.questions() {
        let mut view = asked.position.observation();
        view.pop();
        assert!(seen.insert(view));
        assert!(!asked.position.is_over());
        let legal: Vec<usize> = asked.position.legal_moves().iter().collect();
        let valued: Vec<usize> = asked.moves.iter().map(|m| m.column.into()).collect();
        assert!(legal.len() > 1);
        assert_eq!(legal, valued);
    }
    let plies = |side| {
        exam.questions()
            .iter()
            .filter(|q| q.position.to_move() == side)
            .count()
    };
    assert!(plies(Side::South) > 100 && plies(Side::North) > 100);
}

#[test]
fn an_exam_is_read_as_it_was_written_and_no_other_is() {
    let config = small(60);
    let exam = draw(&config);
    let text = exam.to_json().expect("written");
    let read = Exam::from_json(&config, &text).expect("read");
    assert_eq!(read.questions(), exam.questions());
    assert_eq!(read.reference(), exam.reference());
    let refusal = |config: &ExamConfig, text: &str| {
        let error = Exam::from_json(config, text).expect_err("refused");
        assert!(matches!(error, RegretError::File { .. }));
        error.to_string()
    };
    let other = ExamConfig { seed: 1, ..config };
    assert!(refusal(&other, &text).contains("60 positions of seed 0"));
    let more = ExamConfig {
        positions: 61,
        ..config
    };
    assert!(refusal(&more, &text).contains("not the 61"));
    assert!(refusal(&config, &text[..text.len() - 3]).contains("EOF"));
    let newer = text.replace("\"format_version\":1", "\"format_version\":2");
    assert!(refusal(&config, &newer).contains("version 2"));
    let short = text.replacen("\"margins\":[", "\"margins\":[0,", 1);
    assert!(refusal(&config, &short).contains("legal moves of"));
}

#[test]
fn a_phase_without_positions_loses_nothing() {
    let regret = grade(&draw(&small(1)), &mut Greedy::default());
    let phases = [&regret.opening, &regret.middle, &regret.endgame];
    let without = phases.iter().filter(|part| part.positions == 0).count();
    assert_eq!(without, 2);
    let text = regret.to_string();
    assert!(!text.contains("-0"), "{text}");
}

#[test]
fn worths_are_those_of_a_table_of_all_positions() {
    let config = small(200);
    let table = EndgameTable::build(&config.ruleset, 24, Some(1), &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("built");
    let exam = draw(&config);
    for asked in exam.questions() {
        assert!(asked.proven);
        for worth in &asked.moves {
            assert_eq!(worth.margin, margin(&table, &asked.position, worth.column));
        }
    }
    assert_eq!(exam.reference(), "perfect");
}

#[test]
fn a_table_at_hand_changes_nothing_and_one_of_other_rules_is_refused() {
    let config = small(60);
    let mut go_on = |_| ControlFlow::Continue(());
    let mut table = |rules| EndgameTable::build(&rules, 6, Some(1), &mut go_on).expect("built");
    let (right, wrong) = (
        Arc::new(table(config.ruleset)),
        Arc::new(table(rules(4, 1))),
    );
    let with = Exam::draw(&config, Some(right), &mut quietly).expect("drawn");
    assert_eq!(with.questions(), draw(&config).questions());
    let refused = Exam::draw(&config, Some(wrong), &mut quietly).expect_err("other rules");
    assert!(matches!(refused, RegretError::Solve(_)), "{refused}");
}

#[test]
fn threads_change_nothing_and_the_seed_does() {
    let with = |threads, seed| {
        let solver = SolverOptions {
            num_threads: Some(threads),
            ..SolverOptions::default()
        };
        let config = ExamConfig {
            seed,
            solver,
            ..small(80)
        };
        let exam = draw(&config);
        let regret = grade(&exam, &mut Random);
        (exam.questions().to_vec(), regret)
    };
    assert_eq!(with(1, 5), with(3, 5));
    assert_ne!(with(1, 5), with(1, 6));
}

#[test]
fn more_positions_begin_with_the_same_ones() {
    let (few, many) = (draw(&small(40)), draw(&small(120)));
    assert_eq!(few.questions(), &many.questions()[..40]);
}

#[test]
fn regret_of_perfect_is_0_and_of_others_is_not() {
    let exam = draw(&small(200));
    let perfect = grade(&exam, &mut Perfect::default());
    for part in [
        perfect.all,
        perfect.opening,
        perfect.middle,
        perfect.endgame,
    ] {
        assert_eq!(part.optimal.count, part.positions);
        assert_eq!(part.outcome_changing.count, 0);
        assert!(part.seeds_lost.mean.abs() < 1e-12);
    }
    assert!((perfect.all.optimal.share - 1.0).abs() < 1e-12);
    let random = grade(&exam, &mut Random);
    let greedy = grade(&exam, &mut Greedy::default());
    assert!(greedy.all.seeds_lost.mean > 0.0);
    assert!(random.all.seeds_lost.mean > greedy.all.seeds_lost.mean);
    assert!(random.all.optimal.share < greedy.all.optimal.share);
    assert!(random.all.outcome_changing.count > 0);
}

#[test]
fn numbers_are_those_of_the_answers() {
    let exam = draw(&small(150));
    let regret = grade(&exam, &mut Random);
    let mut lost = 0;
    let (mut optimal, mut changing) = (0, 0);
    for (asked, answer) in exam.questions().iter().zip(&regret.answers) {
        let chosen = asked
            .moves
            .iter()
            .find(|m| m.column == answer.column)
            .expect("legal");
        let best = asked.moves.iter().map(|m| m.margin).max().expect("moves");
        assert_eq!(answer.lost, best - chosen.margin);
        assert_eq!(
            answer.changes_outcome,
            best.signum() != chosen.margin.signum()
        );
        assert_eq!(answer.phase, Phase::of(&asked.position));
        lost += answer.lost;
        optimal += u64::from(answer.lost == 0);
        changing += u64::from(answer.changes_outcome);
    }
    assert_eq!(regret.all.optimal.count, optimal);
    assert_eq!(regret.all.outcome_changing.count, changing);
    assert!((regret.all.seeds_lost.mean - f64::from(lost) / 150.0).abs() < 1e-9);
    let parts = [regret.opening, regret.middle, regret.endgame];
    assert_eq!(parts.iter().map(|part| part.positions).sum::<u64>(), 150);
    assert_eq!(
        parts.iter().map(|part| part.optimal.count).sum::<u64>(),
        optimal
    );
    assert!(parts.iter().all(|part| part.positions > 0));
}

#[test]
fn phases_are_thirds_of_the_seeds_of_the_start() {
    let phase = |text| Phase::of(&Position::from_text(text, &rules(2, 3)).expect("valid"));
    assert_eq!(phase("3,3/3,3 S 0-0 0"), Phase::Opening);
    assert_eq!(phase("3,3/3,0 S 0-3 0"), Phase::Opening);
    assert_eq!(phase("3,3/2,0 S 0-4 0"), Phase::Middle);
    assert_eq!(phase("3,1/1,0 S 3-4 0"), Phase::Middle);
    assert_eq!(phase("3,0/1,0 S 4-4 0"), Phase::Endgame);
}

#[test]
fn a_search_as_reference_values_moves_as_it_does() {
    let config = ExamConfig {
        reference: Reference::AlphaBeta { depth: 3 },
        ..small(100)
    };
    let exam = draw(&config);
    assert_eq!(exam.reference(), "alphabeta:3");
    for asked in exam.questions() {
        let best = alpha_beta(&asked.position, 3).expect("open");
        assert_eq!(asked.best_margin(), best.value);
        let first = asked
            .moves
            .iter()
            .find(|m| m.margin == best.value)
            .expect("moves");
        assert_eq!(usize::from(first.column), best.column);
        assert!(!asked.proven);
    }
    let regret = grade(&exam, &mut AlphaBeta::new(3).expect("depth"));
    assert_eq!(regret.all.optimal.count, 100);
    let depth_one = ExamConfig {
        reference: Reference::AlphaBeta { depth: 1 },
        ..config
    };
    let regret = grade(&draw(&depth_one), &mut Greedy::default());
    assert_eq!(regret.all.optimal.count, 100);
}

#[test]
fn rules_that_cannot_be_solved_are_measured_by_a_search() {
    let fields = RulesetFields {
        columns: Some(3),
        endless: Some(Endless::Draw),
        ..RulesetFields::default()
    };
    let draws = Ruleset::new(Variant::EnDodoi, &fields).expect("in range");
    let large = Variant::EnGehe.ruleset();
    assert_eq!(Reference::suited(&rules(6, 4)), Reference::Perfect);
    assert_eq!(
        Reference::suited(&rules(7, 4)),
        Reference::AlphaBeta { depth: 8 }
    );
    assert_eq!(Reference::suited(&draws), Reference::AlphaBeta { depth: 8 });
    assert_eq!(Reference::suited(&large), Reference::AlphaBeta { depth: 4 });
    let config = ExamConfig {
        positions: 200,
        ..ExamConfig::new(draws)
    };
    let exam = draw(&config);
    // S6: an endless move is worth a draw, whatever was captured.
    let endless = exam.questions().iter().flat_map(|asked| {
        let moves = asked.moves.iter();
        moves.map(|worth| {
            (
                asked.position.play(worth.column.into()).expect("legal"),
                worth,
            )
        })
    });
    let ended: Vec<_> = endless
        .filter(|(child, _)| child.end_reason() == Some(endodoi::EndReason::Endless))
        .collect();
    assert!(!ended.is_empty());
    for (child, worth) in ended {
        assert_eq!((child.outcome(), worth.margin), (Some(Outcome::Draw), 0));
    }
    let perfect = ExamConfig {
        reference: Reference::Perfect,
        ..config
    };
    let refused = Exam::draw(&perfect, None, &mut quietly).expect_err("endless draws");
    assert!(matches!(refused, RegretError::Solve(_)), "{refused}");
}

#[test]
fn perfect_takes_a_table_file_and_refuses_wrong_and_damaged_ones_by_name() {
    let folder = std::env::temp_dir().join(format!("endodoi-perfect-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("two.edt");
    let four = rules(4, 3);
    let table = EndgameTable::build(&four, 8, Some(1), &mut |_| ControlFlow::Continue(()));
    table
        .expect("a table")
        .save(&path, false, &mut |_| ControlFlow::Continue(()))
        .expect("it is written");
    let spec = format!("perfect@table={}", path.display());
    let parsed: PolicySpec = spec.parse().expect("a specification");
    assert_eq!(parsed.to_string(), spec);
    let mut with = parsed.build().expect("a player");
    assert_eq!(with.name(), spec);
    let choose = |player: &mut dyn Policy, position: &Position| {
        let mut moves = [0];
        let mut streams = [endodoi::rng::stream(0, 0, endodoi::rng::Purpose::Play)];
        let asked = player.choose(std::slice::from_ref(position), &mut streams, &mut moves);
        asked.map(|()| usize::from(moves[0]))
    };
    let mut position = Position::start(&four);
    let mut plies = 0;
    while !position.is_over() {
        let column = choose(&mut *with, &position).expect("a move");
        let alone = choose(&mut Perfect::default(), &position).expect("a move");
        assert_eq!(column, alone, "{position}");
        position = position.play(column).expect("a legal move");
        plies += 1;
    }
    assert!(plies > 4, "only {plies} plies");

    let refused = with.check(&rules(4, 4));
    assert_eq!(
        refused,
        Ok(()),
        "seeds in a pit make no difference to a table"
    );
    let refused = with.check(&rules(3, 3)).expect_err("other columns");
    assert!(refused.to_string().contains("two.edt"), "{refused}");
    let whole = std::fs::read(&path).expect("bytes");
    let bad = folder.join("bad.edt");
    for bytes in [&whole[..whole.len() - 1], &whole[..10], b"no table"] {
        std::fs::write(&bad, bytes).expect("written");
        let spec: PolicySpec = format!("perfect@table={}", bad.display())
            .parse()
            .expect("a form");
        let refused = spec.build().err().expect("it is damaged");
        assert!(matches!(refused, PolicyError::Table { .. }), "{refused}");
        assert!(refused.to_string().contains("bad.edt"), "{refused}");
    }
    std::fs::remove_dir_all(&folder).expect("it goes");
    let missing = Perfect::default().with_table(&bad).expect_err("no file");
    assert!(missing.to_string().contains("bad.edt"), "{missing}");
    for text in ["perfect@table=", "perfect@seconds=1", "perfect:"] {
        assert!(text.parse::<PolicySpec>().is_err(), "{text}");
    }
}

#[test]
fn perfect_refuses_what_it_cannot_solve() {
    for ruleset in [Variant::EnGehe.ruleset(), rules(9, 4)] {
        let refused = Perfect::default().check(&ruleset).expect_err("too large");
        assert!(matches!(refused, PolicyError::Rules { .. }), "{refused}");
        let refused = Perfect::default().choose(
            &[Position::start(&ruleset)],
            &mut [endodoi::rng::stream(0, 0, endodoi::rng::Purpose::Play)],
            &mut [0],
        );
        assert!(matches!(refused, Err(PolicyError::Rules { .. })));
    }
    assert_eq!(Perfect::default().check(&rules(6, 4)), Ok(()));
}

/// Where it is sure to finish no clock limits it: a busy machine takes longer, and nothing else.
#[test]
fn perfect_has_a_limit_only_where_it_may_not_finish() {
    let drawing = RulesetFields {
        columns: Some(6),
        endless: Some(Endless::Draw),
        ..RulesetFields::default()
    };
    let drawing = Ruleset::new(Variant::EnDodoi, &drawing).expect("in range");
    for (ruleset, seconds) in [
        (rules(2, 4), None),
        (rules(6, 4), None),
        (rules(6, 5), Some(60.0)),
        (rules(7, 3), Some(60.0)),
        (drawing, Some(60.0)),
    ] {
        assert_eq!(Perfect::suited_seconds(&ruleset), seconds);
        assert_eq!(ExamConfig::new(ruleset).seconds, seconds);
        let suited = Reference::suited(&ruleset) == Reference::Perfect;
        assert_eq!(suited, seconds.is_none());
    }
}

#[test]
fn perfect_fails_when_its_time_is_over_and_stops_when_it_is_told_to() {
    let start = [Position::start(&rules(6, 4))];
    let choose = |player: &mut Perfect| {
        let mut streams = [endodoi::rng::stream(0, 0, endodoi::rng::Purpose::Play)];
        player
            .choose(&start, &mut streams, &mut [0])
            .expect_err("no move")
    };
    let options = SolverOptions {
        memory: 1 << 24,
        num_threads: Some(1),
    };
    let error = choose(&mut Perfect::new(options, Some(0.01))).to_string();
    let late = "player perfect: 4,4,4,4,4,4/4,4,4,4,4,4 S 0-0 0 is not solved within 0.01 seconds";
    assert!(error.starts_with(late), "{error}");

    let mut told = Perfect::new(options, None);
    told.set_interrupt(&Arc::new(AtomicBool::new(true)));
    assert!(matches!(choose(&mut told), PolicyError::Interrupted { .. }));
}

#[test]
fn refusals_name_field_and_value() {
    let refused = |config: &ExamConfig| {
        let refused = Exam::draw(config, None, &mut quietly).expect_err("refused");
        refused.to_string()
    };
    assert_eq!(refused(&small(0)), "positions is 0, expected 1 to 1000000");
    let config = ExamConfig {
        seconds: Some(0.0),
        ..small(1)
    };
    assert_eq!(refused(&config), "seconds is 0, expected more than 0");
    let tiny = ExamConfig {
        positions: 1000,
        ..ExamConfig::new(rules(2, 1))
    };
    let message = refused(&tiny);
    assert!(message.starts_with("positions is 1000, but "), "{message}");
    for text in [
        "best",
        "alphabeta",
        "alphabeta:0",
        "alphabeta:65",
        "perfect:1",
        "",
    ] {
        let refused = text.parse::<Reference>().expect_err("no reference");
        assert!(
            refused
                .to_string()
                .starts_with(&format!("reference is {text:?}"))
        );
    }
    for text in ["perfect", "alphabeta:1", "alphabeta:64"] {
        let reference: Reference = text.parse().expect("a reference");
        assert_eq!(reference.to_string(), text);
    }
}

/// Plays the same column everywhere.
struct Stubborn;

impl Policy for Stubborn {
    fn name(&self) -> String {
        "stubborn".to_owned()
    }

    fn choose(
        &mut self,
        _positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        moves.fill(2);
        Ok(())
    }
}

#[test]
fn an_illegal_choice_is_refused_with_its_position() {
    let refused = draw(&small(100))
        .grade(&mut Stubborn, &mut quietly)
        .expect_err("illegal");
    let RegretError::Illegal {
        name,
        column,
        position,
        legal,
    } = refused
    else {
        panic!("{refused}");
    };
    assert_eq!((&*name, column), ("stubborn", 2));
    assert!(!legal.contains(&2));
    let position = Position::from_text(&position, &rules(3, 4)).expect("valid");
    assert_eq!(position.legal_moves().iter().collect::<Vec<_>>(), legal);
}

#[test]
fn a_break_stops_the_work() {
    let mut stop = |now: ExamProgress| {
        if now.done > 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let config = small(300);
    let stopped = Exam::draw(&config, None, &mut |_| ControlFlow::Break(())).expect_err("stopped");
    assert!(
        matches!(stopped, RegretError::Stopped { positions: 300, .. }),
        "{stopped}"
    );
    let stopped = draw(&config)
        .grade(&mut Random, &mut stop)
        .expect_err("stopped");
    assert!(
        matches!(stopped, RegretError::Stopped { positions: 300, .. }),
        "{stopped}"
    );
}

#[test]
fn the_table_has_a_line_for_each_part() {
    let exam = draw(&small(50));
    let regrets = [
        grade(&exam, &mut Random),
        grade(&exam, &mut Greedy::default()),
    ];
    let text = regret_table(&regrets);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 9);
    assert!(lines[0].starts_with("player"));
    assert!(lines[1].starts_with("random") && lines[5].starts_with("greedy"));
    assert!(lines[1].contains(&format!("{:.2}", regrets[0].all.seeds_lost.mean)));
    assert_eq!(format!("{}", regrets[0]).lines().count(), 5);
}

#[test]
fn parts_of_an_exam_make_the_whole() {
    let config = small(90);
    let whole = draw(&config);
    let part = |places| Exam::draw_part(&config, places, None, &mut quietly).expect("drawn");
    let parts = [part(0..25), part(25..26), part(26..90)];
    assert_eq!(parts[1].questions(), &whole.questions()[25..26]);
    assert_eq!(parts[1].first(), 25);
    // A player that draws answers each place alike.
    let mut columns = Vec::new();
    for part in &parts {
        let read = Exam::from_json(&config, &part.to_json().expect("written")).expect("read");
        assert_eq!(read.questions(), part.questions());
        let answers = grade(&read, &mut Random).answers;
        columns.extend(answers.iter().map(|answer| answer.column));
    }
    let joined = Exam::join(parts.clone()).expect("the whole");
    assert_eq!(
        joined.to_json().expect("written"),
        whole.to_json().expect("written")
    );
    let regret = grade(&whole, &mut Random);
    let summed = joined.sum_up_columns(&regret.player, &columns);
    assert_eq!(summed.expect("legal"), regret);

    let refused = |parts: &[&Exam]| {
        let parts = parts.iter().map(|&part| part.clone());
        Exam::join(parts).expect_err("not the whole").to_string()
    };
    let gap = refused(&[&parts[0], &parts[2]]);
    assert_eq!(
        gap,
        "positions 26 to 90: expected the next part of an exam of 90"
    );
    let other = Exam::draw_part(
        &ExamConfig { seed: 5, ..config },
        25..26,
        None,
        &mut quietly,
    );
    assert!(refused(&[&parts[0], &other.expect("drawn")]).starts_with("positions 25 to 26"));
    assert!(refused(&[]).starts_with("positions 0 to 0"));
    for places in [(3, 3), (80, 91)] {
        let drawn = Exam::draw_part(&config, places.0..places.1, None, &mut quietly);
        assert!(matches!(drawn, Err(RegretError::Part { .. })));
    }
    let missing = whole.sum_up_columns("me", &columns[..89]);
    assert!(matches!(
        missing,
        Err(RegretError::Illegal { column: 255, .. })
    ));
}
