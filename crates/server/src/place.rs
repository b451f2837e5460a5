//! The place of the one server of a repository, in the control plane: a lock for as long as it is there, its token, and a
//! file that says where it listens. Token and file are the owner's alone, also where a group shares the rest.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use holdfast_sys::os::effective_user;
use holdfast_sys::{Handle, Kind, LockMode, Open};
use holdfast_tracker::agent::person;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::{Caller, Session, durable};
use serde::{Deserialize, Serialize};

use crate::cli::Cli;
use crate::token::Token;
use crate::vars;

/// Who else may read token and address: nobody.
const OWN: u32 = 0o600;
/// More than either file can be.
const LONGEST: usize = 1 << 16;

/// Where the server listens, or listened last.
#[derive(Serialize, Deserialize)]
struct Noted {
    schema_version: u32,
    address: SocketAddr,
    pid: u32,
}

/// The place of a server.
pub(crate) struct Place {
    /// What questions are asked with.
    pub(crate) caller: Caller,
    /// The agent that the server acts as.
    pub(crate) agent: String,
    /// The token.
    pub(crate) token: Token,
    /// Where locks of other doors are looked for.
    pub(crate) also: Vec<PathBuf>,
    /// The port of last time.
    pub(crate) last_port: Option<u16>,
    folder: PathBuf,
    _lock: Box<dyn Handle>,
}

impl Place {
    /// Takes the place, unless a server has it.
    ///
    /// # Errors
    /// When one has, nobody tracks issues there, or the token cannot be used.
    pub(crate) fn take(cli: &Cli) -> Result<Self> {
        if let Some(listen) = cli.listen
            && !listen.ip().is_loopback()
            && cli.token_file.is_none()
        {
            let why = "other machines can reach it, so --token-file is needed".to_owned();
            return Err(Error::BadValue { what: "--listen", given: listen.to_string(), why });
        }
        let mut caller = vars::caller(cli)?;
        let session = Session::open(&caller)?;
        let agent = match session.agent() {
            Ok(agent) => agent.id.to_string(),
            Err(Error::NoAgent) => person(vars::user().as_deref()),
            Err(error) => return Err(error),
        };
        // From here on nothing else has a say in it.
        caller.typed_agent = Some(agent.clone().into());
        let session = Session::open(&caller)?;
        session.agent()?;
        let access = session.prepare()?;
        let lock = session.control().join("locks/server.lock");
        let lock = caller.sys.files.open(&lock, Open::Create { mode: access.file() })?;
        let folder = session.control().join(format!("server-{}", effective_user()));
        if !lock.try_lock(LockMode::Exclusive)? {
            let known = noted(&caller, &folder).map(|noted| noted.address.to_string());
            return Err(Error::ServerRuns(
                known.unwrap_or_else(|| "an address that it keeps to itself".into()),
            ));
        }
        durable::make_dirs(&caller.sys, &folder, 0o700)?;
        let token = match &cli.token_file {
            Some(path) => token(&caller, &vars::typed(path)?)?,
            None => token(&caller, &folder.join("token"))?,
        };
        let last_port = noted(&caller, &folder).map(|noted| noted.address.port());
        let also = cli.also.iter().map(|path| vars::typed(path)).collect::<Result<_>>()?;
        Ok(Self { caller, agent, token, also, last_port, folder, _lock: lock })
    }

    /// Notes where it listens.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(crate) fn note(&self, address: SocketAddr) -> Result<()> {
        let noted = Noted { schema_version: 1, address, pid: std::process::id() };
        let text = serde_json::to_vec(&noted)
            .map_err(|error| Error::Internal(format!("an address has no JSON form: {error}")))?;
        Ok(durable::replace(&self.caller.sys, &self.folder.join("server.json"), &text, OWN)?)
    }
}

fn noted(caller: &Caller, folder: &Path) -> Option<Noted> {
    let bytes = durable::read(&caller.sys, &folder.join("server.json"), LONGEST).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// The token in a file, made if it is not there. One that others may read is refused.
fn token(caller: &Caller, path: &Path) -> Result<Token> {
    let bad = |why: String| Error::BadFile { path: path.to_path_buf(), why };
    let sys = &caller.sys;
    let stat = match sys.files.stat(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = Token::fresh(sys.entropy.nonce()?, sys.entropy.nonce()?);
            durable::create(sys, path, format!("{}\n", token.text()).as_bytes(), OWN)?;
            sys.files.stat(path)?
        }
        stat => stat?,
    };
    if stat.kind != Kind::File {
        return Err(bad("it is no file".into()));
    }
    if stat.owner != effective_user() {
        return Err(bad("it belongs to another user".into()));
    }
    if stat.mode & 0o077 != 0 {
        return Err(bad(format!("others may read it; chmod 600 '{}'", path.display())));
    }
    let bytes = durable::read(sys, path, LONGEST)?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| bad("it is no text".into()))?;
    Token::parse(&text).map_err(bad)
}
