//! Vectors of texts: texts that mean much the same have vectors that point the same way.

use async_trait::async_trait;

use crate::ModelError;

/// A model that gives texts their vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The name of the model. Only vectors of the same model can be compared.
    fn model(&self) -> &str;

    /// The vector of each text, in this order. All have one dimension and the length 1, or are zeros where the model has none
    /// for the text.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// Brings `vector` to the length 1. One without a direction stays as it is: zeros. Anything else is an error that says why.
pub(crate) fn normalise(vector: &mut [f32]) -> Result<(), &'static str> {
    if !vector.iter().all(|number| number.is_finite()) {
        return Err("holds a number that is not finite");
    }
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length == 0.0 {
        return Ok(());
    }
    #[allow(clippy::cast_possible_truncation, reason = "no part is longer than the whole, which becomes 1")]
    vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    Ok(())
}
