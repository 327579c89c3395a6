//! Which move of a node is visited next, and which one is best.

use super::bounds::Bounds;
use super::tree::Edge;

/// Returns the rank of the move to visit next, `None` where no visit can change what is proven.
///
/// The move with the largest upper bound of PUCT (Rosin 2011; Silver et al. 2017) is visited: its
/// mean value plus `weight * prior / (1 + visits)`, where the weight is the exploration times the
/// root of all visits. A move that was never visited counts the `mean` of the node. Moves that are
/// proven, and those that cannot do better than what is assured, are left alone (Winands,
/// Björnsson and Saito 2008).
pub(super) fn next_move(edges: &[Edge], bounds: Bounds, mean: f64, weight: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (rank, edge) in edges.iter().enumerate() {
        if edge.bounds.is_exact() || edge.bounds.high <= bounds.low {
            continue;
        }
        let worth = edge.value().unwrap_or(mean);
        let upper = worth + weight * f64::from(edge.prior) / (1.0 + f64::from(edge.visits));
        if best.is_none_or(|(_, most)| upper > most) {
            best = Some((rank, upper));
        }
    }
    best.map(|(rank, _)| rank)
}

/// Returns the rank of the move to play, `None` of no moves.
///
/// A proven outcome is played for as soon as it is known. Else it is the most visited of the moves
/// that may do better than what is assured, unless the assured outcome is worth more than that
/// move promises. Ties go to the lowest column.
pub(super) fn best_move(edges: &[Edge], bounds: Bounds) -> Option<usize> {
    let assured = most_visited(edges, |edge| edge.bounds.low >= bounds.low);
    if bounds.is_exact() {
        return assured;
    }
    let open = most_visited(edges, |edge| edge.bounds.high > bounds.low);
    let settled = most_visited(edges, |edge| {
        bounds.low > -1 && edge.bounds == Bounds::exactly(bounds.low)
    });
    let promise = open.and_then(|rank| edges[rank].value());
    match settled {
        Some(_) if promise.is_none_or(|value| value < bounds.low.into()) => settled,
        _ => open,
    }
}

fn most_visited(edges: &[Edge], allowed: impl Fn(&Edge) -> bool) -> Option<usize> {
    let ranks = (0..edges.len()).filter(|&rank| allowed(&edges[rank]));
    ranks.reduce(|best, rank| {
        if edges[rank].visits > edges[best].visits {
            rank
        } else {
            best
        }
    })
}
