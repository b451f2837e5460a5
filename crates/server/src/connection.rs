//! Connections: where they come from, and how long each may take.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdfast_door::{Clean, Notes, print};
use holdfast_tracker::answers::serve::{ServeOutput, Served};
use holdfast_tracker::error::Result;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::Cli;
use crate::gatekeeper::Gatekeeper;
use crate::place::Place;
use crate::service::Service;
use crate::wire::{Clock, Wire};

/// For how long the head of a request may come in, and for how long a connection may be of no use.
const HEAD: Duration = Duration::from_secs(10);
/// The longest head.
const HEAD_BYTES: usize = 32 << 10;
/// The most headers.
const HEADERS: usize = 64;
/// How long a listener that cannot accept waits.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until a signal comes.
///
/// # Errors
/// When nothing can be listened on.
pub(crate) async fn serve(cli: &Cli, place: Place) -> Result<()> {
    let listener = listen(cli, place.last_port).await?;
    let address = listener.local_addr().map_err(|error| failed("listen on", error))?;
    place.note(address)?;
    let gatekeeper = Gatekeeper::new(place.token.clone(), address, &cli.hosts);
    let service = Arc::new(Service::start(&place, gatekeeper)?);
    let mut ends = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .map(signal)
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(|error| failed("listen for", error))?;
    // Whoever was told where it is may ask it to end.
    say(cli, &place, address);
    let mut ended = std::pin::pin!(std::future::poll_fn(|context| {
        let came = ends.iter_mut().any(|end| end.poll_recv(context).is_ready());
        if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    }));
    loop {
        tokio::select! {
            () = &mut ended => return Ok(()),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => receive(&service, stream),
                // Out of descriptors, most likely: somebody has to go first.
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
        }
    }
}

/// Listens where it is wanted: on the port of last time if nobody says and it is free, so that a page that is open finds the
/// server again.
async fn listen(cli: &Cli, last_port: Option<u16>) -> Result<TcpListener> {
    let here = |port| SocketAddr::from(([127, 0, 0, 1], port));
    if let Some(address) = cli.listen {
        return TcpListener::bind(address).await.map_err(|error| {
            holdfast_sys::Error::new("listen on", Path::new(&address.to_string()), error).into()
        });
    }
    if let Some(port) = last_port
        && let Ok(listener) = TcpListener::bind(here(port)).await
    {
        return Ok(listener);
    }
    TcpListener::bind(here(0)).await.map_err(|error| failed("listen on", error))
}

fn failed(what: &'static str, error: std::io::Error) -> holdfast_tracker::Error {
    holdfast_sys::Error::new(what, Path::new("127.0.0.1"), error).into()
}

/// Says where it is.
fn say(cli: &Cli, place: &Place, address: SocketAddr) {
    let url = format!("http://{address}/#token={}", place.token.text());
    if !address.ip().is_loopback() {
        Notes::new().warning(&format!(
            "{address} can be reached from other machines, and nothing is encrypted: whoever can listen on the way \
             gets the token"
        ));
    }
    let served =
        Served { url, address: address.to_string(), agent_id: place.agent.clone(), pid: std::process::id() };
    let text = match cli.json {
        true => Clean::json(&ServeOutput { server: served }),
        false => {
            format!("serving {} as {}\n{}\n", place.caller.start.display(), place.agent, served.url).into()
        }
    };
    // Whoever started it can look into its file.
    let _ = print(&[text]);
}

/// Answers one connection, for as long as it is of use.
fn receive(service: &Arc<Service>, stream: TcpStream) {
    let Some(guest) = service.guests.come() else { return };
    let service = Arc::clone(service);
    tokio::spawn(async move {
        {
            // Answers are small, and each is waited for.
            let _ = stream.set_nodelay(true);
            let answer = service_fn(|request| {
                let (service, guest) = (Arc::clone(&service), &guest);
                async move { service.answer(request, guest).await }
            });
            let mut builder = http1::Builder::new();
            builder.timer(Clock).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES).max_headers(HEADERS);
            builder.half_close(false).pipeline_flush(false);
            let connection = builder.serve_connection(Wire::new(stream), answer);
            tokio::select! {
                // Whatever went wrong with it is over.
                _ = connection => {}
                () = guest.leave.notified() => {}
            }
        }
        service.guests.go(&guest);
    });
}
