//! The lockstep engine: many games advanced together, ply by ply.
//!
//! Axis letters of every array: `B` rows (games), `N = 2C` pits, `C` columns (actions), `T` plies.
