//! Why there is no server.

use std::path::PathBuf;

/// Why the server does not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Anybody on the network could do anything.
    #[error(
        "{address} can be reached from elsewhere, and no token is set: give a file with user tokens, or listen on 127.0.0.1"
    )]
    NoTokens {
        /// Where it was to listen.
        address: std::net::SocketAddr,
    },
    /// A file for TLS cannot be used.
    #[error("cannot use {path} for TLS: {why}")]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The folder of the project cannot be used.
    #[error(transparent)]
    Project(callboard_files::Error),
    /// The machine has no randomness to make tokens of.
    #[error("this machine gives no random numbers: {0}")]
    NoRandomness(getrandom::Error),
    /// The listener failed.
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}
