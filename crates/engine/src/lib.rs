//! Callboard.
