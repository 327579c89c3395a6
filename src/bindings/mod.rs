//! The Python extension module `endodoi._core`.
//!
//! The only code that knows Python. Nothing here decides anything about the games: arguments are
//! read and checked, the core does the work, its errors become exceptions of `endodoi.errors`.

// The docs of classes and methods are Python docstrings, in reStructuredText.
#![allow(clippy::doc_markdown)]

mod actions;
mod agents;
mod alpha_beta;
mod arena;
mod arguments;
mod arrays;
mod batch;
mod entered;
mod errors;
mod finals;
mod game_table;
mod machine;
mod mcts;
mod opponent;
mod out;
mod picture;
mod player;
mod position;
mod ratings;
mod record;
mod regret;
mod ruleset;
mod seeds;
mod simulate;
mod solver;
mod sowing;
mod sprt;
mod statistics;
mod tables;

use pyo3::prelude::*;

/// What `__reduce__` returns: a callable and its arguments.
type Reduced<'py, Arguments> = (Bound<'py, PyAny>, Arguments);

/// The core of the package endodoi: rules, positions, batches of games, players, simulation.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::agents::{
        agent_features, agent_file, evaluate_agent, read_agent, set_agents_folder, shipped_names,
        write_agent,
    };
    #[pymodule_export]
    use super::alpha_beta::analyse_alpha_beta;
    #[pymodule_export]
    use super::arena::{PyTournament, PyTournamentGames, different, read_book};
    #[pymodule_export]
    use super::batch::PyBatch;
    #[pymodule_export]
    use super::game_table::PyGameTable;
    #[pymodule_export]
    use super::machine::{chosen_instructions, default_threads, instruction_sets};
    #[pymodule_export]
    use super::mcts::analyse_mcts;
    #[pymodule_export]
    use super::picture::{pixels, svg_of_game};
    #[pymodule_export]
    use super::player::{PyPlayer, random_actions};
    #[pymodule_export]
    use super::position::PyPosition;
    #[pymodule_export]
    use super::ratings::fit_ratings;
    #[pymodule_export]
    use super::record::PyGameRecord;
    #[pymodule_export]
    use super::regret::PyExam;
    #[pymodule_export]
    use super::ruleset::PyRuleset;
    #[pymodule_export]
    use super::simulate::{committee_name, sample_size, simulate};
    #[pymodule_export]
    use super::solver::PySolver;
    #[pymodule_export]
    use super::sowing::PySowing;
    #[pymodule_export]
    use super::sprt::PySprt;
    #[pymodule_export]
    use super::statistics::PyStatistics;
    #[pymodule_export]
    use super::tables::PyEndgameTable;

    /// The version of the core.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
