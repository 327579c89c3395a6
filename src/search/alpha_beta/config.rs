//! What a search is asked for, and why it may be refused.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::position::EndReason;

/// The deepest search that may be asked for, in plies.
pub const MAX_DEPTH: u32 = 64;

/// The longest search that may be asked for.
pub const MAX_TIME: Duration = Duration::from_secs(1_000_000);

/// The largest table of positions that may be asked for.
pub const MAX_TABLE_BYTES: u64 = 1 << 40;

/// The most threads that may search one position.
pub const MAX_THREADS: u32 = 256;

/// When an alpha-beta search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchLimit {
    /// After so many plies, 1 to [`MAX_DEPTH`]: exactly `alphabeta:N`.
    Depth(u32),
    /// After so many positions visited, 1 or more; one ply is always searched to its end.
    Nodes(u64),
    /// After this time, above 0 and at most [`MAX_TIME`]; one ply is always searched to its end.
    Time(Duration),
}

/// The settings of an alpha-beta search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaBetaConfig {
    /// When it ends.
    pub limit: SearchLimit,
    /// Bytes of the transposition table, at most [`MAX_TABLE_BYTES`], rounded down to a power of
    /// two; below 16 KiB there is none. `None` for a size that fits the limit.
    pub table_bytes: Option<u64>,
    /// Threads that search one position together, 1 to [`MAX_THREADS`], and 1 under
    /// [`SearchLimit::Nodes`]. At a fixed depth they change neither move nor value.
    pub threads: u32,
}

impl AlphaBetaConfig {
    /// Takes a limit, a table that fits it, and one thread.
    pub const fn new(limit: SearchLimit) -> AlphaBetaConfig {
        AlphaBetaConfig {
            limit,
            table_bytes: None,
            threads: 1,
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`SearchError`] names the first setting out of its range.
    pub fn check(&self) -> Result<(), SearchError> {
        let threads = self.threads;
        match self.limit {
            SearchLimit::Depth(depth) if !(1..=MAX_DEPTH).contains(&depth) => {
                return Err(SearchError::DepthRange { depth });
            }
            SearchLimit::Nodes(0) => return Err(SearchError::NodesRange { nodes: 0 }),
            SearchLimit::Time(time) if time.is_zero() || time > MAX_TIME => {
                return Err(SearchError::SecondsRange { time });
            }
            _ => {}
        }
        if let Some(bytes) = self.table_bytes.filter(|&bytes| bytes > MAX_TABLE_BYTES) {
            return Err(SearchError::TableRange { bytes });
        }
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(SearchError::ThreadsRange { threads });
        }
        if threads > 1 && matches!(self.limit, SearchLimit::Nodes(_)) {
            return Err(SearchError::NodesNeedOneThread { threads });
        }
        Ok(())
    }

    /// Returns the bytes of the table: those asked for, or as many as the search is likely to
    /// fill, so that short searches stay in the nearest cache.
    pub(super) fn table_size(&self) -> u64 {
        self.table_bytes.unwrap_or(match self.limit {
            SearchLimit::Depth(0..=2) => 0,
            SearchLimit::Depth(depth) => 1 << (10 + depth).clamp(14, 26),
            SearchLimit::Nodes(nodes) => nodes.saturating_mul(16).clamp(1 << 14, 1 << 26),
            SearchLimit::Time(_) => 1 << 26,
        })
    }
}

impl AlphaBetaConfig {
    /// Searches so many plies.
    pub const fn of_depth(depth: u32) -> AlphaBetaConfig {
        AlphaBetaConfig::new(SearchLimit::Depth(depth))
    }

    /// Reads what [`AlphaBetaConfig`] writes; `None` for any other text and for settings out of
    /// their range.
    pub(crate) fn parse(text: &str) -> Option<AlphaBetaConfig> {
        let mut parts = text.split('@');
        let limit = parts.next()?;
        let limit = match limit.split_once('=') {
            None => SearchLimit::Depth(whole(limit)?),
            Some(("nodes", nodes)) => SearchLimit::Nodes(whole(nodes)?),
            Some(("seconds", seconds)) => {
                let plain = seconds.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                let seconds = seconds.parse().ok().filter(|_| plain)?;
                SearchLimit::Time(Duration::try_from_secs_f64(seconds).ok()?)
            }
            Some(_) => return None,
        };
        let mut config = AlphaBetaConfig::new(limit);
        let mut options = parts.peekable();
        if let Some(option) = options.peek()
            && let Some(bytes) = option.strip_prefix("table=")
        {
            config.table_bytes = Some(whole(bytes)?);
            options.next();
        }
        if let Some(option) = options.next() {
            config.threads = whole(option.strip_prefix("threads=")?)?;
        }
        (options.next().is_none() && config.check().is_ok()).then_some(config)
    }
}

/// Reads a whole number, digits only.
fn whole<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

impl fmt::Display for AlphaBetaConfig {
    /// Writes what follows `alphabeta:` in the specification of the player.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            SearchLimit::Depth(depth) => write!(f, "{depth}")?,
            SearchLimit::Nodes(nodes) => write!(f, "nodes={nodes}")?,
            SearchLimit::Time(time) => write!(f, "seconds={}", time.as_secs_f64())?,
        }
        if let Some(bytes) = self.table_bytes {
            write!(f, "@table={bytes}")?;
        }
        if self.threads != 1 {
            write!(f, "@threads={}", self.threads)?;
        }
        Ok(())
    }
}

/// Why a search is refused, or broken off.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SearchError {
    /// No such depth.
    #[error("depth is {depth}, expected 1 to {MAX_DEPTH}")]
    DepthRange {
        /// The depth given.
        depth: u32,
    },
    /// No positions to visit.
    #[error("nodes is {nodes}, expected 1 or more")]
    NodesRange {
        /// The number given.
        nodes: u64,
    },
    /// No time, or too much.
    #[error(
        "seconds is {seconds}, expected more than 0 and at most {most}",
        seconds = time.as_secs_f64(),
        most = MAX_TIME.as_secs()
    )]
    SecondsRange {
        /// The time given.
        time: Duration,
    },
    /// A table too large.
    #[error("table_bytes is {bytes}, expected 0 to {MAX_TABLE_BYTES}")]
    TableRange {
        /// The size given.
        bytes: u64,
    },
    /// No threads, or too many.
    #[error("threads is {threads}, expected 1 to {MAX_THREADS}")]
    ThreadsRange {
        /// The number given.
        threads: u32,
    },
    /// Threads that share a table visit other positions each time.
    #[error("threads is {threads}, expected 1 where nodes limits the search")]
    NodesNeedOneThread {
        /// The number given.
        threads: u32,
    },
    /// The units of a leaf evaluator do not fit.
    #[error("units of the leaf evaluator are {units}, expected 1 to 256")]
    UnitsRange {
        /// The units given.
        units: i32,
    },
    /// There is nothing to search.
    #[error("the game is over ({reason}): there is no move to search", reason = reason.name())]
    Over {
        /// How it ended.
        reason: EndReason,
    },
    /// The interrupt flag was set while the search went on.
    #[error("the search was interrupted")]
    Interrupted,
}
