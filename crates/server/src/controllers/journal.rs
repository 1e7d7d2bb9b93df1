pub(super) mod events;
pub(super) mod read;
pub(super) mod ws;
