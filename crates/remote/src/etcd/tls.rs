//! TLS to the members of etcd: whom to believe, and what this clone shows of itself. Nothing is worked out before the first
//! connection that needs it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Whom to believe and what to show, as the contents of PEM files.
#[derive(Clone, Default)]
pub struct Tls {
    /// Whose certificates are believed.
    pub authorities: Vec<u8>,
    /// The certificate that is shown and its key, where the cluster wants one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("has_identity", &self.identity.is_some()).finish_non_exhaustive()
    }
}

impl Tls {
    /// How connections are made.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authorities, "the authorities")? {
            roots.add(certificate).map_err(|error| format!("the authorities: {error}"))?;
        }
        if roots.is_empty() {
            return Err("no authority is known whose certificates are believed: coordination.tls_ca".into());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots);
        let Some((certificate, key)) = &self.identity else {
            return Ok(Arc::new(config.with_no_client_auth()));
        };
        // What is wrong with a key is not repeated: it may show the key.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "coordination.tls_key has no key in PEM")?;
        let config = config.with_client_auth_cert(certificates(certificate, "coordination.tls_cert")?, key);
        config.map(Arc::new).map_err(|error| format!("coordination.tls_cert and tls_key: {error}"))
    }
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| format!("{what}: {error}"))?;
    if all.is_empty() { Err(format!("{what}: there is no certificate in PEM")) } else { Ok(all) }
}

/// A way to a member, in the open or not.
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// A way over `socket` to a member that shows that it is `host`. Nothing was sent if it does not.
    pub(super) fn secure(socket: TcpStream, host: &str, config: &Arc<ClientConfig>) -> Result<Self, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let mut connection =
            ClientConnection::new(Arc::clone(config), name).map_err(|error| error.to_string())?;
        let mut socket = socket;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(|error| error.to_string())?;
        }
        Ok(Self::Secure(Box::new(StreamOwned::new(connection, socket))))
    }

    /// How long one call may take.
    pub(super) fn set_limit(&self, left: Duration) -> io::Result<()> {
        let socket = match self {
            Self::Plain(socket) => socket,
            Self::Secure(stream) => &stream.sock,
        };
        socket.set_read_timeout(Some(left))?;
        socket.set_write_timeout(Some(left))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Secure(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tls;

    #[test]
    fn what_is_no_certificate_is_said_and_a_key_is_not_repeated() {
        let nothing = Tls::default().config().unwrap_err();
        assert!(nothing.contains("there is no certificate"), "{nothing}");
        let garbage = b"-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n".to_vec();
        assert!(Tls { authorities: garbage, identity: None }.config().is_err());
    }
}
