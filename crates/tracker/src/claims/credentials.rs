//! What etcd wants to know of whoever asks, and what it has to show itself. Passwords and tokens come from the environment or from a
//! file that nobody else may read, never from a configuration that is committed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_remote::etcd::{Secret, Tls, User};
use holdfast_store::{Error, Result, Trouble};

use crate::caller::Caller;
use crate::config::Config;
use crate::durable;

/// More than a password or a token has.
const LONGEST_SECRET: usize = 16 << 10;

/// More than all the authorities of the world have.
const LONGEST_PEM: usize = 16 << 20;

/// Where systems keep the authorities that everybody believes.
const AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The user that etcd knows, with the token or the password that the environment has, else a file of the user's.
pub(super) fn user(caller: &Caller, config: &Config) -> Result<Option<User>> {
    let Some(name) = config.coordination.user.clone() else { return Ok(None) };
    let failed = |why: String| Trouble::Unavailable.because(format!("etcd wants a login for {name}: {why}"));
    let environment = [
        ("JIT_ETCD_TOKEN", &caller.etcd_token, Secret::Token as fn(String) -> Secret),
        ("JIT_ETCD_PASSWORD", &caller.etcd_password, Secret::Password),
    ];
    for (variable, value, secret) in environment {
        let Some(value) = value else { continue };
        let value = value.to_str().ok_or_else(|| failed(format!("{variable} is not UTF-8")))?;
        return Ok(Some(User { secret: secret(value.to_owned()), name }));
    }
    let files = [("etcd-token", Secret::Token as fn(String) -> Secret), ("etcd-password", Secret::Password)];
    for (file, secret) in files {
        let Some(path) = caller.user_file(file) else { break };
        let Some(bytes) = durable::read(&caller.sys, &path, LONGEST_SECRET)? else { continue };
        must_be_private(caller, &path).map_err(&failed)?;
        let text =
            String::from_utf8(bytes).map_err(|_| failed(format!("{} is not UTF-8", path.display())))?;
        return Ok(Some(User { secret: secret(text.trim_end_matches(['\n', '\r']).to_owned()), name }));
    }
    let or_write = caller.user_file("etcd-password");
    let or_write =
        or_write.map_or_else(String::new, |path| format!(", or write the password to {}", path.display()));
    Err(failed(format!("set JIT_ETCD_PASSWORD or JIT_ETCD_TOKEN{or_write}")))
}

/// How members are believed that are reached over TLS, and what is shown to them; none where none is. A path that is
/// relative is so from `root`, the worktree.
pub(super) fn tls(
    caller: &Caller,
    config: &Config,
    endpoints: &[String],
    root: &Path,
) -> Result<Option<Tls>> {
    if endpoints.iter().all(|url| !url.starts_with("https://")) {
        return Ok(None);
    }
    let asked = &config.coordination;
    let failed = |why: String| Trouble::Unavailable.because(format!("TLS to etcd: {why}"));
    let read = |key: &str, path: &Path| match durable::read(&caller.sys, path, LONGEST_PEM) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(failed(format!("{key}: there is no {}", path.display()))),
        Err(error) => Err(failed(format!("{key}: {error}"))),
    };
    let authorities = match &asked.tls_ca {
        Some(path) => read("coordination.tls_ca", &root.join(path))?,
        None => believed(caller)?.ok_or_else(|| {
            failed("this system has no list of authorities: set coordination.tls_ca".into())
        })?,
    };
    let identity = match (&asked.tls_cert, &asked.tls_key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            let key: PathBuf = root.join(key);
            let shown = read("coordination.tls_cert", &root.join(certificate))?;
            let secret = read("coordination.tls_key", &key)?;
            must_be_private(caller, &key).map_err(failed)?;
            Some((shown, secret))
        }
        _ => return Err(failed("coordination.tls_cert and tls_key go together".into())),
    };
    Ok(Some(Tls { authorities, identity }))
}

/// The authorities that this system believes.
fn believed(caller: &Caller) -> Result<Option<Vec<u8>>> {
    for path in AUTHORITIES {
        if let Some(bytes) = durable::read(&caller.sys, Path::new(path), LONGEST_PEM)? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Whether nobody else may read a file with a secret.
fn must_be_private(caller: &Caller, path: &Path) -> std::result::Result<(), String> {
    match caller.sys.files.stat(path) {
        Ok(stat) if stat.mode & 0o077 == 0 => Ok(()),
        Ok(_) => Err(format!("others may read {0}: chmod 600 {0}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!("{} is gone", path.display())),
        Err(error) => Err(Error::from(error).to_string()),
    }
}
