//! The parts of the core, one at a time: moves, masks, searches, games, steps, children.
//!
//! `cargo bench` measures all of them, `cargo bench -- step` those of a name,
//! `cargo bench -- --test` runs each once. Every part asserts its answer. `make bench` compares
//! the whole of games and steps with a twin.

// A bench fails loudly.
#![allow(clippy::expect_used, clippy::panic)]

use std::ops::ControlFlow;
use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use endodoi::batch::{Batch, BatchConfig, ChildArrays, Seeds, StepArrays};
use endodoi::policy::PolicySpec;
use endodoi::policy::features::{FEATURES, FeatureWriter, write_features};
use endodoi::policy::network::{Network, NetworkEvaluator};
use endodoi::policy::value::{ValueLeaf, ValueNetwork, ValueSizes};
use endodoi::policy::weights::{NetworkSizes, Weights};
use endodoi::reference::{b4_pit, s6_laps};
use endodoi::rng::{self, Purpose};
use endodoi::search::{
    AlphaBetaConfig, AlphaBetaSearch, Evaluations, Evaluator, LeafEvaluator, MctsConfig, MctsTree,
    Playouts, SearchResult, alpha_beta,
};
use endodoi::simulate::{GameTable, Instructions, SimulateConfig, simulate};
use endodoi::{Position, Ruleset, RulesetFields, Side, Variant, perft};

/// Columns of the boards measured.
const COLUMNS: [usize; 4] = [6, 8, 10, 50];

fn main() {
    divan::main();
}

fn ruleset(columns: usize) -> Ruleset {
    let fields = RulesetFields {
        columns: Some(columns as i64),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).expect("valid fields")
}

/// The names of the sets of instructions of this processor.
fn sets() -> Vec<&'static str> {
    let sets = Instructions::ALL.into_iter();
    sets.filter(|set| set.is_available())
        .map(Instructions::name)
        .collect()
}

/// Returns the positions of a random game, the last one finished, and the columns played.
fn random_game(columns: usize, number: u64) -> (Vec<Position>, Vec<usize>) {
    let mut stream = rng::stream(number, 0, Purpose::Policy);
    let mut positions = vec![Position::start(&ruleset(columns))];
    let mut played = Vec::new();
    while let Some(position) = positions.last().filter(|position| !position.is_over()) {
        let legal = position.legal_moves();
        let column = legal.nth(rng::below(&mut stream, legal.len() as u32) as usize);
        let column = column.expect("a legal column");
        let next = position.play(column).expect("legal");
        played.push(column);
        positions.push(next);
    }
    (positions, played)
}

/// Rows of the batch that is stepped.
const ROWS: usize = 1024;

/// A position of a random game, the column played there, and what it led to.
struct Turn {
    before: Position,
    column: usize,
    after: Vec<i16>,
}

/// Batches that are stepped in turn: a processor would learn a single one by heart.
const BATCHES: usize = 16;

/// Returns a turn for every row, each of another game or at another ply.
fn turns(columns: usize) -> Vec<Turn> {
    let turns = (0..).flat_map(|number| {
        let (positions, played) = random_game(columns, number);
        let after: Vec<Vec<i16>> = positions.iter().map(Position::observation).collect();
        let moves = positions.into_iter().zip(played);
        moves
            .zip(after.into_iter().skip(1))
            .map(|((before, column), after)| Turn {
                before,
                column,
                after,
            })
    });
    turns.take(BATCHES * ROWS).collect()
}

/// Sows the moves of random games, one after another; an item is a lap.
#[divan::bench(args = COLUMNS)]
fn sow(bencher: Bencher<'_, '_>, columns: usize) {
    let turns = turns(columns);
    let slowly = |turn: &Turn| {
        let (position, rules) = (turn.before, ruleset(columns));
        let board = position.board();
        let seeds = board.row(Side::South).iter().chain(board.row(Side::North));
        let mut ring: Vec<i64> = seeds.map(|&seeds| i64::from(seeds)).collect();
        let pit = b4_pit(&rules, position.to_move().index(), turn.column);
        s6_laps(&rules, &mut ring, pit).laps
    };
    let expected: i64 = turns.iter().map(slowly).sum();
    bencher.counter(ItemsCount::new(expected as u64)).bench(|| {
        let sown = turns.iter().map(|turn| turn.before.sow(turn.column));
        let laps = sown.map(|sown| i64::from(sown.expect("a pit with seeds").0.laps));
        assert_eq!(laps.sum::<i64>(), expected);
    });
}

/// Plays moves of random games and finds the next legal ones; an item is a ply.
#[divan::bench(args = COLUMNS)]
fn play(bencher: Bencher<'_, '_>, columns: usize) {
    let turns = turns(columns);
    bencher.counter(ItemsCount::new(turns.len())).bench(|| {
        for turn in &turns {
            let after = turn.before.play(turn.column).expect("legal");
            assert_eq!(after.quiet() as i16, turn.after[2 * columns + 2]);
        }
    });
}

/// Counts move sequences of four plies; an item is a sequence.
#[divan::bench(args = COLUMNS)]
fn perft_4(bencher: Bencher<'_, '_>, columns: usize) {
    let start = Position::start(&ruleset(columns));
    let below = |position: &Position| {
        let moves = position.legal_moves().iter();
        moves
            .map(|column| perft(&position.play(column).expect("legal"), 3))
            .sum::<u64>()
    };
    let expected = below(&start);
    bencher
        .counter(ItemsCount::new(expected))
        .bench(|| assert_eq!(perft(&start, 4), expected));
}

/// Returns the value of plain minimax from the view of South.
fn minimax(position: &Position, depth: u32) -> i32 {
    let side = position.to_move();
    if depth == 0 || position.is_over() {
        return position.board().lead(Side::South);
    }
    let moves = position.legal_moves().iter();
    let values = moves.map(|column| minimax(&position.play(column).expect("legal"), depth - 1));
    let best = if side == Side::South {
        values.max()
    } else {
        values.min()
    };
    best.expect("a legal move")
}

/// Searches the start to depth five with alpha-beta; an item is a node.
#[divan::bench(args = [6, 8, 10])]
fn alpha_beta_5(bencher: Bencher<'_, '_>, columns: usize) {
    let start = Position::start(&ruleset(columns));
    let value = minimax(&start, 5);
    let SearchResult { nodes, .. } = alpha_beta(&start, 5).expect("an open game");
    bencher.counter(ItemsCount::new(nodes)).bench(|| {
        let found = alpha_beta(&start, 5).expect("an open game");
        assert_eq!(found.value, value);
    });
}

/// Plays random games one after another to the end, as searches do; an item is a game.
#[divan::bench(args = COLUMNS)]
fn playouts(bencher: Bencher<'_, '_>, columns: usize) {
    let games = 20_000 / columns as u64;
    let playouts = Playouts::new(&ruleset(columns), u32::MAX);
    let start = Position::start(&ruleset(columns));
    let winners = random_games(columns, games, "scalar").winner;
    let expected: i32 = winners.iter().map(|&winner| i32::from(winner)).sum();
    bencher.counter(ItemsCount::new(games)).bench(|| {
        let play = |game| {
            let mut stream = rng::stream(rng::mix(0, game), 0, Purpose::Play);
            i32::from(playouts.outcome(&start, &mut stream))
        };
        assert_eq!((0..games).map(play).sum::<i32>(), expected);
    });
}

/// Searches the start by Monte Carlo; an item is a simulation.
#[divan::bench(args = COLUMNS)]
fn mcts_10000(bencher: Bencher<'_, '_>, columns: usize) {
    let start = Position::start(&ruleset(columns));
    bencher.counter(ItemsCount::new(10_000_u64)).bench(|| {
        let mut tree = MctsTree::new(&start, MctsConfig::default()).expect("an open game");
        let mut stream = rng::stream(1, 0, Purpose::Policy);
        tree.grow(10_000, &mut stream).expect("in range");
        let found = tree.result().expect("an open game");
        assert_eq!(found.visits, 10_000);
    });
}

/// Searches the start to a depth without a table and with one of 1 MiB; an item is a node.
#[divan::bench(args = [(6, 8), (6, 10), (8, 8), (10, 6), (50, 3)], consts = [0, 1 << 20])]
fn alpha_beta_table<const BYTES: u64>(bencher: Bencher<'_, '_>, (columns, depth): (usize, u32)) {
    let start = Position::start(&ruleset(columns));
    let SearchResult { column, value, .. } = alpha_beta(&start, depth).expect("an open game");
    let config = AlphaBetaConfig {
        table_bytes: Some(BYTES),
        ..AlphaBetaConfig::of_depth(depth)
    };
    let mut search = AlphaBetaSearch::with(config).expect("valid settings");
    let nodes = search.search(&start).expect("an open game").nodes;
    bencher.counter(ItemsCount::new(nodes)).bench_local(|| {
        let found = search.search(&start).expect("an open game");
        assert_eq!((found.column, found.value), (column, value));
    });
}

fn random_games(columns: usize, games: u64, set: &str) -> GameTable {
    let config = SimulateConfig {
        num_threads: Some(1),
        instructions: Instructions::named(set),
        ..SimulateConfig::new(ruleset(columns), games)
    };
    let mut quietly = |_| ControlFlow::Continue(());
    let random = PolicySpec::Random;
    simulate(&config, &random, &random, &mut quietly).expect("valid settings")
}

/// Plays random games on one thread, moves drawn among the non-empty pits; an item is a ply.
#[divan::bench(consts = COLUMNS, args = sets())]
fn random_play<const C: usize>(bencher: Bencher<'_, '_>, set: &str) {
    let games = 400_000 / (C * C) as u64;
    let expected = random_games(C, games, "scalar");
    let plies: u64 = expected.plies.iter().map(|&plies| plies as u64).sum();
    bencher.counter(ItemsCount::new(plies)).bench(|| {
        assert!(
            random_games(C, games, set) == expected,
            "{set} plays other games"
        );
    });
}

/// Makes a batch whose rows are the positions of `turns`.
fn batch_of(turns: &[Turn], columns: usize, set: &str) -> (Batch, StepArrays) {
    let config = BatchConfig {
        num_threads: Some(1),
        instructions: Instructions::named(set),
        ..BatchConfig::new(ROWS, ruleset(columns))
    };
    let mut batch = Batch::new(config).expect("valid settings");
    batch
        .reset(Some(&Seeds::Integer(1)), None)
        .expect("a reset");
    for (row, turn) in turns.iter().enumerate() {
        batch.set_position(row, &turn.before).expect("equal rules");
    }
    let arrays = StepArrays::new(&batch);
    (batch, arrays)
}

/// Steps a batch of 1024 rows once, on one thread, with exact masks; an item is a ply.
#[divan::bench(consts = COLUMNS, args = sets(), sample_count = 32)]
fn step<const C: usize>(bencher: Bencher<'_, '_>, set: &str) {
    let turns = turns(C);
    let mut batches = turns.chunks_exact(ROWS).cycle();
    bencher
        .counter(ItemsCount::new(ROWS))
        .with_inputs(|| {
            let turns = batches.next().expect("a batch");
            let actions: Vec<i64> = turns.iter().map(|turn| turn.column as i64).collect();
            (batch_of(turns, C, set), turns, actions)
        })
        .bench_local_values(|((mut batch, mut arrays), turns, actions)| {
            batch
                .step(&actions, arrays.buffers())
                .expect("legal columns");
            let views = arrays.observations.chunks_exact(2 * C + 3);
            let as_played = views.zip(turns).all(|(view, turn)| view == turn.after);
            assert!(as_played, "{set} steps to other positions");
            (batch, arrays)
        });
}

/// Returns the seeds that lie before the side to move after each legal move of a position.
fn seeds_of_children(position: &Position) -> Vec<i16> {
    let moves = position.legal_moves().iter();
    let children = moves.map(|column| position.play(column).expect("legal"));
    children
        .map(|child| {
            let own = child.board().row(child.to_move()).iter();
            own.sum::<u16>() as i16
        })
        .collect()
}

/// Plays every legal move of 1024 rows of a batch, on one thread; an item is a child.
#[divan::bench(consts = COLUMNS, args = sets(), sample_count = 32)]
fn children<const C: usize>(bencher: Bencher<'_, '_>, set: &str) {
    let turns = &turns(C)[..ROWS];
    let (batch, _) = batch_of(turns, C, set);
    let expected = turns.iter().map(|turn| seeds_of_children(&turn.before));
    let expected: Vec<i16> = expected.flatten().collect();
    let mut masks = vec![0; ROWS * C];
    batch.masks(&mut masks).expect("right length");
    let mut arrays = ChildArrays::new(&batch);
    bencher
        .counter(ItemsCount::new(expected.len()))
        .bench_local(|| {
            batch.children(arrays.buffers()).expect("right lengths");
            let views = arrays.observations.chunks_exact(2 * C + 3);
            let legal = views.zip(&masks).filter(|(_, mask)| **mask == 1);
            let seeds = legal.map(|(view, _)| view[..C].iter().sum::<i16>());
            assert!(
                seeds.eq(expected.iter().copied()),
                "{set} finds other children"
            );
        });
}

/// Plays every legal move of 1024 positions one after another; an item is a child.
#[divan::bench(args = COLUMNS, sample_count = 32)]
fn children_of_positions(bencher: Bencher<'_, '_>, columns: usize) {
    let turns = &turns(columns)[..ROWS];
    let count = |turn: &Turn| turn.before.legal_moves().len();
    let children: usize = turns.iter().map(count).sum();
    bencher.counter(ItemsCount::new(children)).bench(|| {
        let found = turns
            .iter()
            .map(|turn| seeds_of_children(&turn.before).len());
        assert_eq!(found.sum::<usize>(), children);
    });
}

/// Boards of random games as the value network reads them.
fn boards(columns: usize) -> Vec<Vec<u16>> {
    let (positions, _) = random_game(columns, 3);
    let open = positions.iter().filter(|position| !position.is_over());
    let pits = |position: &Position| {
        let observation = position.observation();
        let pits = observation[..2 * columns].iter();
        pits.map(|&seeds| seeds as u16).collect()
    };
    open.map(pits).collect()
}

/// The widths that the trainer gives a value network.
fn value_sizes(columns: usize) -> ValueSizes {
    let large = columns > 16;
    ValueSizes {
        columns,
        levels: if large { 16 } else { 25 },
        units: if large { 64 } else { 256 },
        hidden: 32,
    }
}

/// Value network alone: evaluations with the widths of the trainer's defaults.
#[divan::bench(consts = COLUMNS, args = Instructions::ALL.map(Instructions::name))]
fn value_network<const C: usize>(bencher: Bencher<'_, '_>, set: &str) {
    let weights = Weights::random(value_sizes(C), 1).expect("valid widths");
    let set = Instructions::named(set).expect("a set of instructions");
    let network = ValueNetwork::new(weights).expect("small weights");
    let network = network.with_instructions(set);
    let boards = boards(C);
    let expected: f32 = boards.iter().map(|pits| network.plain(pits)).sum();
    let mut scratch = Vec::new();
    bencher
        .counter(ItemsCount::new(boards.len()))
        .bench_local(|| {
            let values = boards
                .iter()
                .map(|pits| network.margin(pits, None, &mut scratch));
            let sum: f32 = values.sum();
            assert!(
                (sum - expected).abs() < 0.05 * boards.len() as f32,
                "{sum} {expected}"
            );
            sum
        });
}

/// Value network after a position near by: the moves of a position, as a search meets them.
#[divan::bench(args = COLUMNS)]
fn value_network_of_children(bencher: Bencher<'_, '_>, columns: usize) {
    let weights = Weights::random(value_sizes(columns), 1).expect("valid widths");
    let network = ValueNetwork::new(weights).expect("small weights");
    let mut leaf = ValueLeaf::new(Arc::new(network));
    let row = |position: &Position| -> Vec<u16> {
        let pits = &position.observation()[..2 * columns];
        pits.iter().map(|&seeds| seeds as u16).collect()
    };
    let (positions, _) = random_game(columns, 3);
    let families: Vec<(Vec<u16>, Vec<Vec<u16>>)> = positions
        .iter()
        .map(|position| {
            let moves = position.legal_moves().iter();
            let children = moves.map(|column| row(&position.play(column).expect("legal")));
            (row(position), children.collect())
        })
        .collect();
    let count: usize = families.iter().map(|(_, children)| children.len()).sum();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let mut sum = 0;
        for (parent, children) in &families {
            leaf.approach(parent);
            sum += children.iter().map(|pits| leaf.margin(pits)).sum::<i32>();
        }
        sum
    });
}

/// Open positions of a random game.
fn open_positions(columns: usize) -> Vec<Position> {
    let (mut positions, _) = random_game(columns, 3);
    positions.retain(|position| !position.is_over());
    positions
}

/// What the Gumbel network sees of positions of a random game; an item is a position.
#[divan::bench(consts = COLUMNS, args = sets())]
fn features<const C: usize>(bencher: Bencher<'_, '_>, set: &str) {
    let set = Instructions::named(set).expect("a set of instructions");
    let mut writer = FeatureWriter::with_instructions(set);
    let positions = open_positions(C);
    let expected: Vec<Vec<f32>> = positions
        .iter()
        .map(|position| {
            let mut out = vec![0.0; 2 * C * FEATURES];
            write_features(position, &mut out);
            out
        })
        .collect();
    let mut out = vec![0.0; 2 * C * FEATURES];
    bencher
        .counter(ItemsCount::new(positions.len()))
        .bench_local(|| {
            for (position, expected) in positions.iter().zip(&expected) {
                writer.write(position, &mut out);
                assert!(out == *expected);
            }
        });
}

/// Gumbel network: evaluations of positions of a random game, with the widths of the trainer's
/// defaults.
#[divan::bench(args = COLUMNS)]
fn gumbel_network(bencher: Bencher<'_, '_>, columns: usize) {
    let large = columns > 16;
    let sizes = NetworkSizes {
        channels: if large { 24 } else { 32 },
        blocks: if large { 2 } else { 3 },
        policy_units: if large { 24 } else { 32 },
        value_units: if large { 48 } else { 64 },
    };
    let weights = Weights::random(sizes, 1).expect("valid widths");
    let network = Network::new(weights).expect("weights of this kind");
    let mut evaluator = NetworkEvaluator::new(Arc::new(network));
    let positions = open_positions(columns);
    let mut out = Evaluations::default();
    bencher
        .counter(ItemsCount::new(positions.len()))
        .bench_local(|| {
            evaluator
                .evaluate(&positions, &mut out)
                .expect("positions of one size");
            assert!(out.margin.iter().all(|margin| margin.is_finite()));
        });
}
