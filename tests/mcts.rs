//! Monte Carlo tree search: values, proofs, reuse, and what it depends on.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;

use common::{changed, dodoi};
use endodoi::policy::{Mcts, Policy};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::search::{
    Evaluations, Evaluator, EvaluatorError, MctsConfig, MctsError, MctsResult, MctsSearch,
    MctsTree, Playouts, Proven,
};
use endodoi::simulate::{SimulateConfig, simulate};
use endodoi::{Endless, LoneCapture, Outcome, Position, Ruleset, Setup, Side, Variant};
use serde::Deserialize;

fn stream(number: u64) -> Xoshiro128PlusPlus {
    rng::stream(number, 0, Purpose::Policy)
}

fn parse(text: &str, rules: &Ruleset) -> Position {
    Position::from_text(text, rules).expect("a position")
}

fn tree(position: &Position) -> MctsTree {
    MctsTree::new(position, MctsConfig::default()).expect("an open game")
}

/// Searches by random games.
fn search(position: &Position, simulations: u32) -> MctsResult {
    let mut tree = tree(position);
    tree.grow(simulations, &mut stream(5)).expect("in range");
    tree.result().expect("an open game")
}

/// An evaluator that likes every move equally and guesses from the seeds of both rows, so that
/// trees grow unevenly; it counts what it is asked.
#[derive(Default)]
struct Guess {
    calls: usize,
    positions: usize,
}

impl Evaluator for Guess {
    fn evaluate(
        &mut self,
        positions: &[Position],
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        self.calls += 1;
        self.positions += positions.len();
        let columns = positions[0].ruleset().columns();
        out.clear(positions.len(), columns);
        for (row, position) in positions.iter().enumerate() {
            assert!(!position.is_over(), "ended positions need no evaluation");
            let board = position.board();
            let seeds = |side| board.row(side).iter().copied().map(f32::from).sum::<f32>();
            let own = seeds(position.to_move()) + 1.0;
            out.win[row] = own / (own + seeds(position.to_move().other()) + 1.0);
            out.loss[row] = 1.0 - out.win[row];
            for column in 0..columns {
                out.logits[row * columns + column] = (column as f32 * 1.7).sin();
            }
        }
        Ok(())
    }
}

fn search_with_guess(position: &Position, simulations: u32) -> MctsResult {
    let mut tree = tree(position);
    tree.grow_with(simulations, &mut Guess::default())
        .expect("in range");
    tree.result().expect("an open game")
}

/// Returns the outcome with perfect play for the side to move: 1, 0 or -1.
fn perfect(position: &Position, known: &mut HashMap<Position, i8>) -> i8 {
    if let Some(outcome) = position.outcome() {
        return outcome.sign() * position.to_move().sign();
    }
    if let Some(&value) = known.get(position) {
        return value;
    }
    let moves = position.legal_moves().iter();
    let best = moves
        .map(|column| -perfect(&position.play(column).expect("legal"), known))
        .max()
        .expect("a legal move");
    known.insert(*position, best);
    best
}

/// Open positions with a few seeds under rules whose games end soon.
fn late_positions(rules: &Ruleset, count: usize) -> Vec<Position> {
    let mut stream = stream(7);
    let mut draw = |bound| i64::from(rng::below(&mut stream, bound));
    let mut found = Vec::new();
    while found.len() < count {
        let mut row = || (0..rules.columns()).map(|_| draw(5) / 2).collect();
        let (south, north) = (row(), row());
        let setup = Setup {
            south,
            north,
            to_move: Side::BOTH[draw(2) as usize],
            captured: [8 + draw(4), 8 + draw(4)],
            quiet: draw(2),
        };
        let position = setup.position(rules).expect("valid");
        if !position.is_over() {
            found.push(position);
        }
    }
    found
}

/// Rules on three columns under which every game ends within a few moves.
fn short_rules() -> [Ruleset; 4] {
    let short = changed(&dodoi(3), |fields| fields.quiet_limit = Some(5));
    [
        short,
        changed(&short, |fields| fields.endless = Some(Endless::Draw)),
        changed(&short, |fields| {
            fields.lone_capture = Some(LoneCapture::Taken);
        }),
        changed(&Variant::CrossEndodoi.ruleset(), |fields| {
            fields.columns = Some(3);
            fields.quiet_limit = Some(5);
            fields.endless = Some(Endless::Draw);
        }),
    ]
}

#[test]
fn proofs_are_the_outcomes_of_perfect_play_under_every_rule() {
    for rules in short_rules() {
        let mut known = HashMap::new();
        let mut seen = [0; 3];
        for position in late_positions(&rules, 300) {
            let outcome = perfect(&position, &mut known);
            for found in [
                search(&position, 20_000),
                search_with_guess(&position, 20_000),
            ] {
                let proven = found.proven.expect("20,000 simulations prove it");
                assert_eq!(proven.value(), outcome, "{position}: {found:?}");
                let next = position.play(found.column.into()).expect("legal");
                assert_eq!(
                    -perfect(&next, &mut known),
                    outcome,
                    "{position}: {found:?}"
                );
                for one in &found.moves {
                    let next = position.play(one.column.into()).expect("legal");
                    let exact = -perfect(&next, &mut known);
                    assert!(one.proven.is_none_or(|proven| proven.value() == exact));
                }
            }
            seen[(outcome + 1) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 5), "{rules}: {seen:?}");
    }
}

#[test]
fn a_win_in_one_is_found_and_a_loss_in_one_avoided_by_both_sides() {
    let rules = changed(&dodoi(3), |fields| fields.quiet_limit = Some(5));
    let (mut wins, mut losses) = ([0; 2], [0; 2]);
    let mut known = HashMap::new();
    for position in late_positions(&rules, 2000) {
        let side = position.to_move();
        let won = |position: &Position| position.outcome() == Some(Outcome::Win(side));
        let next = |column| position.play(column).expect("legal");
        let columns = || position.legal_moves().iter();
        let lost_at_once = |column: usize| {
            let reply = next(column);
            let replies = reply.legal_moves().iter();
            let lost = Some(Outcome::Win(side.other()));
            reply.outcome() == lost
                || replies
                    .map(|column| reply.play(column).expect("legal").outcome())
                    .any(|outcome| outcome == lost)
        };
        let found = [search(&position, 100), search_with_guess(&position, 100)];
        if columns().any(|column| won(&next(column))) {
            wins[side.index()] += 1;
            for found in found {
                assert_eq!(found.proven, Some(Proven::Win), "{position}: {found:?}");
                assert!(found.value > 0.99);
            }
        } else if columns().any(lost_at_once) && perfect(&position, &mut known) >= 0 {
            losses[side.index()] += 1;
            for found in found {
                assert!(!lost_at_once(found.column.into()), "{position}: {found:?}");
            }
        }
    }
    assert!(wins.iter().chain(&losses).all(|&count| count > 10));
}

#[test]
fn both_sides_are_searched_alike() {
    for rules in [dodoi(4), Variant::CrossEndodoi.ruleset()] {
        let mut position = Position::start(&rules);
        while !position.is_over() {
            let found = search(&position, 60);
            assert_eq!(found, search(&position.swap_sides(), 60));
            assert_eq!(
                search_with_guess(&position, 60),
                search_with_guess(&position.swap_sides(), 60)
            );
            position = position.play(found.column.into()).expect("legal");
        }
    }
}

/// A position of the exam: the mover is South.
#[derive(Deserialize)]
struct Exam {
    board: Vec<i64>,
    diff: i64,
    values: Vec<i64>,
}

#[test]
fn proven_roots_of_the_exam_have_the_sign_of_the_exact_outcome() {
    let rules = dodoi(6);
    let mut proven = 0;
    for line in include_str!("data/exam-2x6.jsonl").lines() {
        let exam: Exam = serde_json::from_str(line).expect("a position");
        let seeds: i64 = exam.board.iter().sum();
        if seeds > 20 {
            continue;
        }
        let south = i64::midpoint(48 - seeds, exam.diff);
        let captured = [south, 48 - seeds - south];
        let position = common::set_up(&rules, &exam.board, 0, captured, 0);
        let best = exam.values.iter().max().expect("a move");
        let found = search(&position, 30_000);
        let Some(outcome) = found.proven else {
            continue;
        };
        proven += 1;
        assert_eq!(
            i64::from(outcome.value()),
            (exam.diff + best).signum(),
            "{line}"
        );
        if found.visits > 0 {
            let rank = found
                .moves
                .iter()
                .position(|one| one.column == found.column);
            let value = exam.values[rank.expect("a legal column")];
            assert_eq!((exam.diff + value).signum(), i64::from(outcome.value()));
        }
    }
    assert!(proven >= 10, "{proven} roots were proven");
}

#[test]
fn a_random_game_is_that_of_the_simulation_with_the_same_stream() {
    let short = changed(&dodoi(4), |fields| fields.quiet_limit = Some(6));
    let rules = [
        dodoi(6),
        dodoi(50),
        Variant::CrossEndodoi.ruleset(),
        changed(&dodoi(6), |fields| fields.lap_limit = Some(7)),
        changed(&dodoi(6), |fields| {
            fields.lap_limit = Some(7);
            fields.endless = Some(Endless::Draw);
        }),
        changed(&short, |fields| {
            fields.lone_capture = Some(LoneCapture::Taken);
        }),
        short,
    ];
    for rules in rules {
        let games = 3000 / rules.columns() as u64;
        let config = SimulateConfig {
            seed: 3,
            ..SimulateConfig::new(rules, games)
        };
        let random = "random".parse().expect("a player");
        let mut quietly = |_| std::ops::ControlFlow::Continue(());
        let table = simulate(&config, &random, &random, &mut quietly).expect("in range");
        let playouts = Playouts::new(&rules, 1_000_000);
        for game in 0..games {
            let mut stream = rng::stream(rng::mix(3, game), 0, Purpose::Play);
            let start = Position::start(&rules);
            let outcome = playouts.outcome(&start, &mut stream);
            assert_eq!(outcome, table.winner[game as usize], "{rules}, game {game}");
        }
    }
}

#[test]
fn a_cut_random_game_counts_as_it_stands() {
    let start = Position::start(&Variant::CrossEndodoi.ruleset());
    let playouts = Playouts::new(start.ruleset(), 1);
    let mut outcomes = [0; 3];
    for number in 0..60 {
        let mut drawn = stream(number);
        let column = rng::below(&mut drawn, 6) as usize;
        let next = start.play(column).expect("legal");
        let lead = next.board().lead(Side::South);
        let outcome = playouts.outcome(&start, &mut stream(number));
        assert_eq!(i32::from(outcome), lead.signum());
        outcomes[(outcome + 1) as usize] += 1;
    }
    assert!(outcomes[1] > 0 && outcomes[2] > 0, "{outcomes:?}");
}

#[test]
fn moves_that_capture_are_looked_at_first() {
    // Column 3 captures five seeds, column 0 none.
    let start = Position::start(&Variant::CrossEndodoi.ruleset());
    let visits = |simulations| {
        let found = search(&start, simulations);
        let visits = found.moves.iter().map(|one| one.visits);
        visits.collect::<Vec<u32>>()
    };
    assert_eq!(visits(1), [0, 0, 0, 1, 0, 0]);
    let later = visits(2000);
    assert!(later.iter().all(|&visits| visits > 0), "{later:?}");
}

#[test]
fn a_proven_root_is_searched_no_further() {
    let rules = dodoi(3);
    let position = parse("1,0,1/0,1,0 S 5-5 0", &rules);
    let mut tree = tree(&position);
    let mut drawn = stream(1);
    tree.grow(100_000, &mut drawn).expect("in range");
    assert!(tree.is_proven());
    let found = tree.result().expect("open");
    assert!(found.visits < 50, "{found:?}");
    let before = drawn.clone();
    tree.grow(1000, &mut drawn).expect("in range");
    assert_eq!(drawn, before);
    assert_eq!(tree.result().expect("open"), found);
    let mut guess = Guess::default();
    tree.grow_with(1000, &mut guess).expect("in range");
    assert_eq!(guess.calls, 0);
}

#[test]
fn a_game_that_captures_have_decided_is_played_for_seeds() {
    let rules = Variant::CrossEndodoi.ruleset();
    for (captured, outcome) in [("40-0", Proven::Win), ("0-40", Proven::Loss)] {
        let position = parse(&format!("3,3,3,3,3,3/3,3,3,3,3,3 S {captured} 0"), &rules);
        let found = search(&position, 100);
        assert_eq!((found.column, found.visits), (3, 0));
        assert_eq!(found.proven, Some(outcome));
        assert!(found.moves.iter().all(|one| one.proven == Some(outcome)));
    }
    // An endless sowing could still draw it: nothing is decided but that it is not lost (S6).
    let drawing = changed(&rules, |fields| fields.endless = Some(Endless::Draw));
    let found = search(&parse("3,3,3,3,3,3/3,3,3,3,3,3 S 40-0 0", &drawing), 100);
    assert!(found.visits > 0);
    assert!(found.value >= 0.0);
}

#[test]
fn a_tree_keeps_what_it_knows_below_the_move_that_is_played() {
    let rules = dodoi(4);
    for evaluated in [false, true] {
        let mut kept = tree(&Position::start(&rules));
        let mut drawn = stream(2);
        let mut grow = |tree: &mut MctsTree, simulations| {
            if evaluated {
                tree.grow_with(simulations, &mut Guess::default())
            } else {
                tree.grow(simulations, &mut drawn)
            }
        };
        grow(&mut kept, 500).expect("in range");
        let before = kept.result().expect("open");
        let column = usize::from(before.column);
        let visits = before.moves.iter().find(|one| one.column == before.column);
        let visits = visits.expect("the move played").visits;
        kept.advance(column).expect("legal");
        let after = kept.result().expect("open");
        // The first visit of a position is its own, all others go on.
        assert_eq!(after.visits, visits - 1);
        assert_eq!(
            after.principal_variation,
            before.principal_variation[1..],
            "the line goes on"
        );
        assert_eq!(
            kept.position(),
            &Position::start(&rules).play(column).expect("legal")
        );
        grow(&mut kept, 100).expect("in range");
        assert_eq!(kept.result().expect("open").visits, visits - 1 + 100);
    }
}

#[test]
fn a_tree_that_went_on_grows_as_one_that_was_grown_there() {
    // Both trees hold the same visits below the first move: one has been cut down to them.
    let rules = changed(&dodoi(3), |fields| fields.quiet_limit = Some(6));
    let start = Position::start(&rules);
    let mut compared = 0;
    for column in start.legal_moves() {
        let mut whole = tree(&start);
        whole.grow_with(300, &mut Guess::default()).expect("grown");
        let mut twin = whole.clone();
        whole.advance(column).expect("legal");
        let next = start.play(column).expect("legal");
        let count = whole.result().map_or(0, |found| found.visits);
        if whole.is_proven() || count == 0 {
            continue;
        }
        compared += 1;
        // The evaluator's answers decide everything, so as many visits make the same tree.
        let mut fresh = tree(&next);
        fresh
            .grow_with(count, &mut Guess::default())
            .expect("grown");
        assert_eq!(whole.result(), fresh.result());
        whole.grow_with(50, &mut Guess::default()).expect("grown");
        fresh.grow_with(50, &mut Guess::default()).expect("grown");
        assert_eq!(whole.result(), fresh.result());
        // The other moves are gone: the way back is a new tree.
        twin.restart(&next).expect("open");
        assert_eq!(twin.result().expect("open").visits, 0);
    }
    assert!(compared > 0);
}

#[test]
fn a_move_that_was_never_visited_starts_a_new_tree() {
    let start = Position::start(&dodoi(6));
    let mut kept = tree(&start);
    kept.advance(4).expect("legal");
    assert_eq!(kept.result().expect("open").visits, 0);
    assert_eq!(kept.position(), &start.play(4).expect("legal"));
    kept.grow(10, &mut stream(1)).expect("in range");
    assert_eq!(kept.result().expect("open").visits, 10);
}

#[test]
fn trees_never_leak_from_one_game_to_the_next() {
    let rules = dodoi(6);
    let start = Position::start(&rules);
    let positions: Vec<Position> = start
        .legal_moves()
        .iter()
        .map(|column| start.play(column).expect("legal"))
        .collect();
    let config = MctsConfig {
        simulations: 60,
        ..MctsConfig::default()
    };
    let fresh = |positions: &[Position]| {
        let mut search = MctsSearch::new(config).expect("in range");
        search
            .run(positions, &mut Guess::default())
            .expect("open games")
    };
    let mut used = MctsSearch::new(config).expect("in range");
    used.run(&positions, &mut Guess::default()).expect("open");
    let reversed: Vec<Position> = positions.iter().rev().copied().collect();
    for roots in [&reversed[..], &positions[..1], &positions[..]] {
        let again = used.run(roots, &mut Guess::default()).expect("open");
        assert_eq!(again, fresh(roots));
    }

    let choose = |player: &mut Mcts, positions: &[Position]| {
        let mut streams: Vec<_> = (0..positions.len() as u64).map(stream).collect();
        let mut moves = vec![0; positions.len()];
        player
            .choose(positions, &mut streams, &mut moves)
            .expect("open games");
        moves
    };
    let mut player = Mcts::new(100).expect("in range");
    choose(&mut player, &positions);
    let again = choose(&mut player, &reversed);
    assert_eq!(
        again,
        choose(&mut Mcts::new(100).expect("in range"), &reversed)
    );
}

#[test]
fn many_roots_give_what_each_gives_alone_and_share_the_calls() {
    let start = Position::start(&dodoi(6));
    let roots: Vec<Position> = start
        .legal_moves()
        .iter()
        .map(|column| start.play(column).expect("legal"))
        .collect();
    let config = MctsConfig {
        simulations: 40,
        ..MctsConfig::default()
    };
    let mut guess = Guess::default();
    let together = MctsSearch::new(config)
        .and_then(|mut search| search.run(&roots, &mut guess))
        .expect("open games");
    assert_eq!(
        guess.calls, 41,
        "one for all roots, one for each simulation"
    );
    assert_eq!(guess.positions, 41 * roots.len());
    for (root, found) in roots.iter().zip(together) {
        let mut search = MctsSearch::new(config).expect("in range");
        let alone = search.run(&[*root], &mut Guess::default()).expect("open");
        assert_eq!(alone[0], found);
        assert_eq!(found, search_with_guess(root, 40));
    }
}

#[test]
fn results_list_the_legal_moves_and_a_line_that_can_be_played() {
    let position = parse("4,0,4,4/4,4,4,4 S 0-0 0", &dodoi(4));
    for found in [search(&position, 400), search_with_guess(&position, 400)] {
        let columns: Vec<usize> = found.moves.iter().map(|one| one.column.into()).collect();
        let legal: Vec<usize> = position.legal_moves().iter().collect();
        assert_eq!(columns, legal);
        assert_eq!(found.visits, 400);
        assert_eq!(found.moves.iter().map(|one| one.visits).sum::<u32>(), 400);
        let most = found.moves.iter().map(|one| one.visits).max();
        let played = found.moves.iter().find(|one| one.column == found.column);
        let played = played.expect("a legal column");
        assert_eq!(Some(played.visits), most);
        assert_eq!(played.value, Some(found.value));
        assert!(
            found
                .moves
                .iter()
                .all(|one| { one.value.is_some_and(|value| (-1.0..=1.0).contains(&value)) })
        );
        assert_eq!(found.principal_variation[0], found.column);
        let mut position = position;
        for &column in &found.principal_variation {
            position = position.play(column.into()).expect("legal");
        }
    }
}

#[test]
fn settings_out_of_range_and_finished_games_are_refused() {
    let start = Position::start(&dodoi(2));
    let default = MctsConfig::default();
    let refused = |config| MctsTree::new(&start, config).expect_err("out of range");
    let messages = [
        refused(MctsConfig {
            simulations: 0,
            ..default
        }),
        refused(MctsConfig {
            simulations: 1_000_001,
            ..default
        }),
        refused(MctsConfig {
            exploration: f64::NAN,
            ..default
        }),
        refused(MctsConfig {
            playout_plies: 0,
            ..default
        }),
    ]
    .map(|error| error.to_string());
    assert_eq!(
        messages,
        [
            "simulations is 0, expected 1 to 1000000",
            "simulations is 1000001, expected 1 to 1000000",
            "exploration is NaN, expected 0 to 1000",
            "playout_plies is 0, expected 1 to 1000000",
        ]
    );
    let mut kept = tree(&start);
    assert_eq!(
        kept.grow(0, &mut stream(1)),
        Err(MctsError::Simulations { simulations: 0 })
    );
    assert!(matches!(kept.advance(9), Err(MctsError::Move(_))));
    assert_eq!(kept.position(), &start);

    let mut kept = tree(&parse("1,0,1/0,1,0 S 5-5 0", &dodoi(3)));
    kept.advance(0).expect("legal");
    assert!(kept.position().is_over());
    assert!(matches!(kept.result(), Err(MctsError::Over { .. })));
    assert!(matches!(
        kept.grow(5, &mut stream(1)),
        Err(MctsError::Over { .. })
    ));
    assert!(MctsTree::new(kept.position(), default).is_err());
    assert!(kept.restart(&start).is_ok());
}

#[test]
fn an_evaluator_that_fails_is_reported() {
    struct Failing;
    impl Evaluator for Failing {
        fn evaluate(
            &mut self,
            _positions: &[Position],
            _out: &mut Evaluations,
        ) -> Result<(), EvaluatorError> {
            Err(EvaluatorError {
                message: "no network".to_owned(),
            })
        }
    }
    let start = Position::start(&dodoi(6));
    let error = tree(&start).grow_with(5, &mut Failing).expect_err("fails");
    assert_eq!(error.to_string(), "no network");
}
