pub(super) mod export;
pub(super) mod import;
