//! Many games between two players, one row a game, and what they say together.
