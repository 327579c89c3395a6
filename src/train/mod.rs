//! The self-play trainer on libtorch.
