//! Why a server does not start.

use std::path::PathBuf;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Anybody on the network could do anything, since no token is set.
    #[error(
        "other machines can reach {address}, and no token is set: give a file with user tokens, or listen on 127.0.0.1"
    )]
    NoTokens {
        /// The address to listen on.
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
    /// The system gives no random numbers for access tokens.
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(getrandom::Error),
    /// The listener failed.
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}
