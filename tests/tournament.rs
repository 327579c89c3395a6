//! Tournaments: against a slow twin, in any split, with players that misbehave.

// A helper of a test fails as loudly as a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Exact halves are what is tested.
#![allow(clippy::float_cmp)]

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Duration;

use endodoi::arena::{
    Book, BookError, Chunk, Openings, Standings, TournamentConfig, TournamentError, TournamentGame,
    different_names, play_chunks,
};
use endodoi::policy::{AlphaBeta, Greedy, Mcts, Policy, PolicyError, Random};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::simulate::EndCode;
use endodoi::{GameRecord, Outcome, Position, Ruleset, RulesetFields, Side, Variant};

fn two_by(columns: usize) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns as i64),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).unwrap()
}

fn quietly(_finished: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The four players of these tests and their names.
fn four() -> ([Box<dyn Policy>; 4], Vec<String>) {
    let players: [Box<dyn Policy>; 4] = [
        Box::new(Random),
        Box::<Greedy>::default(),
        Box::new(AlphaBeta::new(2).unwrap()),
        Box::new(Mcts::new(5).unwrap()),
    ];
    let names = players.iter().map(|player| player.name()).collect();
    (players, names)
}

fn play(config: &TournamentConfig, chunks: &[Chunk], threads: usize) -> Vec<TournamentGame> {
    let (mut players, _) = four();
    let mut players: Vec<&mut dyn Policy> = players.iter_mut().map(|p| &mut **p as _).collect();
    play_chunks(config, &mut players, chunks, Some(threads), &mut quietly).unwrap()
}

/// Plays the game of a pair move by move, asking for one position at a time.
fn slow_game(
    config: &TournamentConfig,
    players: &mut [Box<dyn Policy>],
    [south, north]: [u32; 2],
    pair: u32,
) -> (Vec<u8>, [u16; 2], Option<Outcome>) {
    let row_seed = rng::mix(config.seed, pair.into());
    let mut drawn = rng::stream(row_seed, 0, Purpose::Opening);
    let mut moves = Vec::new();
    let mut position = Position::start(&config.ruleset);
    while moves.len() < 4 {
        let legal = position.legal_moves();
        let column = legal.nth(rng::below(&mut drawn, legal.len() as u32) as usize);
        moves.push(column.unwrap() as u8);
        position = position.play(column.unwrap()).unwrap();
        if position.is_over() {
            moves.clear();
            position = Position::start(&config.ruleset);
        }
    }
    let mut stream = [rng::stream(row_seed, 0, Purpose::Play)];
    while !position.is_over() {
        let player = if position.to_move() == Side::South {
            south
        } else {
            north
        };
        let mut column = [0];
        players[player as usize]
            .choose(&[position], &mut stream, &mut column)
            .unwrap();
        position = position.play(column[0].into()).unwrap();
        moves.push(column[0]);
    }
    (moves, position.board().captured(), position.outcome())
}

#[test]
fn every_game_is_that_of_a_slow_twin() {
    let config = TournamentConfig {
        seed: 21,
        ..TournamentConfig::new(two_by(6), 12)
    };
    let games = play(&config, &config.chunks(4, 4), 2);
    assert_eq!(games.len(), 6 * 12);
    let (mut players, _) = four();
    for game in &games {
        let [a, b] = game.pairing;
        let sides = if game.south == 0 { [a, b] } else { [b, a] };
        let (moves, captured, outcome) = slow_game(&config, &mut players, sides, game.pair);
        assert_eq!(game.moves, moves, "{game:?}");
        assert_eq!(game.captured, captured);
        assert_eq!(Some(game.winner), outcome.map(Outcome::sign));
        let sign = if game.south == 0 { 1 } else { -1 };
        assert_eq!(game.result(), sign * game.winner);
        let margin = i32::from(captured[0]) - i32::from(captured[1]);
        assert_eq!(game.margin(), i32::from(sign) * margin);
        assert_eq!(game.opening, 4);
        let asked: u32 = game.times.iter().map(|times| times.moves).sum();
        assert_eq!(asked as usize, moves.len() - 4);
    }
}

#[test]
fn any_split_order_and_number_of_threads_gives_the_same_games() {
    let config = TournamentConfig {
        seed: 3,
        ..TournamentConfig::new(two_by(6), 20)
    };
    let (_, names) = four();
    let whole = play(&config, &config.chunks(4, 10), 1);
    let standings = Standings::of(&config, &names, &whole).unwrap();
    for (pairs, threads) in [(1, 2), (3, 8), (100, 2)] {
        let mut chunks = config.chunks(4, pairs);
        chunks.reverse();
        let parts: Vec<Vec<TournamentGame>> = chunks
            .iter()
            .map(|chunk| play(&config, std::slice::from_ref(chunk), threads))
            .collect();
        let mut games = parts.concat();
        assert_eq!(Standings::of(&config, &names, &games).unwrap(), standings);
        games.sort_by_key(|game| (game.pairing, game.pair, game.south));
        let mut sorted = whole.clone();
        sorted.sort_by_key(|game| (game.pairing, game.pair, game.south));
        assert_eq!(games, sorted);
    }
}

#[test]
fn a_pairing_does_not_depend_on_who_else_takes_part() {
    let config = TournamentConfig::new(two_by(6), 20);
    let games = play(&config, &config.chunks(4, 10), 1);
    let wanted = games.iter().filter(|game| game.pairing == [1, 2]);
    let mut greedy = Greedy::default();
    let mut deep = AlphaBeta::new(2).unwrap();
    let chunks = config.chunks(2, 10);
    let players: &mut [&mut dyn Policy] = &mut [&mut greedy, &mut deep];
    let alone = play_chunks(&config, players, &chunks, Some(1), &mut quietly).unwrap();
    for (one, other) in wanted.zip(&alone) {
        assert_eq!(one.moves, other.moves);
        assert_eq!(one.result(), other.result());
    }
}

#[test]
fn the_same_player_against_itself_scores_exactly_one_half_in_every_pair() {
    let config = TournamentConfig::new(two_by(6), 60);
    let names = different_names(&["random", "random", "mcts:5", "mcts:5"]);
    assert_eq!(names, ["random", "random#2", "mcts:5", "mcts:5#2"]);
    let mut twins: [Mcts; 2] = [Mcts::new(5).unwrap(), Mcts::new(5).unwrap()];
    let [one, other] = &mut twins;
    let players: &mut [&mut dyn Policy] = &mut [&mut Random, &mut Random, one, other];
    let chunks = config.chunks(4, 30);
    let games = play_chunks(&config, players, &chunks, None, &mut quietly).unwrap();
    let standings = Standings::of(&config, &names, &games).unwrap();
    for pairing in [&standings.pairings[0], &standings.pairings[5]] {
        assert_eq!((pairing.score, pairing.margin), (0.5, 0.0));
        assert_eq!(pairing.wins, pairing.losses);
        assert!(pairing.distinct <= 30 && pairing.distinct > 25);
    }
    for pair in games.chunks(2) {
        if matches!(pair[0].pairing, [0, 1] | [2, 3]) {
            assert_eq!(pair[0].moves, pair[1].moves);
        }
    }
    assert!(standings.pairings[1].score < 0.4);
}

#[test]
fn repeated_pairs_do_not_narrow_the_intervals() {
    // Two plies leave at most 36 openings: 1,000 pairs repeat them again and again.
    let config = TournamentConfig {
        openings: Openings::Random { plies: 2 },
        ..TournamentConfig::new(two_by(6), 2000)
    };
    let few = TournamentConfig {
        games: 80,
        ..config.clone()
    };
    let names = different_names(&["greedy", "alphabeta:2"]);
    let width_of = |config: &TournamentConfig| {
        let (mut greedy, mut deep) = (Greedy::default(), AlphaBeta::new(2).unwrap());
        let players: &mut [&mut dyn Policy] = &mut [&mut greedy, &mut deep];
        let chunks = config.chunks(2, 1000);
        let games = play_chunks(config, players, &chunks, None, &mut quietly).unwrap();
        let pairing = Standings::of(config, &names, &games).unwrap().pairings[0].clone();
        assert!(pairing.low <= pairing.score && pairing.score <= pairing.high);
        (pairing.high - pairing.low, pairing)
    };
    let (wide, all) = width_of(&config);
    assert!(
        all.distinct_pairs <= 36 && all.distinct_pairs > 25,
        "{all:?}"
    );
    assert!(all.distinct <= 72);
    let (narrow, part) = width_of(&few);
    assert!(part.distinct_pairs <= all.distinct_pairs);
    assert!(wide > 0.7 * narrow, "{wide} {narrow}");
    assert!(all.margin_half.unwrap() > 0.7 * part.margin_half.unwrap());
}

/// Plays the lowest column; misbehaves where its row holds so many seeds.
struct Misbehaving {
    illegal_at: u16,
    failing_at: u16,
    slow_at: u16,
}

impl Policy for Misbehaving {
    fn name(&self) -> String {
        "misbehaving".to_owned()
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        for (position, column) in positions.iter().zip(moves) {
            let seeds: u16 = position.board().row(position.to_move()).iter().sum();
            *column = position.legal_moves().nth(0).unwrap() as u8;
            if seeds == self.failing_at {
                return Err(PolicyError::Failed {
                    name: self.name(),
                    message: "lost its nerve".to_owned(),
                });
            }
            if seeds == self.illegal_at {
                *column = 200;
            }
            if seeds == self.slow_at {
                std::thread::sleep(Duration::from_millis(60));
            }
        }
        Ok(())
    }
}

#[test]
fn who_misbehaves_loses_that_game_with_the_reason_and_the_rest_goes_on() {
    let config = TournamentConfig {
        seconds_per_move: Some(0.05),
        ..TournamentConfig::new(two_by(6), 160)
    };
    let mut bad = Misbehaving {
        illegal_at: 17,
        failing_at: 13,
        slow_at: 11,
    };
    let names = different_names(&["random", "misbehaving", "greedy"]);
    let mut greedy = Greedy::default();
    let players: &mut [&mut dyn Policy] = &mut [&mut Random, &mut bad, &mut greedy];
    let chunks = config.chunks(3, 80);
    let games = play_chunks(&config, players, &chunks, None, &mut quietly).unwrap();
    let standings = Standings::of(&config, &names, &games).unwrap();
    let [random, misbehaving, greedy] = &standings.players[..] else {
        panic!("three players");
    };
    // A busy machine may make any player late: only the others' own faults are none.
    assert_eq!((random.illegal, random.error), (0, 0));
    assert_eq!((greedy.illegal, greedy.error), (0, 0));
    let faults = [misbehaving.illegal, misbehaving.error, misbehaving.late];
    assert!(faults.iter().all(|&games| games > 3), "{faults:?}");
    assert!(misbehaving.longest_move > 0.05 && misbehaving.seconds_per_move > 0.0);
    let mut seen = HashSet::new();
    for game in &games {
        let told = game.failure.as_deref();
        assert_eq!(told.is_some(), game.end.is_forfeit());
        let Some(player) = game.at_fault() else {
            continue;
        };
        assert_eq!(game.result(), if player == 0 { -1 } else { 1 });
        let name = names[game.pairing[player] as usize].as_str();
        match game.end {
            EndCode::Illegal => assert_eq!(told, Some("column is 200, expected 0 to 5")),
            EndCode::Error => assert_eq!(told, Some("player misbehaving: lost its nerve")),
            _ => assert!(told.unwrap().ends_with("seconds, 0.05 allowed"), "{told:?}"),
        }
        seen.insert((name, game.end));
    }
    for end in [EndCode::Illegal, EndCode::Error, EndCode::Late] {
        assert!(seen.contains(&("misbehaving", end)));
    }
    let text = standings.to_text(true);
    assert!(
        text.contains("misbehaving lost games by its own fault: "),
        "{text}"
    );
    assert!(text.contains("s/move"), "{text}");
    assert!(!standings.to_string().contains("s/move"));
}

#[test]
fn an_early_end_leaves_whole_pairs_without_a_gap() {
    let config = TournamentConfig::new(two_by(6), 400);
    let (mut players, names) = four();
    let mut players: Vec<&mut dyn Policy> = players.iter_mut().map(|p| &mut **p as _).collect();
    let mut stop = |finished| {
        if finished > 300 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let chunks = config.chunks(4, 20);
    let games = play_chunks(&config, &mut players, &chunks, Some(1), &mut stop).unwrap();
    assert!(!games.is_empty() && games.len() < 2400, "{}", games.len());
    let standings = Standings::of(&config, &names, &games).unwrap();
    assert_eq!(standings.games as usize, games.len());
    for pairing in config.pairings(4) {
        let own = games.iter().filter(|game| game.pairing == pairing);
        for (index, game) in own.enumerate() {
            assert_eq!((game.pair, game.south), (index as u32 / 2, index as u8 % 2));
        }
    }
}

#[test]
fn a_gauntlet_lets_the_first_players_meet_the_others() {
    let config = TournamentConfig {
        gauntlet: Some(2),
        ..TournamentConfig::new(two_by(6), 4)
    };
    assert_eq!(config.pairings(4), [[0, 2], [0, 3], [1, 2], [1, 3]]);
    let all = TournamentConfig::new(two_by(6), 4);
    assert_eq!(all.pairings(3), [[0, 1], [0, 2], [1, 2]]);
    assert_eq!(config.chunks(4, 1).len(), 8);
    assert_eq!(play(&config, &config.chunks(4, 2), 1).len(), 16);
    for pairing in [[0, 1], [2, 3], [2, 0], [0, 4], [0, 0]] {
        let wrong = Chunk {
            pairing,
            first: 0,
            last: 1,
        };
        let (mut players, _) = four();
        let mut players: Vec<&mut dyn Policy> = players.iter_mut().map(|p| &mut **p as _).collect();
        let refused = play_chunks(&config, &mut players, &[wrong], None, &mut quietly);
        assert!(
            matches!(refused, Err(TournamentError::Chunk { .. })),
            "{pairing:?}"
        );
    }
}

#[test]
fn a_book_is_played_once_through_in_an_order_of_the_seed() {
    let ruleset = two_by(3);
    let start = Position::start(&ruleset);
    let positions: Vec<Position> = (0..3)
        .flat_map(|one| (0..3).map(move |other| [one, other]))
        .filter_map(|[one, other]| start.play(one).ok()?.play(other).ok())
        .filter(|position| !position.is_over())
        .collect();
    let book = Book::new(positions.clone()).unwrap();
    let pairs = positions.len() as u32;
    let of_seed = |seed| TournamentConfig {
        seed,
        openings: Openings::Book(book.clone()),
        ..TournamentConfig::new(ruleset, 2 * pairs)
    };
    let starts = |seed| -> Vec<Position> {
        let config = of_seed(seed);
        (0..pairs)
            .map(|pair| config.opening(pair).unwrap().start)
            .collect()
    };
    let all: HashSet<Position> = positions.iter().copied().collect();
    assert_eq!(starts(1).into_iter().collect::<HashSet<_>>(), all);
    assert_ne!(starts(1), starts(2));
    let config = of_seed(1);
    let games = play(&config, &config.chunks(4, pairs), 1);
    for game in &games {
        let start = config.opening(game.pair).unwrap().start;
        let (_, names) = four();
        let record = game.record(&ruleset, &start, &names);
        let line = record.to_json().unwrap();
        assert_eq!(GameRecord::from_json(&line).unwrap(), record);
        let again = TournamentGame::of_record(record, game.note()).unwrap();
        assert_eq!(&again, game);
    }
    let long = TournamentConfig {
        games: 2 * pairs + 2,
        ..config
    };
    let text = long.check(4).unwrap_err().to_string();
    assert_eq!(
        text,
        format!(
            "the book holds {pairs} positions, but {} games for each pairing take {}, one for \
             every two games",
            2 * pairs + 2,
            pairs + 1
        )
    );
}

#[test]
fn books_refuse_what_cannot_be_played() {
    let ruleset = two_by(3);
    let refused = |text: &str| Book::parse(text, &ruleset).unwrap_err();
    assert!(matches!(
        refused("# nothing\n\n"),
        BookError::Size { positions: 0 }
    ));
    let text = refused("# a note\n4,4,4/4,4 S 0-0 0\n").to_string();
    assert!(text.starts_with("line 2 of the book: "), "{text}");
    let over = "0,0,0/0,0,0 S 12-12 0";
    assert!(matches!(refused(over), BookError::Over { index: 0, .. }));
    let twice = "4,4,4/4,4,4 S 0-0 0\t+2\n4,4,4/4,4,4 S 0-0 0\n";
    let text = refused(twice).to_string();
    assert_eq!(
        text,
        "position 1 of the book, 4,4,4/4,4,4 S 0-0 0, is there twice"
    );
    let other = Position::start(&two_by(4));
    let mixed = Book::new(vec![Position::start(&ruleset), other]).unwrap_err();
    assert!(matches!(mixed, BookError::Rules { index: 1, .. }));
    let config = TournamentConfig {
        openings: Openings::Book(Book::new(vec![other]).unwrap()),
        ..TournamentConfig::new(ruleset, 2)
    };
    let refused = config.check(2).unwrap_err();
    assert!(matches!(refused, TournamentError::BookRules { .. }));
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let good = TournamentConfig::new(two_by(6), 10);
    let refused =
        |config: TournamentConfig, players| config.check(players).unwrap_err().to_string();
    assert_eq!(refused(good.clone(), 1), "players is 1, expected 2 to 1000");
    assert_eq!(refused(good.clone(), 0), "players is 0, expected 2 to 1000");
    for games in [0, 1, 7, 10_000_001] {
        let config = TournamentConfig {
            games,
            ..good.clone()
        };
        assert_eq!(
            refused(config, 2),
            format!("games is {games}, expected an even number from 2 to 10000000")
        );
    }
    let gauntlet = |first| TournamentConfig {
        gauntlet: Some(first),
        ..good.clone()
    };
    assert_eq!(refused(gauntlet(3), 3), "gauntlet is 3, expected 1 to 2");
    assert_eq!(refused(gauntlet(0), 3), "gauntlet is 0, expected 1 to 2");
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
        let config = TournamentConfig {
            seconds_per_move: Some(seconds),
            ..good.clone()
        };
        assert!(refused(config, 2).starts_with("seconds_per_move is "));
    }
    let config = TournamentConfig {
        max_plies: Some(4),
        ..good.clone()
    };
    assert_eq!(refused(config, 2), "openings is 4, expected 0 to 3");
}

#[test]
fn games_that_are_there_twice_or_alone_are_refused() {
    let config = TournamentConfig::new(two_by(6), 4);
    let (_, names) = four();
    let games = play(&config, &config.chunks(4, 2), 1);
    let twice = [&games[..], &games[..2]].concat();
    let alone = &games[1..];
    for wrong in [&twice[..], alone] {
        let refused = Standings::of(&config, &names, wrong);
        assert!(matches!(refused, Err(TournamentError::Unpaired { .. })));
    }
    let nothing = Standings::of(&config, &names, &[]).unwrap();
    assert_eq!((nothing.games, nothing.pairings.len()), (0, 6));
    assert_eq!(
        (nothing.pairings[0].low, nothing.pairings[0].high),
        (0.0, 1.0)
    );
    assert!(nothing.to_string().contains("0 of 0 games are distinct"));
}

#[test]
fn counts_of_the_standings_are_those_of_the_games() {
    let config = TournamentConfig {
        max_plies: Some(40),
        ..TournamentConfig::new(two_by(6), 100)
    };
    let (_, names) = four();
    let games = play(&config, &config.chunks(4, 50), 2);
    let standings = Standings::of(&config, &names, &games).unwrap();
    assert!(standings.cut > 0);
    let mut points = 0.0;
    for (index, player) in standings.players.iter().enumerate() {
        let own: Vec<&TournamentGame> = games
            .iter()
            .filter(|game| game.pairing.contains(&(index as u32)))
            .collect();
        let result = |game: &TournamentGame| {
            if game.pairing[0] == index as u32 {
                game.result()
            } else {
                -game.result()
            }
        };
        let of = |wanted: i8| own.iter().filter(|game| result(game) == wanted).count() as u32;
        assert_eq!((player.games, player.games), (own.len() as u32, 300));
        assert_eq!((player.wins, player.losses), (of(1), of(-1)));
        assert_eq!(player.draws + player.cut, of(0));
        let halves = f64::from(2 * player.wins + player.draws + player.cut);
        assert!((player.score - halves / 600.0).abs() < 1e-12);
        points += halves / 2.0;
    }
    assert_eq!(points, 600.0);
    let ratings = standings.players.iter();
    assert!(ratings.clone().all(|player| player.low < player.rating));
    assert!(ratings.map(|player| player.rating).sum::<f64>().abs() < 1e-6);
    let [random, _, deep, _] = &standings.players[..] else {
        panic!("four players");
    };
    assert!(random.high < deep.low && standings.superiority[2][0] > 0.99);
    let south = &standings.first_move;
    assert!(south.elo.low < south.elo.value && south.elo.value < south.elo.high);
    assert_eq!(south.wins + south.draws + south.losses + standings.cut, 600);
    let moves: HashSet<(Position, &[u8])> = games
        .iter()
        .map(|game| {
            let opening = config.opening(game.pair).unwrap().position;
            (opening, &game.moves[4..])
        })
        .collect();
    assert_eq!(standings.distinct as usize, moves.len());
    let markdown = standings.to_markdown(false);
    assert!(markdown.contains("| 1 | alphabeta:2 | +"), "{markdown}");
    let ranked: Vec<f64> = standings
        .ranked()
        .iter()
        .map(|player| player.rating)
        .collect();
    assert!(ranked.is_sorted_by(|a, b| a >= b));
}
