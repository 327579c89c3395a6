//! Many trees that grow together, their positions evaluated in one call.

use super::config::{MctsConfig, MctsError};
use super::game::MctsTree;
use super::result::MctsResult;
use crate::position::Position;
use crate::search::{Evaluations, Evaluator, EvaluatorError};

/// Searches many roots in lockstep over an [`Evaluator`]; what it finds of each depends on that
/// root alone.
///
/// The trees of one call never reach the next one: only their memory does.
#[derive(Clone, Debug)]
pub struct MctsSearch {
    config: MctsConfig,
    trees: Vec<MctsTree>,
    lockstep: Lockstep,
}

impl MctsSearch {
    /// Makes a search with the settings given.
    ///
    /// # Errors
    /// [`MctsError`] when a setting is out of range.
    pub fn new(config: MctsConfig) -> Result<MctsSearch, MctsError> {
        config.check()?;
        Ok(MctsSearch {
            config,
            trees: Vec::new(),
            lockstep: Lockstep::default(),
        })
    }

    /// Returns the settings.
    pub const fn config(&self) -> &MctsConfig {
        &self.config
    }

    /// Searches `roots`, open positions of one ruleset.
    ///
    /// # Errors
    /// [`MctsError`] when a game is over or the evaluator fails.
    pub fn run(
        &mut self,
        roots: &[Position],
        evaluator: &mut dyn Evaluator,
    ) -> Result<Vec<MctsResult>, MctsError> {
        for (row, root) in roots.iter().enumerate() {
            match self.trees.get_mut(row) {
                Some(tree) => tree.restart(root)?,
                None => self.trees.push(MctsTree::new(root, self.config)?),
            }
        }
        let trees = &mut self.trees[..roots.len()];
        self.lockstep
            .grow(trees, self.config.simulations, evaluator)?;
        trees.iter().map(MctsTree::result).collect()
    }
}

/// The buffers of trees that grow together.
#[derive(Clone, Debug, Default)]
pub(super) struct Lockstep {
    evaluations: Evaluations,
    leaves: Vec<Position>,
    /// The tree of each leaf.
    owners: Vec<usize>,
}

impl Lockstep {
    /// Makes `simulations` simulations in every tree, fewer where its outcome is proven before.
    ///
    /// A root that was never evaluated is so first, which is no simulation.
    pub(super) fn grow(
        &mut self,
        trees: &mut [MctsTree],
        simulations: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<(), EvaluatorError> {
        self.collect(trees, |tree| {
            (!tree.tree.is_open()).then(|| *tree.position())
        });
        self.evaluate(trees, evaluator, |tree, _, value, logits| {
            tree.tree.open_root(value, logits);
        })?;
        for _ in 0..simulations {
            self.collect(trees, MctsTree::descend);
            self.evaluate(trees, evaluator, |tree, leaf, value, logits| {
                tree.tree.add(leaf, value, Some(logits));
            })?;
        }
        Ok(())
    }

    /// Collects the positions of the unproven trees that are to be evaluated.
    fn collect(
        &mut self,
        trees: &mut [MctsTree],
        position: impl Fn(&mut MctsTree) -> Option<Position>,
    ) {
        self.leaves.clear();
        self.owners.clear();
        for (row, tree) in trees.iter_mut().enumerate() {
            if tree.is_proven() {
                continue;
            }
            if let Some(leaf) = position(tree) {
                self.leaves.push(leaf);
                self.owners.push(row);
            }
        }
    }

    /// Evaluates the positions in one call and hands each tree its own, with its value and logits.
    fn evaluate(
        &mut self,
        trees: &mut [MctsTree],
        evaluator: &mut dyn Evaluator,
        take: impl Fn(&mut MctsTree, &Position, f64, &[f32]),
    ) -> Result<(), EvaluatorError> {
        if self.leaves.is_empty() {
            return Ok(());
        }
        evaluator.evaluate(&self.leaves, &mut self.evaluations)?;
        let Evaluations {
            logits, win, loss, ..
        } = &self.evaluations;
        for (index, (leaf, &row)) in self.leaves.iter().zip(&self.owners).enumerate() {
            let columns = leaf.ruleset().columns();
            let logits = &logits[index * columns..(index + 1) * columns];
            let value = f64::from(win[index]) - f64::from(loss[index]);
            take(&mut trees[row], leaf, value, logits);
        }
        Ok(())
    }
}
