pub(super) mod document;
pub(super) mod health;
pub(super) mod metrics;
pub(super) mod page;
