//! Monte Carlo tree search: values, reuse, and what it depends on.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/trees.rs"]
mod trees;

use common::{changed, dodoi};
use endodoi::policy::{Mcts, Policy};
use endodoi::rng::{self, Purpose};
use endodoi::search::{
    Evaluations, Evaluator, EvaluatorError, MctsConfig, MctsError, MctsSearch, MctsTree, Playouts,
};
use endodoi::simulate::{SimulateConfig, simulate};
use endodoi::{Endless, LoneCapture, Position, Side, Variant};
use trees::{Guess, parse, search, search_with_guess, stream, tree};

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
