//! The search of one game, which keeps its tree from move to move.

use super::bounds::Bounds;
use super::config::{MctsConfig, MctsError, check_simulations};
use super::lockstep::Lockstep;
use super::playout::Playouts;
use super::result::MctsResult;
use super::tree::Tree;
use crate::position::Position;
use crate::rng::Xoshiro128PlusPlus;
use crate::search::Evaluator;

/// The search tree of one game, grown by random games or by an [`Evaluator`].
///
/// ```
/// use endodoi::rng::{self, Purpose};
/// use endodoi::search::{MctsConfig, MctsTree, Proven};
/// use endodoi::{Position, Ruleset, RulesetFields, Variant};
///
/// let fields = RulesetFields { columns: Some(3), ..RulesetFields::default() };
/// let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
/// let position = Position::from_text("1,0,1/0,1,1 S 10-10 0", &ruleset)?;
/// let mut tree = MctsTree::new(&position, MctsConfig::default())?;
/// tree.grow(200, &mut rng::stream(1, 0, Purpose::Policy))?;
/// let found = tree.result()?;
/// // Two seeds are captured by the move from column 0; the game is proven to its end.
/// assert_eq!((found.column, found.proven), (0, Some(Proven::Win)));
/// tree.advance(found.column.into())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MctsTree {
    config: MctsConfig,
    pub(super) tree: Tree,
    playouts: Playouts,
}

impl MctsTree {
    /// Starts a tree at a position.
    ///
    /// # Errors
    /// [`MctsError`] when a setting is out of range or the game is over.
    pub fn new(position: &Position, config: MctsConfig) -> Result<MctsTree, MctsError> {
        config.check()?;
        let tree = MctsTree {
            config,
            tree: Tree::new(position),
            playouts: Playouts::new(position.ruleset(), config.playout_plies),
        };
        tree.check_open()?;
        Ok(tree)
    }

    /// Forgets everything and starts again at another position, with the memory of the old tree.
    ///
    /// # Errors
    /// [`MctsError::Over`] when the game is over; the tree stays as it was.
    pub fn restart(&mut self, position: &Position) -> Result<(), MctsError> {
        check_open(position)?;
        self.tree.start(position);
        if self.playouts.ruleset() != position.ruleset() {
            self.playouts = Playouts::new(position.ruleset(), self.config.playout_plies);
        }
        Ok(())
    }

    /// Returns the settings.
    pub const fn config(&self) -> &MctsConfig {
        &self.config
    }

    /// Returns the position at the root.
    pub const fn position(&self) -> &Position {
        self.tree.root()
    }

    /// Makes `simulations` simulations, fewer where the outcome is proven before, each valued by a
    /// random game whose moves are drawn from `stream`.
    ///
    /// # Errors
    /// [`MctsError`] when the number is not 1 to 1,000,000 or the game is over.
    pub fn grow(
        &mut self,
        simulations: u32,
        stream: &mut Xoshiro128PlusPlus,
    ) -> Result<(), MctsError> {
        check_simulations(simulations)?;
        self.check_open()?;
        for _ in 0..simulations {
            if self.is_proven() {
                break;
            }
            if let Some(leaf) = self.descend() {
                let outcome = self.playouts.outcome(&leaf, stream);
                let value = outcome * leaf.to_move().sign();
                self.tree.add(&leaf, value.into(), None);
            }
        }
        Ok(())
    }

    /// Makes `simulations` simulations, fewer where the outcome is proven before, each valued by
    /// the evaluator: its chance to win less to lose.
    ///
    /// Many games are searched faster together, by [`MctsSearch`](super::MctsSearch).
    ///
    /// # Errors
    /// [`MctsError`] when the number is not 1 to 1,000,000, the game is over, or the evaluator
    /// fails, after which the tree holds the simulations made before.
    pub fn grow_with(
        &mut self,
        simulations: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<(), MctsError> {
        check_simulations(simulations)?;
        self.check_open()?;
        let trees = std::slice::from_mut(self);
        Lockstep::default().grow(trees, simulations, evaluator)?;
        Ok(())
    }

    /// Returns what the tree knows of the moves at its root.
    ///
    /// # Errors
    /// [`MctsError::Over`] when the game is over.
    pub fn result(&self) -> Result<MctsResult, MctsError> {
        self.check_open()?;
        Ok(MctsResult::of_tree(&self.tree))
    }

    /// Plays a move and keeps what the tree knows below it: visits, values and proofs are those of
    /// a tree that was grown there.
    ///
    /// # Errors
    /// [`MctsError::Move`] when the move is not legal; the tree stays as it was.
    pub fn advance(&mut self, column: usize) -> Result<(), MctsError> {
        let next = self.position().play(column)?;
        self.tree.advance(column, next);
        Ok(())
    }

    /// Tells whether the outcome with perfect play is known.
    pub fn is_proven(&self) -> bool {
        self.bounds().is_exact()
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.tree.root_bounds()
    }

    /// Walks to a position to be valued, `None` where the walk came to a certain outcome.
    pub(super) fn descend(&mut self) -> Option<Position> {
        self.tree.descend(self.config.exploration)
    }

    fn check_open(&self) -> Result<(), MctsError> {
        check_open(self.position())
    }
}

fn check_open(position: &Position) -> Result<(), MctsError> {
    match position.end_reason() {
        Some(reason) => Err(MctsError::Over { reason }),
        None => Ok(()),
    }
}
