"""Tournaments between players; regret against perfect play; the benchmark suite."""

from endodoi.benchmark import benchmark
from endodoi.books import Book, balanced, book
from endodoi.regret import Answer, Exam, Regret, RegretPart, regret
from endodoi.report_card import CardComparison, ReportCard, stored_cards
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
    "Exam",
    "Games",
    "PairingStanding",
    "PlayerStanding",
    "Regret",
    "RegretPart",
    "ReportCard",
    "SouthStanding",
    "Standings",
    "Tournament",
    "balanced",
    "benchmark",
    "book",
    "regret",
    "stored_cards",
    "tournament",
]
