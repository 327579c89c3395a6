"""Tournaments, matches, sequential tests, ratings; regret against perfect play; the suite."""

from endodoi.benchmark import benchmark
from endodoi.books import Book, balanced, book
from endodoi.faults import PlayerFaults
from endodoi.ratings import Draws, Estimate, FirstMove, PlayerRating, Ratings, ratings
from endodoi.regret import Answer, Exam, Regret, RegretPart, regret
from endodoi.report_card import CardComparison, ReportCard, stored_cards
from endodoi.sequential import sprt
from endodoi.series import Match, MatchGame, match
from endodoi.sprt import Sprt, SprtResult
from endodoi.tournament import (
    Chunk,
    Games,
    PairingStanding,
    PlayerStanding,
    SouthStanding,
    Standings,
    Tournament,
    tournament,
)

__all__ = [
    "Answer",
    "Book",
    "CardComparison",
    "Chunk",
    "Draws",
    "Estimate",
    "Exam",
    "FirstMove",
    "Games",
    "Match",
    "MatchGame",
    "PairingStanding",
    "PlayerFaults",
    "PlayerRating",
    "PlayerStanding",
    "Ratings",
    "Regret",
    "RegretPart",
    "ReportCard",
    "SouthStanding",
    "Sprt",
    "SprtResult",
    "Standings",
    "Tournament",
    "balanced",
    "benchmark",
    "book",
    "match",
    "ratings",
    "regret",
    "sprt",
    "stored_cards",
    "tournament",
]
