//! The Python extension module `endodoi._core`.
