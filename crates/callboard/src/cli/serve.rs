//! `callboard serve`.

use std::path::PathBuf;

use clap::Args;

use crate::parse::{self, Sweep};

const EXAMPLES: &str = "\
Examples:
  callboard serve
  callboard serve --listen 127.0.0.1:0 --store sqlite:team.db --json
  callboard serve --listen 0.0.0.0:7420 --user-token-file tokens.txt --tls-certificate cert.pem --tls-key key.pem

Ctrl-C, or SIGTERM, ends it in order; a second one at once. Runs that have not ended go on when it is started again, or at another server of the store.";

/// Serve sessions over HTTP
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Where to listen; port 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    pub(crate) listen: String,
    /// The folder for what is not in the store: the key of tokens and the server's name. By default that of the SQLite file
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The folder of a project: the context files in its .tmp/sessions belong to the sessions of the same names
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// How often what has expired is removed
    #[arg(long, value_name = "N|off", default_value = "60", value_parser = parse::sweep)]
    pub(crate) sweep_seconds: Sweep,
    /// The certificate and those that vouch for it, in PEM: then it speaks HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A file with a token a line: then nobody is let in without one. CALLBOARD_USER_TOKENS has some, too
    #[arg(long, value_name = "FILE")]
    pub(crate) user_token_file: Option<PathBuf>,
    /// A name by which it may be called, besides those of this machine; can be given again
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// An origin whose pages may call it: its scheme and host; can be given again
    #[arg(long = "origin", value_name = "URL", value_parser = parse::origin)]
    pub(crate) origins: Vec<String>,
}
