pub(super) mod events;
pub(super) mod read;
pub(super) mod why;
pub(super) mod ws;
