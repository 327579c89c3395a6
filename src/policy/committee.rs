//! Players that consult on every move.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::rng::{self, Purpose, RngCore as _};
use crate::ruleset::Ruleset;

/// The most members of a committee.
pub const MAX_MEMBERS: usize = 100;

/// The largest weight of a member.
pub const MAX_WEIGHT: f64 = 1e6;

/// The smallest weight of a member.
pub const MIN_WEIGHT: f64 = 1e-6;

/// A member of a committee.
pub struct Member {
    /// The player.
    pub policy: Box<dyn Policy>,
    /// What its vote counts, 0.000001 to 1,000,000.
    pub weight: f64,
}

/// Lets its members vote on every move, as the two teams of eight do in En Gehé.
///
/// Each member chooses for itself; the column with the greatest sum of weights is played, the
/// lowest one among equals. The order of the members changes nothing: those that draw do so from
/// streams of their own, dealt out by name and weight. A committee of deterministic members is
/// deterministic.
///
/// A member that fails or chooses an illegal column makes the committee fail; the message names
/// the member.
///
/// ```
/// use endodoi::policy::{AlphaBeta, Committee, Greedy, Member, Policy};
/// use endodoi::rng::{self, Purpose};
/// use endodoi::{Position, Variant};
///
/// let members = vec![
///     Member { policy: Box::new(Greedy::default()), weight: 1.0 },
///     Member { policy: Box::new(AlphaBeta::new(2)?), weight: 1.0 },
///     Member { policy: Box::new(AlphaBeta::new(4)?), weight: 1.5 },
/// ];
/// let mut committee = Committee::new(members)?;
/// let positions = [Position::start(&Variant::EnDodoi.ruleset())];
/// let mut streams = [rng::stream(1, 0, Purpose::Play)];
/// let mut moves = [0];
/// committee.choose(&positions, &mut streams, &mut moves)?;
/// assert!(positions[0].legal_moves().contains(moves[0].into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Committee {
    name: String,
    /// Sorted by name and weight.
    seats: Vec<Seat>,
}

/// A member with its place in the order given.
struct Seat {
    place: usize,
    name: String,
    member: Member,
}

impl Committee {
    /// Makes a committee of these members; its name lists them.
    ///
    /// # Errors
    /// [`PolicyError::Committee`] where there are no or too many members, or a weight is out of
    /// range.
    pub fn new(members: Vec<Member>) -> Result<Committee, PolicyError> {
        let weights: Vec<f64> = members.iter().map(|member| member.weight).collect();
        check_weights(&weights)?;
        let mut seats: Vec<Seat> = members
            .into_iter()
            .enumerate()
            .map(|(place, member)| Seat {
                place,
                name: member.policy.name(),
                member,
            })
            .collect();
        let votes = seats
            .iter()
            .map(|seat| (seat.name.as_str(), seat.member.weight));
        let name = name_of(votes);
        seats.sort_by(|one, other| {
            let names = one.name.cmp(&other.name);
            names.then(one.member.weight.total_cmp(&other.member.weight))
        });
        Ok(Committee { name, seats })
    }

    /// Asks one member for all positions.
    fn ask(
        &mut self,
        seat: usize,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
    ) -> Result<Vec<u8>, PolicyError> {
        let mut moves = vec![0; positions.len()];
        let Seat {
            place,
            name,
            member,
        } = &mut self.seats[seat];
        let failed = |message: String| PolicyError::Failed {
            name: self.name.clone(),
            message: format!("member {place} ({name}): {message}"),
        };
        match member.policy.choose(positions, streams, &mut moves) {
            Ok(()) => {}
            Err(error @ PolicyError::Interrupted { .. }) => return Err(error),
            Err(PolicyError::Failed { message, .. }) => return Err(failed(message)),
            Err(error) => return Err(failed(error.to_string())),
        }
        for (position, &column) in positions.iter().zip(&moves) {
            if !position.legal_moves().contains(column.into()) {
                let legal: Vec<usize> = position.legal_moves().iter().collect();
                let message =
                    format!("column {column} is not legal in {position}, legal: {legal:?}");
                return Err(failed(message));
            }
        }
        Ok(moves)
    }
}

/// Checks the number of members and their weights.
pub(crate) fn check_weights(weights: &[f64]) -> Result<(), PolicyError> {
    if !(1..=MAX_MEMBERS).contains(&weights.len()) {
        return Err(PolicyError::Committee {
            message: format!("{} members, expected 1 to {MAX_MEMBERS}", weights.len()),
        });
    }
    for (place, weight) in weights.iter().enumerate() {
        if !(MIN_WEIGHT..=MAX_WEIGHT).contains(weight) {
            let range = format!("{MIN_WEIGHT} to {MAX_WEIGHT}");
            return Err(PolicyError::Committee {
                message: format!("the weight of member {place} is {weight}, expected {range}"),
            });
        }
    }
    Ok(())
}

/// Writes the names and weights of members as `committee:8xmcts:20+2*greedy`.
///
/// Members that stand one after another and are the same are counted.
pub(crate) fn name_of<'a>(members: impl IntoIterator<Item = (&'a str, f64)>) -> String {
    let mut groups: Vec<(usize, f64, &str)> = Vec::new();
    for (name, weight) in members {
        match groups.last_mut() {
            Some((count, of, last)) if *last == name && of.total_cmp(&weight).is_eq() => {
                *count += 1;
            }
            _ => groups.push((1, weight, name)),
        }
    }
    let written = groups.into_iter().map(|(count, weight, name)| {
        let count = if count > 1 {
            format!("{count}x")
        } else {
            String::new()
        };
        let weight = if weight.total_cmp(&1.0).is_eq() {
            String::new()
        } else {
            format!("{weight}*")
        };
        if name.contains(['+', '{', '}']) || name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("{count}{weight}{{{name}}}")
        } else {
            format!("{count}{weight}{name}")
        }
    });
    format!("committee:{}", written.collect::<Vec<_>>().join("+"))
}

impl Policy for Committee {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn check(&mut self, ruleset: &Ruleset) -> Result<(), PolicyError> {
        let mut seats = self.seats.iter_mut();
        seats.try_for_each(|seat| seat.member.policy.check(ruleset))
    }

    fn choose(
        &mut self,
        positions: &[Position],
        streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let widths = positions.iter().map(|position| position.board().columns());
        let columns = widths.max().unwrap_or(1);
        let mut votes = vec![0.0; positions.len() * columns];
        // A game's stream opens the members' own; it moves on only where a member has drawn, so
        // that players that never draw do not change what others draw.
        let seeds: Vec<u64> = streams
            .iter()
            .map(|stream| stream.clone().next_u64())
            .collect();
        let mut drawn = vec![false; positions.len()];
        for seat in 0..self.seats.len() {
            let before: Vec<Xoshiro128PlusPlus> = seeds
                .iter()
                .map(|&seed| rng::stream(rng::mix(seed, seat as u64), 0, Purpose::Policy))
                .collect();
            let mut own = before.clone();
            let chosen = self.ask(seat, positions, &mut own)?;
            let weight = self.seats[seat].member.weight;
            for (row, column) in chosen.into_iter().enumerate() {
                votes[row * columns + usize::from(column)] += weight;
                drawn[row] |= own[row] != before[row];
            }
        }
        for (stream, _) in streams.iter_mut().zip(drawn).filter(|(_, drawn)| *drawn) {
            stream.next_u64();
        }
        for (votes, column) in votes.chunks(columns).zip(moves) {
            *column = most_votes(votes) as u8;
        }
        Ok(())
    }

    fn set_interrupt(&mut self, flag: &Arc<AtomicBool>) {
        for seat in &mut self.seats {
            seat.member.policy.set_interrupt(flag);
        }
    }
}

/// Returns the column with the most votes, the lowest one among equals.
///
/// Sums that differ by rounding alone are equal.
fn most_votes(votes: &[f64]) -> usize {
    let most = votes.iter().copied().fold(0.0, f64::max);
    let enough = most * (1.0 - 1e-9);
    votes.iter().position(|&sum| sum >= enough).unwrap_or(0)
}
