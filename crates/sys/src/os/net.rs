//! Connections over TCP, made within a time.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Connects to a port of a host, by the first of its addresses that answers within `limit`.
///
/// # Errors
/// When the name is not known, or no address answers.
pub fn connect(host: &str, port: u16, limit: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => {
                // Requests are small, and each is waited for.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
