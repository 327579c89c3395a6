//! Symmetric matrices with a Cholesky factor: as much linear algebra as a fit needs.

/// A symmetric positive definite matrix `M[n, n]`, row by row, of which the lower half counts.
#[derive(Clone, Debug)]
pub(super) struct Symmetric {
    size: usize,
    cells: Vec<f64>,
}

/// The lower triangle `L` with `L Lᵀ = M`.
#[derive(Clone, Debug)]
pub(super) struct Factor(Symmetric);

impl Symmetric {
    pub(super) fn zeros(size: usize) -> Symmetric {
        Symmetric {
            size,
            cells: vec![0.0; size * size],
        }
    }

    /// Adds `value` to the cells (row, column) and (column, row).
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        let (row, column) = (row.max(column), row.min(column));
        self.cells[row * self.size + column] += value;
    }

    /// Adds `weight * v vᵀ` for a vector that is zero but for a few entries.
    pub(super) fn add_square(&mut self, weight: f64, entries: &[(usize, f64)]) {
        for (i, &(row, left)) in entries.iter().enumerate() {
            for &(column, right) in &entries[..=i] {
                self.add(row, column, weight * left * right);
            }
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row.max(column) * self.size + row.min(column)]
    }

    /// Returns `aᵀ M b`.
    pub(super) fn form(&self, a: &[f64], b: &[f64]) -> f64 {
        let row = |i: usize| -> f64 { (0..self.size).map(|j| self.at(i, j) * b[j]).sum() };
        (0..self.size)
            .filter(|&i| a[i] != 0.0)
            .map(|i| a[i] * row(i))
            .sum()
    }

    /// Returns the Cholesky factor, `None` if the matrix is not positive definite.
    pub(super) fn factor(mut self) -> Option<Factor> {
        let size = self.size;
        for column in 0..size {
            for row in column..size {
                let (left, right) = (row * size, column * size);
                let known: f64 = (0..column)
                    .map(|k| self.cells[left + k] * self.cells[right + k])
                    .sum();
                let rest = self.cells[left + column] - known;
                self.cells[left + column] = if row > column {
                    rest / self.cells[right + column]
                } else if rest > 0.0 && rest.is_finite() {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Factor(self))
    }
}

impl Factor {
    /// Solves `M x = b`.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (size, cells) = (self.0.size, &self.0.cells);
        let mut x = b.to_vec();
        for row in 0..size {
            let known: f64 = (0..row).map(|k| cells[row * size + k] * x[k]).sum();
            x[row] = (x[row] - known) / cells[row * size + row];
        }
        for row in (0..size).rev() {
            let known: f64 = (row + 1..size).map(|k| cells[k * size + row] * x[k]).sum();
            x[row] = (x[row] - known) / cells[row * size + row];
        }
        x
    }

    /// Returns `M⁻¹ B M⁻¹`.
    pub(super) fn sandwich(&self, filling: &Symmetric) -> Symmetric {
        let size = self.0.size;
        let solved: Vec<Vec<f64>> = (0..size)
            .map(|row| {
                let cells: Vec<f64> = (0..size).map(|column| filling.at(row, column)).collect();
                self.solve(&cells)
            })
            .collect();
        let mut sandwich = Symmetric::zeros(size);
        for column in 0..size {
            let cells: Vec<f64> = solved.iter().map(|row| row[column]).collect();
            for (row, value) in self.solve(&cells).into_iter().enumerate().skip(column) {
                sandwich.add(row, column, value);
            }
        }
        sandwich
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::Symmetric;

    fn example() -> Symmetric {
        let mut matrix = Symmetric::zeros(3);
        matrix.add_square(1.0, &[(0, 2.0), (1, 1.0)]);
        matrix.add_square(2.0, &[(1, 1.0), (2, -3.0)]);
        matrix.add_square(0.5, &[(0, 1.0), (2, 1.0)]);
        matrix
    }

    #[test]
    fn a_solution_solves() {
        let (matrix, b) = (example(), [1.0, -2.0, 0.5]);
        let x = matrix.clone().factor().expect("positive").solve(&b);
        for (row, wanted) in b.into_iter().enumerate() {
            let mut unit = [0.0; 3];
            unit[row] = 1.0;
            assert!((matrix.form(&unit, &x) - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn a_sandwich_filled_with_the_matrix_is_its_inverse() {
        let matrix = example();
        let factor = matrix.clone().factor().expect("positive");
        let inverse = factor.sandwich(&matrix);
        let unit = [0.0, 1.0, 0.0];
        let column = factor.solve(&unit);
        for (row, wanted) in column.into_iter().enumerate() {
            let mut other = [0.0; 3];
            other[row] = 1.0;
            let found = inverse.form(&other, &unit);
            assert!((found - wanted).abs() < 1e-10, "{found} {wanted}");
        }
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        let mut matrix = example();
        matrix.add(1, 1, -100.0);
        assert!(matrix.factor().is_none());
    }
}
