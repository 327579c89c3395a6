//! Committees: votes, ties, draws, members that fail.

#![allow(clippy::expect_used, clippy::panic)]

use endodoi::arena::{PairConfig, play_pairs};
use endodoi::policy::{Committee, Mcts, Member, Policy, PolicyError, PolicySpec, Random};
use endodoi::rng::{self, Purpose, Xoshiro128PlusPlus};
use endodoi::simulate::EndCode;
use endodoi::{Position, Ruleset, RulesetFields, Variant};

fn two_by_six() -> Ruleset {
    let fields = RulesetFields {
        columns: Some(6),
        ..RulesetFields::default()
    };
    Ruleset::new(Variant::EnDodoi, &fields).expect("rules")
}

/// Plays the legal column of a rank, counted from the lowest, or what it is told to.
#[derive(Clone, Copy)]
enum Fixed {
    Rank(usize),
    Illegal,
    Failing,
}

impl Policy for Fixed {
    fn name(&self) -> String {
        match self {
            Fixed::Rank(rank) => format!("rank-{rank}"),
            Fixed::Illegal => "illegal".to_owned(),
            Fixed::Failing => "failing".to_owned(),
        }
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        for (position, column) in positions.iter().zip(moves) {
            let legal = position.legal_moves();
            *column = match self {
                Fixed::Rank(rank) => legal.nth(*rank % legal.len()).expect("a move") as u8,
                Fixed::Illegal => 200,
                Fixed::Failing => {
                    let message = "lost its nerve".to_owned();
                    let name = self.name();
                    return Err(PolicyError::Failed { name, message });
                }
            };
        }
        Ok(())
    }
}

fn committee(members: &[(Fixed, f64)]) -> Committee {
    let members = members.iter().map(|&(policy, weight)| Member {
        policy: Box::new(policy),
        weight,
    });
    Committee::new(members.collect()).expect("a committee")
}

/// Positions of random games.
fn positions(count: u64) -> Vec<Position> {
    let start = Position::start(&two_by_six());
    (0..count)
        .map(|seed| {
            let mut stream = rng::stream(seed, 0, Purpose::Play);
            let mut position = start;
            for _ in 0..seed % 12 {
                let legal = position.legal_moves();
                let rank = rng::below(&mut stream, legal.len() as u32) as usize;
                position = position
                    .play(legal.nth(rank).expect("a move"))
                    .expect("legal");
                if position.is_over() {
                    return start;
                }
            }
            position
        })
        .collect()
}

fn choices(policy: &mut dyn Policy, positions: &[Position]) -> Result<Vec<u8>, PolicyError> {
    let mut streams: Vec<_> = (0..positions.len() as u64)
        .map(|row| rng::stream(row, 0, Purpose::Play))
        .collect();
    let mut moves = vec![0; positions.len()];
    policy.choose(positions, &mut streams, &mut moves)?;
    Ok(moves)
}

#[test]
fn the_greatest_sum_of_weights_is_played() {
    use Fixed::Rank;
    let start = [Position::start(&two_by_six())];
    for (members, expected) in [
        (vec![(Rank(4), 1.0), (Rank(2), 1.0), (Rank(4), 1.0)], 4),
        (vec![(Rank(4), 1.0), (Rank(2), 2.5), (Rank(4), 1.0)], 2),
        // Ties go to the lowest column, whoever is named first.
        (vec![(Rank(4), 1.0), (Rank(2), 1.0)], 2),
        (vec![(Rank(2), 1.0), (Rank(4), 1.0)], 2),
        // Three tenths and a tenth three times are equal, whatever their binary digits.
        (
            vec![
                (Rank(5), 0.1),
                (Rank(5), 0.1),
                (Rank(5), 0.1),
                (Rank(1), 0.3),
            ],
            1,
        ),
        (
            vec![
                (Rank(1), 0.1),
                (Rank(1), 0.1),
                (Rank(1), 0.1),
                (Rank(5), 0.3),
            ],
            1,
        ),
    ] {
        let chosen = choices(&mut committee(&members), &start);
        assert_eq!(chosen.expect("a choice"), [expected]);
    }
}

/// Eight equal members of a deterministic kind are one; in any order members choose the same.
#[test]
fn the_order_of_members_changes_nothing() {
    let positions = positions(60);
    let build = |specs: &[&str]| {
        let members = specs.iter().map(|spec| Member {
            policy: spec
                .parse::<PolicySpec>()
                .and_then(|spec| spec.build())
                .expect("a player"),
            weight: if spec.starts_with("mcts") { 1.5 } else { 1.0 },
        });
        Committee::new(members.collect()).expect("a committee")
    };
    let one = choices(
        &mut build(&["random", "mcts:10", "greedy", "mcts:10", "mcts:30"]),
        &positions,
    );
    let other = choices(
        &mut build(&["mcts:30", "mcts:10", "greedy", "mcts:10", "random"]),
        &positions,
    );
    assert_eq!(one.expect("choices"), other.expect("choices"));

    // Nor do members that never draw change what their opponent draws.
    let alone = choices(&mut build(&["alphabeta:2"]), &positions).expect("choices");
    let eight = choices(&mut build(&["alphabeta:2"; 8]), &positions).expect("choices");
    let mut player = "alphabeta:2"
        .parse::<PolicySpec>()
        .expect("a spec")
        .build()
        .expect("one");
    assert_eq!(choices(&mut *player, &positions).expect("choices"), alone);
    assert_eq!(alone, eight);
    let config = PairConfig::new(two_by_six(), 20);
    let games = |policy: &mut dyn Policy| {
        play_pairs(policy, &mut Random, &config)
            .expect("a match")
            .games
    };
    assert_eq!(games(&mut build(&["alphabeta:2"; 8])), games(&mut *player));
}

/// Members that draw vote with draws of their own: eight random ones do not move as one.
#[test]
fn members_that_draw_have_streams_of_their_own() {
    let positions = positions(300);
    let mut eight: Box<dyn Policy> = "committee:8xrandom"
        .parse::<PolicySpec>()
        .and_then(|spec| spec.build())
        .expect("one");
    let chosen = choices(&mut *eight, &positions).expect("choices");
    // Most votes of eight, ties to the lowest column: lower columns win more often than by a draw.
    let lowest = |moves: &[u8]| {
        let first = positions.iter().zip(moves);
        first
            .filter(|(position, column)| {
                position.legal_moves().nth(0) == Some(usize::from(**column))
            })
            .count()
    };
    let alone = choices(&mut Random, &positions).expect("choices");
    assert!(
        lowest(&chosen) > lowest(&alone) + 20,
        "{} {}",
        lowest(&chosen),
        lowest(&alone)
    );
    // Batches of one choose the same.
    for (row, position) in positions.iter().enumerate().take(40) {
        let mut stream = [rng::stream(row as u64, 0, Purpose::Play)];
        let mut column = [0];
        eight
            .choose(&[*position], &mut stream, &mut column)
            .expect("a choice");
        assert_eq!(column[0], chosen[row]);
    }
}

#[test]
fn a_failing_member_is_named() {
    let start = [Position::start(&two_by_six())];
    let mut failing = committee(&[(Fixed::Rank(0), 1.0), (Fixed::Failing, 2.0)]);
    let error = choices(&mut failing, &start).expect_err("a failure");
    assert_eq!(
        error.to_string(),
        "player committee:rank-0+2*failing: member 1 (failing): lost its nerve"
    );
    let mut illegal = committee(&[(Fixed::Illegal, 1.0), (Fixed::Rank(0), 1.0)]);
    let error = choices(&mut illegal, &start)
        .expect_err("a failure")
        .to_string();
    assert!(error.starts_with(
        "player committee:illegal+rank-0: member 0 (illegal): column 200 is not legal in"
    ));
    // In a match the committee loses these games, with the reason.
    let config = PairConfig::new(two_by_six(), 4);
    let played = play_pairs(&mut failing, &mut Random, &config).expect("a match");
    assert!(
        played
            .games
            .iter()
            .all(|game| game.end == EndCode::Error && game.result == -1)
    );
}

#[test]
fn a_committee_cannot_play_where_a_member_cannot() {
    let spec: PolicySpec = "committee:greedy+perfect".parse().expect("a spec");
    let mut player = spec.build().expect("a player");
    let error = player
        .check(&Variant::EnGehe.ruleset())
        .expect_err("too large");
    assert!(error.to_string().starts_with("player perfect cannot play"));
}

#[test]
fn specifications_are_read_and_written() {
    for (text, written) in [
        ("committee:greedy+random", "committee:greedy+random"),
        ("committee:8xmcts:20", "committee:8xmcts:20"),
        (
            "committee:mcts:20+mcts:20+greedy",
            "committee:2xmcts:20+greedy",
        ),
        (
            "committee:2x0.5*greedy+1*random",
            "committee:2x0.5*greedy+random",
        ),
        (
            "committee:{greedy}+3*{alphabeta:2}",
            "committee:greedy+3*alphabeta:2",
        ),
        (
            "committee:{agent:a+b{1}/x@sims=3}+agent:c@d",
            "committee:{agent:a+b{1}/x@sims=3}+agent:c@d",
        ),
        (
            "committee:2x{committee:2xgreedy+random}+random",
            "committee:2x{committee:2xgreedy+random}+random",
        ),
    ] {
        let spec: PolicySpec = text.parse().expect("a specification");
        assert_eq!(spec.to_string(), written);
        assert_eq!(written.parse::<PolicySpec>(), Ok(spec));
    }
    let eight: PolicySpec = "committee:8xrandom+2*greedy"
        .parse()
        .expect("a specification");
    assert_eq!(
        eight.build().expect("a player").name(),
        "committee:8xrandom+2*greedy"
    );
}

/// Each message names the member that is wrong, and what is wrong with it.
#[test]
fn what_is_no_committee_is_refused() {
    for (text, fault) in [
        ("committee:", "member 0 is \"\": it names no player"),
        ("committee:greedy+", "member 1 is \"\": it names no player"),
        ("committee:+greedy", "member 0 is \"\": it names no player"),
        ("committee:8x", "member 0 is \"8x\": it names no player"),
        ("committee:2*", "member 0 is \"2*\": it names no player"),
        (
            "committee:greedy+2x3*{}",
            "member 1 is \"2x3*{}\": it names no player",
        ),
        (
            "committee:0xgreedy",
            "member 0 is \"0xgreedy\": it is there 0 times, expected 1 to 100",
        ),
        (
            "committee:101xgreedy",
            "member 0 is \"101xgreedy\": it is there 101 times, expected 1 to 100",
        ),
        (
            "committee:60xgreedy+60xrandom",
            "120 members, expected 1 to 100",
        ),
        (
            "committee:20x{committee:20xgreedy}",
            "400 members, expected 1 to 100",
        ),
        (
            "committee:0*greedy",
            "member 0 is \"0*greedy\": its weight is 0, expected 0.000001 to 1000000",
        ),
        (
            "committee:-1*greedy",
            "member 0 is \"-1*greedy\": its weight is -1, expected 0.000001 to 1000000",
        ),
        (
            "committee:random+1e9*greedy",
            "member 1 is \"1e9*greedy\": its weight is 1e9, expected 0.000001 to 1000000",
        ),
        (
            "committee:2a*greedy",
            "member 0 is \"2a*greedy\": its weight is 2a, expected 0.000001 to 1000000",
        ),
        (
            "committee:random+{greedy",
            "member 1 does not close its brace",
        ),
        (
            "committee:greedy}",
            "member 0 closes a brace that is not open",
        ),
        (
            "committee:{committee:{committee:{committee:{committee:greedy}}}}",
            "member 0 has 4 braces within each other, expected at most 3",
        ),
        (
            "committee:greedy+2xnobody",
            "member 1 is \"nobody\", expected random, greedy, perfect[@table=FILE],",
        ),
        (
            "committee:xgreedy",
            "member 0 is \"xgreedy\", expected random, greedy, perfect[@table=FILE],",
        ),
        (
            "committee:greedy+{committee:8x}",
            "member 1 is \"committee:8x\": member 0 is \"8x\": it names no player",
        ),
    ] {
        let error = text.parse::<PolicySpec>().expect_err(text);
        assert!(matches!(&error, PolicyError::Members { spec, .. } if spec == text));
        let message = error.to_string();
        let expected = format!("player is {text:?}: {fault}");
        assert!(message.starts_with(&expected), "{message}");
    }
    let alone = "committee".parse::<PolicySpec>();
    assert!(matches!(alone, Err(PolicyError::Spec { .. })));
    let refused = |members: Vec<Member>| match Committee::new(members) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("made"),
    };
    assert_eq!(
        refused(Vec::new()),
        "committee: 0 members, expected 1 to 100"
    );
    let weightless = |weight| {
        vec![Member {
            policy: Box::new(Random),
            weight,
        }]
    };
    for weight in [0.0, f64::NAN, -1.0, f64::INFINITY] {
        assert!(refused(weightless(weight)).starts_with("committee: the weight of member 0 is"));
    }
}

/// Eight that consult beat one of them.
#[test]
fn eight_weak_players_beat_one_of_them() {
    let spec: PolicySpec = "committee:8xmcts:20".parse().expect("a spec");
    let mut eight = spec.build().expect("a player");
    let mut one = Mcts::new(20).expect("a player");
    let config = PairConfig::new(two_by_six(), 200);
    let played = play_pairs(&mut *eight, &mut one, &config).expect("a match");
    assert!(played.interval.0 > 0.5, "{:?}", played.interval);
}
