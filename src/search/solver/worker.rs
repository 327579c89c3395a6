//! The search of one thread: does the mover take `t` seeds more than the other side?

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::search::endgame::EndgameTable;
use crate::search::solver::field::{Field, Key, Node};
use crate::search::solver::memory::{Entry, Memory, NO_COLUMN};

/// Nodes between two looks at what the other threads do.
const LOOK_EVERY: u64 = 1 << 10;

/// Says that a verdict leans on no position of the path.
const FREE: usize = usize::MAX;

/// Below every value.
const NOTHING: i32 = i32::MIN / 2;

/// What the threads of one proof share.
#[derive(Debug)]
pub(super) struct Control {
    /// Set when an answer is known or not wanted any more.
    pub(super) stop: AtomicBool,
    /// Positions visited by all threads.
    pub(super) nodes: AtomicU64,
    /// The greatest depth reached.
    pub(super) depth: AtomicU64,
    /// Positions visited by all threads at which they stop.
    pub(super) limit: u64,
}

impl Control {
    /// Begins after so many positions visited and stops at `limit`.
    pub(super) fn new(nodes: u64, limit: u64) -> Control {
        Control {
            stop: AtomicBool::new(false),
            nodes: AtomicU64::new(nodes),
            depth: AtomicU64::new(0),
            limit,
        }
    }

    /// Tells whether the threads are to stop.
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.nodes.load(Ordering::Relaxed) >= self.limit
    }
}

/// A move inside the tree and where it leads.
#[derive(Clone, Copy, Debug)]
struct Kid<B> {
    node: Node<B>,
    captured: i32,
    column: u8,
    order: i32,
}

/// What is asked of a position.
#[derive(Clone, Copy, Debug)]
struct Question {
    /// Is the value at least this?
    threshold: i32,
    /// Plies to search.
    depth: i32,
    /// Plies from the root.
    ply: usize,
    /// The ply of the first position with as many seeds on the path.
    since: usize,
}

/// An answer: a bound of the value, a lower one if it reaches the threshold, else an upper one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict {
    pub(super) bound: i32,
    /// Whether it rests on proofs only.
    pub(super) proven: bool,
    /// The lowest ply of the path that it leans on.
    leans_on: usize,
}

impl Verdict {
    const fn proven(bound: i32) -> Verdict {
        Verdict {
            bound,
            proven: true,
            leans_on: FREE,
        }
    }

    const fn guessed(bound: i32) -> Verdict {
        Verdict {
            bound,
            proven: false,
            leans_on: FREE,
        }
    }
}

/// The search of one thread.
pub(super) struct Worker<'a, F: Field> {
    field: &'a F,
    table: Option<&'a EndgameTable>,
    /// Positions with at most so many seeds are in the table; negative without one.
    table_seeds: i32,
    memory: &'a Memory,
    control: &'a Control,
    kids: Vec<Kid<F::Board>>,
    path: Vec<u64>,
    /// Changes the order of moves that look alike, so that threads take different ways.
    salt: u32,
    nodes: u64,
    stopped: bool,
}

impl<'a, F: Field> Worker<'a, F> {
    pub(super) fn new(
        field: &'a F,
        table: Option<&'a EndgameTable>,
        memory: &'a Memory,
        control: &'a Control,
        salt: u32,
    ) -> Worker<'a, F> {
        Worker {
            field,
            table,
            table_seeds: table.map_or(-1, |table| table.max_seeds() as i32),
            memory,
            control,
            kids: Vec::new(),
            path: Vec::new(),
            salt,
            nodes: 0,
            stopped: false,
        }
    }

    /// Deepens until the answer is proven; `None` if it was stopped.
    pub(super) fn prove(&mut self, root: &Node<F::Board>, threshold: i32) -> Option<i32> {
        let mut depth = 2 + (self.salt & 1) as i32;
        loop {
            self.control
                .depth
                .fetch_max(depth as u64, Ordering::Relaxed);
            let question = Question {
                threshold,
                depth,
                ply: 0,
                since: 0,
            };
            let verdict = self.test(root, question);
            if self.stopped || verdict.proven {
                self.report();
                return (!self.stopped).then_some(verdict.bound);
            }
            depth += 1;
        }
    }

    fn report(&mut self) {
        self.control.nodes.fetch_add(self.nodes, Ordering::Relaxed);
        self.nodes = 0;
    }

    fn count_node(&mut self) {
        self.nodes += 1;
        if self.nodes == LOOK_EVERY {
            self.report();
            self.stopped = self.control.is_over();
        }
    }

    /// Answers the question for a position.
    fn test(&mut self, node: &Node<F::Board>, question: Question) -> Verdict {
        if let Some(ply) = self.repeated(node.key, question) {
            return Verdict {
                bound: 0,
                proven: true,
                leans_on: ply,
            };
        }
        self.count_node();
        let mut entry = self
            .memory
            .probe(node.key)
            .unwrap_or(Entry::open(node.seeds));
        if let Some(verdict) = known(&entry, question) {
            return verdict;
        }
        let base = self.kids.len();
        let settled = self.push_kids(node, question.threshold);
        let verdict = match settled {
            // E1: the rest goes to the other side.
            NOTHING if self.kids.len() == base => Verdict::proven(-node.seeds),
            settled if settled >= question.threshold => Verdict::proven(settled),
            // Whoever is to move at the end of the depth is taken to succeed: neither side is
            // believed in two depths running, so that what stands is proven soon.
            _ if self.kids.len() > base && question.depth <= 0 => {
                Verdict::guessed(question.threshold)
            }
            settled => match self.drop_known(base, settled, question.threshold) {
                Ok(settled) => self.try_kids(node, question, base, settled, &mut entry),
                Err((column, bound)) => {
                    entry.lower = entry.lower.max(bound);
                    entry.column = column;
                    self.memory.store(node.key, entry);
                    Verdict::proven(bound)
                }
            },
        };
        self.kids.truncate(base);
        verdict
    }

    /// Returns the ply of the same position with the same side to move since the last capture.
    fn repeated(&self, key: Key, question: Question) -> Option<usize> {
        let mut ply = question.ply;
        while ply >= question.since + 2 {
            ply -= 2;
            if self.path[ply] == key.tag {
                return Some(ply);
            }
        }
        None
    }

    /// Adds the moves whose worth is open and returns the best of the others, [`NOTHING`] if there
    /// is none; it stops at the first that reaches the threshold.
    fn push_kids(&mut self, node: &Node<F::Board>, threshold: i32) -> i32 {
        let mut settled = NOTHING;
        let mut columns = self.field.candidates(&node.board);
        while columns != 0 {
            let column = columns.trailing_zeros();
            columns &= columns - 1;
            let Some((board, captured)) = self.field.sow(&node.board, column as usize) else {
                continue;
            };
            let seeds = node.seeds - captured;
            if let Some(table) = self.table
                && seeds <= self.table_seeds
            {
                settled = settled.max(captured - self.field.table_value(table, &board));
                if settled >= threshold {
                    return settled;
                }
            } else if seeds + captured < threshold {
                // Not even all that lies on the board would do.
                settled = settled.max(seeds + captured);
            } else {
                self.kids.push(Kid {
                    node: Node {
                        board,
                        key: self.field.key(&board),
                        seeds,
                    },
                    captured,
                    column: column as u8,
                    order: 0,
                });
            }
        }
        settled
    }

    /// Takes out the moves that the memory settles and returns the best of them with `settled`;
    /// `Err` with column and bound if one of them reaches the threshold.
    fn drop_known(
        &mut self,
        base: usize,
        mut settled: i32,
        threshold: i32,
    ) -> Result<i32, (u8, i32)> {
        // All lines are asked for before the first is needed.
        let touched = self.kids[base..]
            .iter()
            .fold(0, |sum, kid| sum ^ self.memory.touch(kid.node.key));
        std::hint::black_box(touched);
        let mut index = base;
        while let Some(kid) = self.kids.get(index) {
            if let Some(entry) = self.memory.probe(kid.node.key) {
                let (least, most) = (kid.captured - entry.upper, kid.captured - entry.lower);
                if least >= threshold {
                    return Err((kid.column, least));
                }
                if most < threshold {
                    settled = settled.max(most);
                    self.kids.swap_remove(index);
                    continue;
                }
            }
            index += 1;
        }
        Ok(settled)
    }

    /// Puts the likely answers first: the move kept, then captures, then moves that leave the other
    /// side few pits to choose from.
    fn order_kids(&mut self, base: usize, first: u8) {
        for kid in &mut self.kids[base..] {
            let choices = self.field.candidates(&kid.node.board).count_ones() as i32;
            kid.order = 16 * (kid.captured - choices);
            if self.salt != 0 {
                kid.order += (kid.node.key.place as u32 ^ self.salt) as i32 & 15;
            }
            if kid.column == first {
                kid.order += 1 << 20;
            }
        }
        self.kids[base..].sort_unstable_by_key(|kid| (-kid.order, kid.column));
    }

    /// Asks the other side about every open move until one reaches the threshold.
    fn try_kids(
        &mut self,
        node: &Node<F::Board>,
        question: Question,
        base: usize,
        settled: i32,
        entry: &mut Entry,
    ) -> Verdict {
        self.order_kids(base, entry.column);
        self.path.resize(question.ply + 1, 0);
        self.path[question.ply] = node.key.tag;
        let mut verdict = Verdict::proven(settled);
        let mut best = NO_COLUMN;
        for index in base..self.kids.len() {
            let kid = self.kids[index];
            let answer = self.test(
                &kid.node,
                Question {
                    threshold: kid.captured - question.threshold + 1,
                    depth: question.depth - 1,
                    ply: question.ply + 1,
                    since: if kid.captured > 0 {
                        question.ply + 1
                    } else {
                        question.since
                    },
                },
            );
            if self.stopped {
                return Verdict::guessed(0);
            }
            let bound = kid.captured - answer.bound;
            if bound >= question.threshold {
                best = kid.column;
                verdict = Verdict { bound, ..answer };
                break;
            }
            verdict.proven &= answer.proven;
            verdict.leans_on = verdict.leans_on.min(answer.leans_on);
            if bound > verdict.bound || best == NO_COLUMN {
                best = kid.column;
            }
            verdict.bound = verdict.bound.max(bound);
        }
        if verdict.leans_on >= question.ply {
            verdict.leans_on = FREE;
        }
        if !verdict.proven || verdict.leans_on == FREE {
            self.keep(node, question, verdict, best, entry);
        }
        verdict
    }

    /// Keeps a verdict that leans on nothing, or a guess.
    fn keep(
        &self,
        node: &Node<F::Board>,
        question: Question,
        verdict: Verdict,
        best: u8,
        entry: &mut Entry,
    ) {
        let above = verdict.bound >= question.threshold;
        if above || entry.column == NO_COLUMN {
            entry.column = best;
        }
        match (verdict.proven, above) {
            (true, true) => entry.lower = entry.lower.max(verdict.bound),
            (true, false) => entry.upper = entry.upper.min(verdict.bound),
            (false, _) => {}
        }
        let depth = question.depth.clamp(0, 255) as u8;
        if !verdict.proven || depth > entry.depth {
            entry.guess = verdict.bound;
            entry.above = above;
            entry.depth = depth;
        }
        self.memory.store(node.key, *entry);
    }
}

/// Answers a question from what is known.
fn known(entry: &Entry, question: Question) -> Option<Verdict> {
    let threshold = question.threshold;
    if entry.lower >= threshold {
        return Some(Verdict::proven(entry.lower));
    }
    if entry.upper < threshold {
        return Some(Verdict::proven(entry.upper));
    }
    let searched = entry.depth > 0 && i32::from(entry.depth) >= question.depth;
    let answers = entry.above == (entry.guess >= threshold);
    (searched && answers).then_some(Verdict::guessed(entry.guess))
}
