//! Exams as text, so that what took long to value is valued once.

use serde::{Deserialize, Serialize};

use crate::arena::regret::{Exam, ExamConfig, MoveWorth, Question, RegretError};
use crate::position::Position;
use crate::ruleset::Ruleset;

const FORMAT: &str = "endodoi-exam";

const FORMAT_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    format_version: u32,
    ruleset: Ruleset,
    seed: u64,
    reference: String,
    /// The place of the first question and questions of the whole exam, in a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<[u32; 2]>,
    questions: Vec<Row>,
}

/// A position, what each legal column is worth in ascending order, and whether it was proved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    position: String,
    margins: Vec<i32>,
    proven: bool,
}

impl Exam {
    /// Writes the exam as JSON.
    ///
    /// # Errors
    /// [`RegretError::File`] with the serialiser's refusal.
    pub fn to_json(&self) -> Result<String, RegretError> {
        let row = |asked: &Question| Row {
            position: asked.position.to_string(),
            margins: asked.moves.iter().map(|worth| worth.margin).collect(),
            proven: asked.proven,
        };
        let document = Document {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            ruleset: self.config.ruleset,
            seed: self.config.seed,
            reference: self.config.reference.to_string(),
            part: self
                .is_part()
                .then_some([self.first, self.config.positions]),
            questions: self.questions.iter().map(row).collect(),
        };
        serde_json::to_string(&document).map_err(|error| refused(&error))
    }

    /// Reads the exam that [`Exam::to_json`] wrote, if it is the one that `config` asks for.
    ///
    /// # Errors
    /// [`RegretError::File`] when the text is of another exam, of another format version, or
    /// damaged.
    pub fn from_json(config: &ExamConfig, text: &str) -> Result<Exam, RegretError> {
        config.check()?;
        let read: Document = serde_json::from_str(text).map_err(|error| refused(&error))?;
        if (read.format.as_str(), read.format_version) != (FORMAT, FORMAT_VERSION) {
            return Err(refused(&format!(
                "{} version {}, this program reads {FORMAT} version {FORMAT_VERSION}",
                read.format, read.format_version
            )));
        }
        let questions = read.questions.len();
        let [first, positions] = read.part.unwrap_or([0, questions as u32]);
        if u64::from(first) + questions as u64 > u64::from(positions) {
            return Err(refused(&format!(
                "{questions} questions from place {first} on, in an exam of {positions}"
            )));
        }
        let asked = (
            read.ruleset,
            read.seed,
            read.reference.as_str(),
            positions as usize,
        );
        let reference = config.reference.to_string();
        let wanted = (
            config.ruleset,
            config.seed,
            reference.as_str(),
            config.positions as usize,
        );
        if asked != wanted {
            return Err(refused(&format!(
                "{} positions of seed {} on {} valued by {}, not the {} of seed {} on {} by {}",
                asked.3, asked.1, asked.0, asked.2, wanted.3, wanted.1, wanted.0, wanted.2
            )));
        }
        let questions = read.questions.iter();
        Ok(Exam {
            config: *config,
            first,
            questions: questions
                .map(|row| question(row, &config.ruleset))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Exam {
    fn is_part(&self) -> bool {
        self.questions.len() < self.config.positions as usize
    }
}

fn question(row: &Row, ruleset: &Ruleset) -> Result<Question, RegretError> {
    let position = Position::from_text(&row.position, ruleset).map_err(|error| refused(&error))?;
    let legal = position.legal_moves();
    if legal.len() != row.margins.len() || legal.len() < 2 {
        return Err(refused(&format!(
            "{} margins for the {} legal moves of {position}",
            row.margins.len(),
            legal.len()
        )));
    }
    let moves = legal.iter().zip(&row.margins);
    Ok(Question {
        position,
        moves: moves
            .map(|(column, &margin)| MoveWorth {
                column: column as u8,
                margin,
            })
            .collect(),
        proven: row.proven,
    })
}

fn refused(message: &impl ToString) -> RegretError {
    RegretError::File {
        message: message.to_string(),
    }
}
