//! Gumbel tree search (Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning
//! with Gumbel", 2022), many roots in lockstep.
//!
//! Four steps, each once for every simulation and all roots together: *choose* the root move that
//! sequential halving asks for, *descend* to a new position, *evaluate* all new positions in one
//! call, *back up*. Ended positions are backed up exactly and cost no evaluation.

use rand_xoshiro::Xoshiro128PlusPlus;

use super::evaluator::{Evaluations, Evaluator, EvaluatorError};
use super::tree::{
    Edge, Scale, Tree, Worth, completed_worth, first_largest, improved_logits, improved_policy,
};
use crate::position::Position;
use crate::rng;

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelConfig {
    /// New positions looked at for each root, 1 or more; 0 gives the evaluator's first choice.
    pub simulations: u32,
    /// Root moves that sequential halving starts from, at most; small boards have fewer.
    pub max_considered: usize,
    /// Visits added to the most visited move's before utilities are weighed against logits.
    pub c_visit: f32,
    /// Logits for each of these visits and one unit of utility.
    pub c_scale: f32,
    /// Scale of the Gumbel noise at the root: 1 to explore, 0 to play the best move found.
    pub gumbel_scale: f32,
    /// Share of the final margin, in quarters of all seeds, in the utility (0 to 1); the rest is
    /// winning less losing.
    pub margin_weight: f32,
}

impl Default for GumbelConfig {
    fn default() -> GumbelConfig {
        GumbelConfig {
            simulations: 32,
            max_considered: 16,
            c_visit: 50.0,
            c_scale: 1.0,
            gumbel_scale: 0.0,
            margin_weight: 0.5,
        }
    }
}

/// What the search says of one root, from the view of its side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct RootResult {
    /// The column to play.
    pub column: u8,
    /// The improved policy, `f32[C]`: a softmax over the legal columns, zero elsewhere.
    pub policy: Vec<f32>,
    /// Searched probability to win.
    pub win: f32,
    /// Searched probability to lose.
    pub loss: f32,
    /// Searched future margin in seeds.
    pub margin: f32,
    /// Simulations made for this root.
    pub visits: u32,
}

/// Searches many roots in lockstep; trees are reused from call to call and hold nothing between.
#[derive(Clone, Debug, Default)]
pub struct GumbelSearch {
    config: GumbelConfig,
    trees: Vec<Tree>,
    evaluations: Evaluations,
    leaves: Vec<Position>,
    /// The tree of each leaf.
    owners: Vec<usize>,
    scratch: Vec<f32>,
}

impl GumbelSearch {
    /// Makes a search with the settings given.
    pub fn new(config: GumbelConfig) -> GumbelSearch {
        GumbelSearch {
            config,
            ..GumbelSearch::default()
        }
    }

    /// Returns the settings.
    pub fn config(&self) -> &GumbelConfig {
        &self.config
    }

    /// Changes the simulations of the searches that follow.
    pub const fn set_simulations(&mut self, simulations: u32) {
        self.config.simulations = simulations;
    }

    /// Searches `roots`, open positions of one ruleset, `streams[i]` giving the noise of root `i`.
    ///
    /// With `gumbel_scale` 0 no stream is drawn from. A root with one legal move is not searched:
    /// its evaluation stands.
    ///
    /// # Errors
    /// [`EvaluatorError`] of the evaluator.
    pub fn run(
        &mut self,
        roots: &[Position],
        evaluator: &mut dyn Evaluator,
        streams: &mut [Xoshiro128PlusPlus],
    ) -> Result<Vec<RootResult>, EvaluatorError> {
        self.plant(roots, evaluator)?;
        let noise: Vec<Vec<f32>> = roots
            .iter()
            .zip(streams)
            .map(|(root, stream)| self.draw_noise(root.legal_moves().len(), stream))
            .collect();
        let plans: Vec<Vec<u32>> = roots.iter().map(|root| self.plan(root)).collect();
        for simulation in 0..self.config.simulations as usize {
            self.simulate(roots, &noise, &plans, simulation, evaluator)?;
        }
        Ok((0..roots.len())
            .map(|row| self.result(row, &roots[row], &noise[row]))
            .collect())
    }

    fn scale(&self, root: &Position) -> Scale {
        Scale {
            margin_weight: self.config.margin_weight,
            margin_unit: (root.board().total() as f32 / 4.0).max(1.0),
            c_visit: self.config.c_visit,
            c_scale: self.config.c_scale,
        }
    }

    /// Evaluates all roots in one call and starts their trees.
    fn plant(
        &mut self,
        roots: &[Position],
        evaluator: &mut dyn Evaluator,
    ) -> Result<(), EvaluatorError> {
        if self.trees.len() < roots.len() {
            self.trees.resize_with(roots.len(), Tree::default);
        }
        if roots.is_empty() {
            return Ok(());
        }
        evaluator.evaluate(roots, &mut self.evaluations)?;
        for (row, (tree, root)) in self.trees.iter_mut().zip(roots).enumerate() {
            tree.start(root, &self.evaluations, row);
        }
        Ok(())
    }

    fn draw_noise(&self, moves: usize, stream: &mut Xoshiro128PlusPlus) -> Vec<f32> {
        if self.config.gumbel_scale == 0.0 {
            return vec![0.0; moves];
        }
        let gumbel = |stream: &mut Xoshiro128PlusPlus| {
            let uniform = rng::unit(stream) + 0.5 / 16_777_216.0;
            -(-uniform.ln()).ln()
        };
        (0..moves)
            .map(|_| self.config.gumbel_scale * gumbel(stream))
            .collect()
    }

    /// Lists, for each simulation, the visits that the root move to be chosen must have.
    fn plan(&self, root: &Position) -> Vec<u32> {
        let moves = root.legal_moves().len();
        if moves < 2 {
            return Vec::new();
        }
        halving_plan(
            moves.min(self.config.max_considered.max(1)),
            self.config.simulations as usize,
        )
    }

    /// Makes one simulation in every tree that has one left.
    fn simulate(
        &mut self,
        roots: &[Position],
        noise: &[Vec<f32>],
        plans: &[Vec<u32>],
        simulation: usize,
        evaluator: &mut dyn Evaluator,
    ) -> Result<(), EvaluatorError> {
        self.leaves.clear();
        self.owners.clear();
        for (row, root) in roots.iter().enumerate() {
            let Some(&visits) = plans[row].get(simulation) else {
                continue;
            };
            let scale = self.scale(root);
            let tree = &mut self.trees[row];
            let rank = choose(tree, &scale, &noise[row], visits, &mut self.scratch);
            if let Some(leaf) = tree.descend(rank, &scale) {
                self.leaves.push(*leaf);
                self.owners.push(row);
            }
        }
        if self.leaves.is_empty() {
            return Ok(());
        }
        evaluator.evaluate(&self.leaves, &mut self.evaluations)?;
        for (leaf, &row) in self.owners.iter().enumerate() {
            self.trees[row].finish(&self.evaluations, leaf);
        }
        Ok(())
    }

    fn result(&mut self, row: usize, root: &Position, noise: &[f32]) -> RootResult {
        let scale = self.scale(root);
        let tree = &self.trees[row];
        let (edges, raw) = (tree.root_edges(), tree.root_raw());
        let most = edges.iter().map(|edge| edge.visits).max().unwrap_or(0);
        let rank = choose(tree, &scale, noise, most, &mut self.scratch);
        improved_policy(edges, raw, &scale, &mut self.scratch);
        let mut policy = vec![0.0; root.ruleset().columns()];
        let mut worth = Worth::default();
        let completed = completed_worth(edges, raw);
        for ((edge, &share), move_worth) in edges.iter().zip(&self.scratch).zip(completed) {
            policy[usize::from(edge.column)] = share;
            worth.add(move_worth, share);
        }
        if most == 0 {
            worth = raw;
        }
        RootResult {
            column: edges.get(rank).map_or(0, |edge| edge.column),
            policy,
            win: worth.win,
            loss: worth.loss,
            margin: worth.margin - root.board().lead(root.to_move()) as f32,
            visits: edges.iter().map(|edge| edge.visits).sum(),
        }
    }
}

/// Chooses, among the root moves with `visits` visits, the one with the largest noisy improved
/// logit.
fn choose(tree: &Tree, scale: &Scale, noise: &[f32], visits: u32, scratch: &mut Vec<f32>) -> usize {
    let edges: &[Edge] = tree.root_edges();
    improved_logits(edges, tree.root_raw(), scale, scratch);
    first_largest(
        (0..edges.len())
            .filter(|&rank| edges[rank].visits == visits)
            .map(|rank| (rank, scratch[rank] + noise[rank])),
    )
}

/// Spreads `simulations` over `considered` moves by sequential halving (Karnin, Koren and Somekh
/// 2013): in each phase every move left gets the same number of visits, then the better half goes
/// on.
///
/// The plan names, for each simulation, the visits of the move to take next; among the moves with
/// that many visits the best one is taken, which drops the worse half without naming it.
fn halving_plan(considered: usize, simulations: usize) -> Vec<u32> {
    let phases = considered.next_power_of_two().trailing_zeros().max(1) as usize;
    let mut plan = Vec::with_capacity(simulations);
    let mut left = considered;
    let mut visits = 0;
    while plan.len() < simulations {
        let rounds = (simulations / (phases * left)).max(1);
        for _ in 0..rounds {
            plan.extend(std::iter::repeat_n(visits, left));
            visits += 1;
        }
        left = if considered == 1 {
            1
        } else {
            (left / 2).max(2)
        };
    }
    plan.truncate(simulations);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::NotationError;
    use crate::ruleset::{Ruleset, RulesetFields, Variant};

    /// Knows nothing: even chances, no preference.
    struct Blank;

    impl Evaluator for Blank {
        fn evaluate(
            &mut self,
            positions: &[Position],
            out: &mut Evaluations,
        ) -> Result<(), EvaluatorError> {
            out.clear(positions.len(), positions[0].ruleset().columns());
            Ok(())
        }
    }

    fn ruleset(columns: i64) -> Ruleset {
        let fields = RulesetFields {
            columns: Some(columns),
            ..RulesetFields::default()
        };
        Ruleset::new(Variant::EnDodoi, &fields).unwrap()
    }

    fn search(text: &str, simulations: u32) -> Result<RootResult, NotationError> {
        let position = Position::from_text(text, &ruleset(3))?;
        let config = GumbelConfig {
            simulations,
            ..GumbelConfig::default()
        };
        let mut streams = [rng::stream(1, 0, rng::Purpose::Policy)];
        let found = GumbelSearch::new(config).run(&[position], &mut Blank, &mut streams);
        Ok(found.unwrap().remove(0))
    }

    #[test]
    fn halving_plan_gives_every_move_its_share() {
        assert_eq!(
            halving_plan(4, 16),
            [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
        );
        assert_eq!(halving_plan(1, 3), [0, 1, 2]);
        assert_eq!(halving_plan(6, 3), [0, 0, 0]);
        for considered in 1..=50 {
            for simulations in 1..=64 {
                assert_eq!(halving_plan(considered, simulations).len(), simulations);
            }
        }
    }

    #[test]
    fn a_win_in_one_is_found_and_valued_by_both_sides() {
        // The mover's last pit captures and leaves the other side without a seed.
        for text in ["1,0,1/0,1,0 S 5-5 0", "0,1,0/1,0,1 N 5-5 0"] {
            let result = search(text, 64).unwrap();
            assert_eq!(result.column, 0, "{text}: {result:?}");
            assert!(result.win > 0.9, "{text}: {result:?}");
            assert!(result.margin > 0.0, "{text}: {result:?}");
        }
    }

    #[test]
    fn decided_games_are_played_for_seeds() {
        // By margin alone a search is the same whatever was captured before.
        let searched = |captured: &str| {
            let position = Position::from_text(&format!("1,2,3/2,0,3 S {captured} 0"), &ruleset(3));
            let config = GumbelConfig {
                simulations: 64,
                margin_weight: 1.0,
                ..GumbelConfig::default()
            };
            let mut streams = [rng::stream(1, 0, rng::Purpose::Policy)];
            let found =
                GumbelSearch::new(config).run(&[position.unwrap()], &mut Blank, &mut streams);
            found.unwrap().remove(0)
        };
        let even = searched("7-6");
        for captured in ["13-0", "0-13"] {
            let decided = searched(captured);
            assert_eq!(decided.column, even.column, "{captured}");
            for (one, other) in decided.policy.iter().zip(&even.policy) {
                assert!(
                    (one - other).abs() < 1e-3,
                    "{captured}: {decided:?}, {even:?}"
                );
            }
            assert!(
                (decided.margin - even.margin).abs() < 0.1,
                "{captured}: {decided:?}, {even:?}"
            );
        }
    }

    #[test]
    fn the_policy_covers_legal_columns_only() {
        let result = search("4,0,4/4,4,4 S 0-0 0", 16).unwrap();
        assert!(result.policy[1].abs() < f32::MIN_POSITIVE);
        assert!((result.policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert_eq!(result.visits, 16);
    }

    #[test]
    fn many_roots_give_what_each_gives_alone() {
        let start = Position::start(&ruleset(6));
        let roots: Vec<Position> = start
            .legal_moves()
            .iter()
            .map(|column| start.play(column).unwrap())
            .collect();
        let config = GumbelConfig {
            gumbel_scale: 1.0,
            ..GumbelConfig::default()
        };
        let streams = || -> Vec<Xoshiro128PlusPlus> {
            (0..roots.len() as u64)
                .map(|row| rng::stream(row, 0, rng::Purpose::SelfPlay))
                .collect()
        };
        let together = GumbelSearch::new(config)
            .run(&roots, &mut Blank, &mut streams())
            .unwrap();
        for (row, root) in roots.iter().enumerate() {
            let mut stream = [streams().swap_remove(row)];
            let alone = GumbelSearch::new(config)
                .run(&[*root], &mut Blank, &mut stream)
                .unwrap();
            assert_eq!(alone[0], together[row]);
        }
    }
}
