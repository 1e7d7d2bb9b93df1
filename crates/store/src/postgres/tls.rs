//! Encrypted connections, with the options of libpq.

use std::{fmt, path::PathBuf, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The options of a URL about encryption.
#[derive(Clone, Debug, Default)]
pub(super) struct Tls {
    mode: Mode,
    /// The file with root certificates; `None` for those of the system.
    root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Disable,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Tls {
    /// Takes an option of a URL if it is about encryption.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        match name {
            "sslmode" => {
                self.mode = match value {
                    "disable" => Mode::Disable,
                    "require" => Mode::Require,
                    "verify-ca" => Mode::VerifyCa,
                    "verify-full" => Mode::VerifyFull,
                    _ => return Some(Err("`sslmode` is disable, require, verify-ca or verify-full".to_owned())),
                }
            }
            "sslrootcert" => {
                self.root = Some(value.replace("%2F", "/").into()).filter(|path| path != &PathBuf::from("system"))
            }
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Whether the driver is to encrypt.
    pub(super) fn mode(&self) -> SslMode {
        if self.mode == Mode::Disable { SslMode::Disable } else { SslMode::Require }
    }

    /// The connector, or why there can be none.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?.dangerous();
        let verifier = Arc::new(Verifier { mode: self.mode, chain: self.chain(&provider)?, provider });
        Ok(MakeRustlsConnect::new(config.with_custom_certificate_verifier(verifier).with_no_client_auth()))
    }

    /// The verifier of the server's certificate chain, if the mode asks for one.
    fn chain(&self, provider: &Arc<CryptoProvider>) -> Result<Option<Arc<WebPkiServerVerifier>>, String> {
        let is_asked_for = match self.mode {
            Mode::Disable => false,
            // As in libpq, a named root certificate is used.
            Mode::Require => self.root.is_some(),
            Mode::VerifyCa | Mode::VerifyFull => true,
        };
        if !is_asked_for {
            return Ok(None);
        }
        let roots = Arc::new(self.roots()?);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
        verifier.map(Some).map_err(|error| error.to_string())
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        let Some(path) = &self.root else {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err("this system has no root certificates: name a file with `sslrootcert=`".to_owned());
            }
            return Ok(roots);
        };
        let wrong = |why: String| format!("the certificates of `sslrootcert={}` cannot be used: {why}", path.display());
        let found = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
        for certificate in found {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() { Err(wrong("the file has none".to_owned())) } else { Ok(roots) }
    }
}

/// Verifies the certificate of a server as far as the mode requires.
struct Verifier {
    mode: Mode,
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.mode != Mode::VerifyFull => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("mode", &self.mode).finish_non_exhaustive()
    }
}
