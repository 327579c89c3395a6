//! Players: the choice of each, and the texts that name them.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use endodoi::policy::{
    AgentSearch, AlphaBeta, Greedy, Mcts, Policy, PolicyError, PolicySpec, Random,
};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::search::AlphaBetaConfig;
use endodoi::{Position, Ruleset, RulesetFields, search};

fn ruleset(json: &str) -> Ruleset {
    let fields: RulesetFields = serde_json::from_str(json).unwrap();
    Ruleset::try_from(fields).unwrap()
}

/// Open positions of seeded random games.
fn positions(rules: &Ruleset, games: u64) -> Vec<Position> {
    let mut found = Vec::new();
    for game in 0..games {
        let mut stream = rng::stream(game, 0, Purpose::Opening);
        let mut position = Position::start(rules);
        while !position.is_over() && found.len() < 4000 {
            found.push(position);
            let mut moves = [0];
            Random
                .choose(&[position], std::slice::from_mut(&mut stream), &mut moves)
                .unwrap();
            position = position.play(moves[0].into()).unwrap();
        }
    }
    found
}

fn choose(policy: &mut dyn Policy, positions: &[Position], seed: u64) -> Vec<u8> {
    let mut streams: Vec<Xoshiro128PlusPlus> = (0..positions.len() as u64)
        .map(|i| rng::stream(rng::mix(seed, i), 0, Purpose::Policy))
        .collect();
    let mut moves = vec![255; positions.len()];
    policy.choose(positions, &mut streams, &mut moves).unwrap();
    moves
}

#[test]
fn random_is_uniform_over_the_legal_moves_beside_an_endless_one() {
    // Columns 0 and 4 are empty; of the others those that are legal must come up equally often.
    let rules = ruleset(r#"{"columns":2}"#);
    let mut offering = None;
    for seeds in 0..6_i64.pow(4) {
        let pit = |i: u32| seeds / 6_i64.pow(i) % 6;
        let text = format!("{},{}/{},{} S 0-0 0", pit(0), pit(1), pit(2), pit(3));
        let position = Position::from_text(&text, &rules).unwrap();
        let row = position.board().row(endodoi::Side::South);
        if position.legal_moves().len() == 1 && row.iter().all(|&seeds| seeds > 0) {
            offering = Some(position);
        }
    }
    let position = offering.expect("a board with one endless and one legal move");
    let moves = choose(&mut Random, &vec![position; 500], 3);
    assert!(
        moves
            .iter()
            .all(|&column| position.legal_moves().contains(column.into()))
    );

    let rules = ruleset(r#"{"columns":6}"#);
    let start = Position::start(&rules);
    let mut counts = [0_f64; 6];
    for column in choose(&mut Random, &vec![start; 60_000], 4) {
        counts[usize::from(column)] += 1.0;
    }
    // Five degrees of freedom: 20.5 is passed once in a thousand times.
    let chi_squared: f64 = counts.iter().map(|n| (n - 1e4).powi(2) / 1e4).sum();
    assert!(chi_squared < 20.5, "{counts:?}");
}

#[test]
fn random_counts_the_endless_moves_it_refuses() {
    let rules = ruleset(r#"{"columns":6,"lap_limit":6}"#);
    let positions = positions(&rules, 40);
    let mut streams: Vec<Xoshiro128PlusPlus> = (0..positions.len() as u64)
        .map(|i| rng::stream(i, 0, Purpose::Policy))
        .collect();
    let mut moves = vec![0; positions.len()];
    let mut refused = vec![0; positions.len()];
    Random
        .choose_counting(&positions, &mut streams, &mut moves, &mut refused)
        .unwrap();
    for ((position, column), refused) in positions.iter().zip(moves).zip(&refused) {
        assert!(position.legal_moves().contains(column.into()));
        let row = position.board().row(position.to_move());
        let endless = row.iter().filter(|&&seeds| seeds > 0).count() - position.legal_moves().len();
        assert!(*refused as usize <= endless);
    }
    assert!(refused.iter().sum::<u32>() > 0);
}

#[test]
fn greedy_is_alphabeta_1_and_takes_the_most_it_can() {
    for json in [
        r#"{"columns":6}"#,
        r#"{"variant":"cross-endodoi","lone_capture":"taken"}"#,
    ] {
        let positions = positions(&ruleset(json), 20);
        let moves = choose(&mut Greedy::default(), &positions, 0);
        assert_eq!(
            moves,
            choose(&mut AlphaBeta::new(1).unwrap(), &positions, 1)
        );
        for (position, column) in positions.iter().zip(moves) {
            let lead = |column: usize| {
                let next = position.play(column).unwrap();
                next.board().lead(position.to_move())
            };
            let most = position.legal_moves().iter().map(lead).max().unwrap();
            let first = position.legal_moves().iter().find(|&c| lead(c) == most);
            assert_eq!(Some(usize::from(column)), first, "{position}");
        }
    }
}

#[test]
fn choices_do_not_depend_on_the_grouping_or_the_threads() {
    let positions = positions(&ruleset(r#"{"columns":6}"#), 10);
    let players: [Box<dyn Policy>; 4] = [
        Box::new(Random),
        Box::<Greedy>::default(),
        Box::new(AlphaBeta::new(3).unwrap()),
        Box::new(Mcts::new(40).unwrap()),
    ];
    for mut player in players {
        let whole = choose(&mut *player, &positions, 9);
        let mut singly = Vec::new();
        for (i, position) in positions.iter().enumerate() {
            let mut stream = [rng::stream(rng::mix(9, i as u64), 0, Purpose::Policy)];
            let mut moves = [255];
            player
                .choose(&[*position], &mut stream, &mut moves)
                .unwrap();
            singly.push(moves[0]);
        }
        assert_eq!(whole, singly);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            assert_eq!(whole, pool.install(|| choose(&mut *player, &positions, 9)));
        }
    }
}

#[test]
fn alpha_beta_plays_the_move_of_its_search() {
    let positions = positions(&ruleset(r#"{"columns":4}"#), 5);
    let moves = choose(&mut AlphaBeta::new(4).unwrap(), &positions, 0);
    for (position, column) in positions.iter().zip(moves) {
        let best = search::alpha_beta(position, 4).unwrap();
        assert_eq!(usize::from(column), best.column);
    }
}

#[test]
fn a_finished_game_is_a_failure_of_the_player_not_of_the_program() {
    let rules = ruleset(r#"{"columns":2}"#);
    let over = Position::from_text("0,0/1,1 S 3-3 0", &rules).unwrap();
    for player in ["random", "greedy", "alphabeta:3", "mcts:10"] {
        let mut player = player.parse::<PolicySpec>().unwrap().build().unwrap();
        let mut stream = [rng::stream(0, 0, Purpose::Policy)];
        let error = player.choose(&[over], &mut stream, &mut [0]).unwrap_err();
        assert!(matches!(error, PolicyError::Failed { .. }), "{error}");
    }
}

#[test]
fn specs_round_trip_and_name_the_players_they_build() {
    let texts = [
        "random",
        "greedy",
        "alphabeta:1",
        "alphabeta:64",
        "mcts:1",
        "mcts:1000000",
        "alphabeta:nodes=1",
        "alphabeta:seconds=0.25",
        "alphabeta:8@table=65536",
        "alphabeta:seconds=2@table=0@threads=2",
    ];
    for text in texts {
        let spec: PolicySpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
        assert_eq!(spec.build().unwrap().name(), text);
    }
    let agents = [
        ("agent:runs/x", "runs/x", AgentSearch::Default),
        (
            "agent:a.safetensors@none",
            "a.safetensors",
            AgentSearch::None,
        ),
        ("agent:C:/a@sims=32", "C:/a", AgentSearch::Simulations(32)),
        ("agent:a@mcts=800", "a", AgentSearch::Mcts(800)),
        ("agent:runs@home/x=1", "runs@home/x=1", AgentSearch::Default),
        ("agent:x@2026", "x@2026", AgentSearch::Default),
        ("agent:x@y@none", "x@y", AgentSearch::None),
    ];
    for (text, path, search) in agents {
        let spec: PolicySpec = text.parse().unwrap();
        let expected = PolicySpec::Agent {
            path: path.into(),
            search,
        };
        assert_eq!(spec, expected);
        assert_eq!(spec.to_string(), text);
    }
}

#[test]
fn other_specs_are_refused_with_the_forms_that_are_known() {
    let texts = [
        "",
        "Random",
        "random:1",
        "greedy ",
        "alphabeta",
        "alphabeta:",
        "alphabeta:0",
        "alphabeta:65",
        "alphabeta:+3",
        "alphabeta:3.0",
        "alphabeta:99999999999",
        "mcts",
        "mcts:",
        "mcts:0",
        "mcts:1000001",
        "mcts:1e3",
        "alphabeta:nodes=0",
        "alphabeta:nodes=",
        "alphabeta:seconds=0",
        "alphabeta:seconds=-1",
        "alphabeta:seconds=inf",
        "alphabeta:seconds=1e3",
        "alphabeta:seconds=1000001",
        "alphabeta:plies=3",
        "alphabeta:3@threads=0",
        "alphabeta:3@threads=2@table=0",
        "alphabeta:3@table=1099511627777",
        "alphabeta:nodes=9@threads=2",
        "agent",
        "agent:",
        "agent:@none",
        "agent:x@sims=",
        "agent:x@sims=0",
        "agent:x@sims=1000001",
        "agent:x@mcts=0",
        "agent:x@mcts=1000001",
        "agent:x@depth=0",
        "agent:x@depth=65",
        "agent:x@nodes=0",
        "agent:x@sim=3",
        "minimax:3",
    ];
    for text in texts {
        let error = text.parse::<PolicySpec>().unwrap_err();
        assert!(
            matches!(&error, PolicyError::Spec { spec, .. } if spec == text),
            "{text}"
        );
        let message = error.to_string();
        assert!(
            message.contains("alphabeta:N with N from 1 to 64"),
            "{message}"
        );
        assert!(
            message.contains("mcts:N with N from 1 to 1000000"),
            "{message}"
        );
    }
    let error = PolicySpec::Mcts { simulations: 0 }.build().err().unwrap();
    assert!(error.to_string().starts_with("player is \"mcts:0\""));
    let error = PolicySpec::AlphaBeta(AlphaBetaConfig::of_depth(65))
        .build()
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("player is \"alphabeta:65\""));
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let spec: PolicySpec = "agent:no/such/agent.safetensors".parse().unwrap();
    let error = spec.build().err().unwrap();
    assert!(
        error.to_string().contains("no/such/agent.safetensors"),
        "{error}"
    );
}
