//! The value network at the leaves of an alpha-beta search.

use std::sync::Arc;

use super::{Sums, ValueNetwork};
use crate::search::{EndgameTable, LeafEvaluator};

/// Boards with fewer pits are summed from nothing: looking for what changed takes as long.
const NEAR_FROM: usize = 24;

/// Judges leaves by a value network, and by an endgame table where the position is in it.
#[derive(Clone, Debug)]
pub struct ValueLeaf {
    network: Arc<ValueNetwork>,
    table: Option<Arc<EndgameTable>>,
    /// The position whose moves are judged, as the side sees it that moves after them.
    near: Sums,
    /// Whether `near` holds one.
    is_near: bool,
    turned: Vec<u16>,
    scratch: Vec<i16>,
}

impl ValueLeaf {
    /// Judges by a network alone.
    pub fn new(network: Arc<ValueNetwork>) -> ValueLeaf {
        ValueLeaf {
            network,
            table: None,
            near: Sums::default(),
            is_near: false,
            turned: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Takes the exact value of positions that a table of the same rules has.
    #[must_use]
    pub fn with_table(mut self, table: Arc<EndgameTable>) -> ValueLeaf {
        self.table = Some(table);
        self
    }

    /// Returns the network.
    pub const fn network(&self) -> &Arc<ValueNetwork> {
        &self.network
    }
}

impl LeafEvaluator for ValueLeaf {
    const UNITS: i32 = 64;

    fn approach(&mut self, pits: &[u16]) {
        self.is_near = pits.len() >= NEAR_FROM;
        if self.is_near {
            let (own, other) = pits.split_at(pits.len() / 2);
            self.turned.clear();
            self.turned.extend(other.iter().chain(own));
            self.network.sum(&self.turned, &mut self.near);
        }
    }

    fn margin(&mut self, pits: &[u16]) -> i32 {
        if let Some(table) = &self.table {
            let seeds: u32 = pits.iter().map(|&seeds| u32::from(seeds)).sum();
            if seeds <= table.max_seeds() {
                // A table's boards have at most 255 seeds.
                let index = table
                    .ranking()
                    .index_of(pits.iter().map(|&seeds| seeds as u8));
                return i32::from(table.value_at(index)) * Self::UNITS;
            }
        }
        let near = self.is_near.then_some(&self.near);
        let margin = self.network.margin(pits, near, &mut self.scratch);
        (margin * Self::UNITS as f32).round() as i32
    }
}
