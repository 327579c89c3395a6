//! Paired matches between players, with intervals.
