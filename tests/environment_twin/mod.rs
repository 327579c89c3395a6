//! A slow twin of an environment: one game a row, played by `Position::play`.

// A helper of a test fails as loudly as a test.
#![allow(clippy::expect_used, clippy::panic)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use endodoi::batch::{EndCode, StepArrays};
use endodoi::environment::{AgentSide, AutoresetMode, EnvironmentConfig, Function, Opponent};
use endodoi::policy::{Greedy, Policy, PolicyError};
use endodoi::position::EndReason;
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::{Outcome, Position, Side};

/// Who plays the other side, as the twin knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Who {
    Random,
    Greedy,
    /// From outside: the highest legal column.
    Highest,
    /// From outside: the lowest legal column, but column 0 where the row's first pit is empty.
    Careless,
}

impl Who {
    pub(crate) fn build(self, calls: &Arc<Calls>) -> Opponent {
        match self {
            Who::Random => Opponent::Random,
            Who::Greedy => Opponent::of_policy(Box::new(Greedy::default())),
            Who::Highest | Who::Careless => Opponent::Function(Box::new(Outside {
                who: self,
                calls: calls.clone(),
            })),
        }
    }

    pub(crate) fn choose(self, position: &Position, stream: &mut Xoshiro128PlusPlus) -> i64 {
        let legal: Vec<usize> = position.legal_moves().iter().collect();
        match self {
            Who::Random => legal[rng::below(stream, legal.len() as u32) as usize] as i64,
            Who::Greedy => i64::from(greedy(position)),
            Who::Highest => legal[legal.len() - 1] as i64,
            Who::Careless if position.observation()[0] == 0 => 0,
            Who::Careless => legal[0] as i64,
        }
    }
}

/// What the player of the core chooses, asked about one position alone.
pub(crate) fn greedy(position: &Position) -> u8 {
    let mut moves = [0];
    let mut streams = [rng::stream(0, 0, Purpose::Play)];
    let chosen = Greedy::default().choose(&[*position], &mut streams, &mut moves);
    chosen.expect("an open game");
    moves[0]
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Since the count was last taken.
    pub(crate) count: AtomicUsize,
    pub(crate) seen: Mutex<Vec<usize>>,
}

pub(crate) struct Outside {
    pub(crate) who: Who,
    pub(crate) calls: Arc<Calls>,
}

impl Function for Outside {
    fn name(&self) -> String {
        format!("{:?}", self.who)
    }

    fn choose(
        &mut self,
        views: &[i16],
        masks: &[i8],
        rows: usize,
    ) -> Result<Vec<i64>, PolicyError> {
        self.calls.count.fetch_add(1, Ordering::Relaxed);
        self.calls.seen.lock().expect("no panic").push(rows);
        assert!(rows > 0);
        let columns = masks.len() / rows;
        assert_eq!(views.len(), rows * (2 * columns + 3));
        let choose = |(view, mask): (&[i16], &[i8])| {
            let legal = |column: &usize| mask[*column] == 1;
            let column = match self.who {
                Who::Careless if view[0] == 0 => 0,
                Who::Highest => (0..columns).rev().find(legal).expect("an open game"),
                _ => (0..columns).find(legal).expect("an open game"),
            };
            column as i64
        };
        let rows = views.chunks(2 * columns + 3).zip(masks.chunks(columns));
        Ok(rows.map(choose).collect())
    }
}

/// One row of the twin.
#[derive(Clone)]
pub(crate) struct Game {
    pub(crate) row_seed: u64,
    pub(crate) episode: u64,
    pub(crate) position: Position,
    pub(crate) plies: u32,
    pub(crate) agent: Side,
    pub(crate) stream: Xoshiro128PlusPlus,
    pub(crate) playing: usize,
    pub(crate) end: Option<(EndCode, i8)>,
    pub(crate) unreported: bool,
}

/// What a row shows after a step.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) reward: f32,
    pub(crate) ended: Option<EndCode>,
    pub(crate) outcome: i8,
    pub(crate) observation: Vec<i16>,
    pub(crate) mask: Vec<i8>,
    pub(crate) to_play: i8,
    pub(crate) plies: i32,
    pub(crate) captured: [i16; 2],
}

pub(crate) struct Twin {
    pub(crate) config: EnvironmentConfig,
    pub(crate) who: Vec<Who>,
    pub(crate) games: Vec<Game>,
}

impl Twin {
    pub(crate) fn new(config: EnvironmentConfig, who: &[Who], seeds: &[u64]) -> Twin {
        let mut twin = Twin {
            config,
            who: who.to_vec(),
            games: Vec::new(),
        };
        twin.games = seeds.iter().map(|&seed| twin.start(seed, 0)).collect();
        twin
    }

    pub(crate) fn start(&self, row_seed: u64, episode: u64) -> Game {
        let (position, plies) = self.opening(row_seed, episode);
        let agent = match self.config.agent_side {
            AgentSide::Alternate if row_seed.wrapping_add(episode).is_multiple_of(2) => Side::South,
            AgentSide::South => Side::South,
            AgentSide::North | AgentSide::Alternate => Side::North,
        };
        let mut stream = rng::stream(row_seed, episode, Purpose::Opponent);
        let playing = match self.who.len() {
            0 => 0,
            count => rng::below(&mut stream, count as u32) as usize,
        };
        let mut game = Game {
            row_seed,
            episode,
            position,
            plies,
            agent,
            stream,
            playing,
            end: None,
            unreported: false,
        };
        self.settle(&mut game);
        self.answer(&mut game);
        game.unreported = game.end.is_some();
        game
    }

    fn opening(&self, row_seed: u64, episode: u64) -> (Position, u32) {
        let plies = self.config.batch.random_opening_plies;
        let mut stream = rng::stream(row_seed, episode, Purpose::Opening);
        loop {
            let mut position = Position::start(&self.config.batch.ruleset);
            for _ in 0..plies {
                if position.is_over() {
                    break;
                }
                let legal: Vec<usize> = position.legal_moves().iter().collect();
                let rank = rng::below(&mut stream, legal.len() as u32) as usize;
                position = position.play(legal[rank]).expect("a legal move");
            }
            if plies == 0 || !position.is_over() {
                return (position, plies);
            }
        }
    }

    fn settle(&self, game: &mut Game) {
        let code = match game.position.end_reason() {
            Some(EndReason::Stuck) => EndCode::Stuck,
            Some(EndReason::Quiet) => EndCode::Quiet,
            Some(EndReason::Endless) => EndCode::Endless,
            None if self
                .config
                .batch
                .max_plies
                .is_some_and(|cap| game.plies >= cap) =>
            {
                game.end = Some((EndCode::MaxPlies, 0));
                return;
            }
            None => return,
        };
        let outcome = match game.position.outcome().expect("over") {
            Outcome::Win(side) => side.sign(),
            Outcome::Draw => 0,
        };
        game.end = Some((code, outcome));
    }

    fn ply(&self, game: &mut Game, action: i64) {
        let legal = game.position.legal_moves();
        match usize::try_from(action)
            .ok()
            .filter(|&c| c < 64 && legal.contains(c))
        {
            Some(column) => {
                game.position = game.position.play(column).expect("a legal move");
                game.plies += 1;
                self.settle(game);
            }
            None => {
                game.end = Some((EndCode::Illegal, -game.position.to_move().sign()));
            }
        }
    }

    fn answer(&self, game: &mut Game) {
        let theirs = !self.who.is_empty() && game.position.to_move() != game.agent;
        if game.end.is_none() && theirs {
            let who = self.who[game.playing];
            let action = who.choose(&game.position, &mut game.stream);
            self.ply(game, action);
        }
    }

    /// Steps a row; the last view of a game that was replaced comes second.
    pub(crate) fn step(&mut self, row: usize, action: i64) -> (Shown, Option<Shown>) {
        let mut game = self.games[row].clone();
        let mut reports = true;
        let mover = game.position.to_move();
        if game.unreported {
            game.unreported = false;
        } else if game.end.is_some() {
            assert_eq!(self.config.autoreset, AutoresetMode::NextStep);
            game = self.start(game.row_seed, game.episode + 1);
            reports = false;
        } else {
            self.ply(&mut game, action);
            self.answer(&mut game);
        }
        let side = if self.who.is_empty() {
            mover
        } else {
            game.agent
        };
        let mut shown = show(&game);
        if reports && let Some((code, outcome)) = game.end {
            shown.ended = Some(code);
            shown.outcome = outcome;
            shown.reward = f32::from(outcome * side.sign());
        }
        let mut last = None;
        if self.config.autoreset == AutoresetMode::SameStep && shown.ended.is_some() {
            game = self.start(game.row_seed, game.episode + 1);
            let next = show(&game);
            last = Some(std::mem::replace(&mut shown, next));
        }
        self.games[row] = game;
        (shown, last)
    }
}

pub(crate) fn show(game: &Game) -> Shown {
    let columns = game.position.board().columns();
    let legal = game.position.legal_moves();
    let open = game.end.is_none();
    Shown {
        reward: 0.0,
        ended: None,
        outcome: 0,
        observation: game.position.observation(),
        mask: (0..columns)
            .map(|c| i8::from(open && legal.contains(c)))
            .collect(),
        to_play: game.position.to_move().index() as i8,
        plies: game.plies as i32,
        captured: game.position.board().captured().map(|seeds| seeds as i16),
    }
}

pub(crate) fn shown_by(arrays: &StepArrays, row: usize) -> Shown {
    let columns = arrays.masks.len() / arrays.plies.len();
    let length = 2 * columns + 3;
    let code = arrays.end_reason[row];
    Shown {
        reward: arrays.rewards[row],
        ended: EndCode::of_code(code),
        outcome: arrays.outcome[row],
        observation: arrays.observations[row * length..(row + 1) * length].to_vec(),
        mask: arrays.masks[row * columns..(row + 1) * columns].to_vec(),
        to_play: arrays.to_play[row],
        plies: arrays.plies[row],
        captured: [arrays.captured[2 * row], arrays.captured[2 * row + 1]],
    }
}
