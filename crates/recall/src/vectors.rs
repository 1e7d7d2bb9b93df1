//! Vectors of passages, as a model of another gives them: passages that mean much the same have vectors that point the same
//! way. Each number has eight bits.

/// A vector of length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    numbers: Box<[i8]>,
    /// With what each number is multiplied.
    scale: f32,
}

impl Vector {
    /// The direction of a vector; `None` where it has none.
    pub fn new(numbers: &[f32]) -> Option<Self> {
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        Self::from_parts(numbers.iter().map(|number| (number / largest * 127.0).round() as i8).collect())
    }

    /// The vector of which these are the [`numbers`](Self::numbers).
    pub fn from_parts(numbers: Box<[i8]>) -> Option<Self> {
        let squares = dot(&numbers, &numbers);
        (squares > 0).then(|| Self { numbers, scale: 1.0 / (squares as f32).sqrt() })
    }

    /// Its numbers, in a scale of their own.
    pub fn numbers(&self) -> &[i8] {
        &self.numbers
    }
}

/// The vectors of the passages of an index, by number. They come in the order of the passages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vectors {
    dimension: usize,
    numbers: Vec<i8>,
    /// For each passage; 0 where it has no vector.
    scales: Vec<f32>,
}

impl Vectors {
    /// The first passage that has not got its vector yet.
    pub(crate) fn next(&self) -> usize {
        self.scales.len()
    }

    /// How much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.len() + self.scales.len() * size_of::<f32>()
    }

    /// Adds the vector of the next passage, or that it has none. With another dimension, those before it have none any more.
    pub(crate) fn push(&mut self, vector: Option<&Vector>) {
        if let Some(vector) = vector
            && vector.numbers.len() != self.dimension
        {
            self.dimension = vector.numbers.len();
            self.scales.fill(0.0);
            self.numbers = vec![0; self.scales.len() * self.dimension];
        }
        self.scales.push(vector.map_or(0.0, |vector| vector.scale));
        match vector {
            Some(vector) => self.numbers.extend_from_slice(&vector.numbers),
            None => self.numbers.resize(self.scales.len() * self.dimension, 0),
        }
    }

    /// Takes the vector of a passage away.
    pub(crate) fn remove(&mut self, passage: u32) {
        let begin = passage as usize * self.dimension;
        if let Some(scale) = self.scales.get_mut(passage as usize) {
            *scale = 0.0;
            self.numbers.iter_mut().skip(begin).take(self.dimension).for_each(|number| *number = 0);
        }
    }

    /// How much the vector of a passage points the way of `question`, from -1 to 1; 0 where it has none.
    pub(crate) fn cos(&self, passage: u32, question: &Vector) -> f32 {
        let (scale, numbers) = self.of(passage);
        if numbers.len() != question.numbers.len() {
            return 0.0;
        }
        dot(numbers, &question.numbers) as f32 * scale * question.scale
    }

    /// The same of the sum of several vectors, each with a weight.
    pub(crate) fn cos_of_sum(&self, passages: &[(u32, f32)], question: &Vector) -> f32 {
        let mut sum = vec![0.0_f32; self.dimension];
        if sum.len() != question.numbers.len() {
            return 0.0;
        }
        for (passage, weight) in passages {
            let (scale, numbers) = self.of(*passage);
            let weight = weight * scale;
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += weight * f32::from(*number));
        }
        let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        let along: f32 = sum.iter().zip(&question.numbers).map(|(number, of)| number * f32::from(*of)).sum();
        if length > 0.0 { along * question.scale / length } else { 0.0 }
    }

    fn of(&self, passage: u32) -> (f32, &[i8]) {
        let begin = (passage as usize).saturating_mul(self.dimension);
        let scale = self.scales.get(passage as usize).copied().unwrap_or_default();
        (scale, self.numbers.get(begin..begin.saturating_add(self.dimension)).unwrap_or_default())
    }
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(all: &[Option<&[f32]>]) -> Vectors {
        let mut vectors = Vectors::default();
        all.iter().for_each(|one| vectors.push(one.and_then(Vector::new).as_ref()));
        vectors
    }

    #[test]
    fn eight_bits_a_number_keep_the_direction() {
        let exact: Vec<f32> =
            (0..384_u32).map(|number| (number.wrapping_mul(2_654_435_761) % 1000) as f32 - 480.0).collect();
        let other: Vec<f32> = exact.iter().enumerate().map(|(at, number)| number + (at % 7) as f32 * 90.0).collect();
        let cos = |a: &[f32], b: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let (question, there) = (Vector::new(&exact).unwrap(), vectors(&[Some(&other)]));
        assert!((there.cos(0, &question) - cos(&exact, &other)).abs() < 0.005);
        assert_eq!(Vector::from_parts(question.numbers().into()), Some(question));
    }

    #[test]
    fn what_has_no_direction_has_no_vector() {
        for none in [&[0.0, 0.0][..], &[], &[f32::INFINITY, 1.0]] {
            assert_eq!(Vector::new(none), None);
        }
    }

    #[test]
    fn a_passage_without_a_vector_is_like_no_question() {
        let question = Vector::new(&[1.0, 0.0]).unwrap();
        let mut there = vectors(&[None, Some(&[1.0, 0.0]), None, Some(&[0.0, 3.0])]);
        let all = |there: &Vectors| (0..5).map(|passage| there.cos(passage, &question)).collect::<Vec<_>>();
        assert_eq!((all(&there), there.next()), (vec![0.0, 1.0, 0.0, 0.0, 0.0], 4));
        let sum = there.cos_of_sum(&[(0, 1.0), (1, 1.0), (3, 1.0)], &question);
        assert!((sum - 0.5_f32.sqrt()).abs() < 1e-3, "{sum}");
        there.remove(1);
        assert_eq!(all(&there), [0.0; 5]);
        assert_eq!(there.cos_of_sum(&[(1, 1.0)], &question), 0.0);
        assert_eq!(there.cos(3, &Vector::new(&[1.0]).unwrap()), 0.0);
    }

    #[test]
    fn another_dimension_begins_anew() {
        let there = vectors(&[Some(&[1.0, 0.0]), Some(&[1.0, 0.0, 0.0])]);
        let question = Vector::new(&[1.0, 0.0, 0.0]).unwrap();
        assert_eq!((there.cos(0, &question), there.cos(1, &question), there.next()), (0.0, 1.0, 2));
    }
}
