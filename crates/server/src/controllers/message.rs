pub(super) mod add;
pub(super) mod list;
