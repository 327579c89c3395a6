//! The rules once more, slowly, one function a clause, sharing nothing with [`crate::sowing`].
