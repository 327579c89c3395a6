//! The members of a committee, as users write them.

use crate::policy::committee::{MAX_MEMBERS, MAX_WEIGHT, MIN_WEIGHT};
use crate::policy::spec::{MemberSpec, count};
use crate::policy::{PolicyError, committee};

/// Committees of committees of committees: deeper ones are refused.
const MAX_NESTING: usize = 3;

/// Reads the members that `spec` lists after `committee:`, each as often as it is there.
///
/// # Errors
/// [`PolicyError::Members`] names the member and what is wrong with it.
pub(super) fn read(spec: &str, members: &str) -> Result<Vec<MemberSpec>, PolicyError> {
    let refuse = |message: String| PolicyError::Members {
        spec: spec.to_owned(),
        message,
    };
    let mut read = Vec::new();
    for (place, member) in parted(members).map_err(refuse)?.into_iter().enumerate() {
        let (copies, member) = read_member(member)
            .map_err(|fault| refuse(format!("member {place} is {member:?}: {fault}")))?;
        let spec = member.player.parse().map_err(|error| match error {
            PolicyError::Spec { spec, expected } => {
                refuse(format!("member {place} is {spec:?}, expected {expected}"))
            }
            PolicyError::Members { spec, message } => {
                refuse(format!("member {place} is {spec:?}: {message}"))
            }
            other => other,
        })?;
        let weight = member.weight;
        read.resize(read.len() + copies, MemberSpec { spec, weight });
    }
    let players: usize = read.iter().map(|member| member.spec.players()).sum();
    if players > MAX_MEMBERS {
        return Err(refuse(format!(
            "{players} members, expected 1 to {MAX_MEMBERS}"
        )));
    }
    Ok(read)
}

/// Parts members at each `+` outside braces.
fn parted(text: &str) -> Result<Vec<&str>, String> {
    let mut members = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (place, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                let member = members.len();
                return Err(format!("member {member} closes a brace that is not open"));
            }
            '}' => depth -= 1,
            '+' if depth == 0 => {
                members.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
        if depth > MAX_NESTING {
            let member = members.len();
            return Err(format!(
                "member {member} has {depth} braces within each other, expected at most \
                 {MAX_NESTING}"
            ));
        }
    }
    if depth > 0 {
        let member = members.len();
        return Err(format!("member {member} does not close its brace"));
    }
    members.push(&text[start..]);
    Ok(members)
}

/// A member whose player is not read yet.
struct Unread<'a> {
    weight: f64,
    player: &'a str,
}

/// Reads `[Nx][WEIGHT*]PLAYER` or `[Nx][WEIGHT*]{PLAYER}`: how often the member is there, and which.
fn read_member(text: &str) -> Result<(usize, Unread<'_>), String> {
    let (copies, text) = match text.split_once('x') {
        Some((number, rest)) if is_digits(number) => {
            let copies = count(number, MAX_MEMBERS as u32);
            let copies = copies.ok_or_else(|| {
                format!("it is there {number} times, expected 1 to {MAX_MEMBERS}")
            })?;
            (copies as usize, rest)
        }
        _ => (1, text),
    };
    let (weight, text) = match text.split_once('*') {
        Some((number, rest))
            if number.starts_with(|first: char| first.is_ascii_digit() || first == '-') =>
        {
            let weight = number.parse::<f64>().ok();
            let weight = weight.filter(|&weight| committee::check_weights(&[weight]).is_ok());
            let weight = weight.ok_or_else(|| {
                format!("its weight is {number}, expected {MIN_WEIGHT} to {MAX_WEIGHT}")
            })?;
            (weight, rest)
        }
        _ => (1.0, text),
    };
    let inside = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let player = inside.unwrap_or(text);
    if player.is_empty() {
        return Err("it names no player".to_owned());
    }
    Ok((copies, Unread { weight, player }))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
