//! TLS with certificates from files.
//!
//! It uses rustls with ring, as the rest of Callboard does: no library of the system is needed.

use std::{path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

use crate::{Error, Tls};

/// Accepts TLS connections with the certificate in these files.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Error> {
    let wrong = |path: &Path, why: &dyn std::fmt::Display| Error::Tls { path: path.to_owned(), why: why.to_string() };
    let chain = CertificateDer::pem_file_iter(&tls.certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| wrong(&tls.certificate, &error))?;
    if chain.is_empty() {
        return Err(wrong(&tls.certificate, &"there is no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| wrong(&tls.key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| wrong(&tls.certificate, &error))?;
    let mut config =
        config.with_no_client_auth().with_single_cert(chain, key).map_err(|error| wrong(&tls.key, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
