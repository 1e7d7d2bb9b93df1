pub(super) mod build;
