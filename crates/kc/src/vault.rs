//! A vault: a directory with the database and the secret. It appears whole or not at all, and whoever may
//! not read the secret cannot use it.

mod staging;

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::os::effective_user;
use holdfast_sys::{Kind, Open, Sys};

use crate::error::{Error, Result};
use crate::medium::Database;
use crate::secret::Secret;
use staging::{Staging, sweep};

const DATABASE: &str = "lineage.sqlite3";
const SECRET: &str = "secret";

/// The length of the secret's file, and one byte more to notice a longer one.
const SECRET_LIMIT: usize = 66;

/// Makes a vault at `path`, durably, unless there is one; says whether it did. What killed programs left that were
/// at the same in that directory is removed on the way.
///
/// # Errors
/// When something else has the name, or the vault cannot be made. There is no half-made one then.
pub fn init(sys: &Sys, path: &Path) -> Result<bool> {
    let nameless = || Error::Unusable { path: path.to_path_buf(), why: "it names no directory".into() };
    let parent = parent(path).ok_or_else(nameless)?;
    if exists(sys, path)? {
        return there_already(sys, path, parent);
    }
    sweep(sys, parent)?;
    let staging = Staging::new(sys, parent)?;
    match fill(sys, &staging).and_then(|()| Ok(sys.files.rename_new(&staging.path, path)?)) {
        Ok(()) => flush(sys, path, parent).map(|()| true),
        Err(error) => {
            // The first failure is the one to report; what is left now is removed by the next one.
            let _ = staging.discard(sys);
            if exists(sys, path)? { there_already(sys, path, parent) } else { Err(error) }
        }
    }
}

/// The directory that a vault is in.
fn parent(path: &Path) -> Option<&Path> {
    path.file_name()?;
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// Somebody was faster, or it was there all along. Whoever made it may have been stopped before its name was durable.
fn there_already(sys: &Sys, path: &Path, parent: &Path) -> Result<bool> {
    match open(sys, path) {
        Err(Error::NoVault(path)) => Err(Error::Taken(path)),
        opened => {
            drop(opened?);
            flush(sys, path, parent).map(|()| false)
        }
    }
}

/// Makes the vault's name durable.
fn flush(sys: &Sys, path: &Path, parent: &Path) -> Result<()> {
    sys.files.sync_dir(parent).map_err(|error| Error::Unusable {
        path: path.to_path_buf(),
        why: format!(
            "it is there, but a power loss may undo that, because its directory could not be flushed ({}): \
             run `kc_cli vault init` again",
            error.source
        ),
    })
}

fn fill(sys: &Sys, staging: &Staging) -> Result<()> {
    let secret = Secret::random(&*sys.entropy)?;
    staging.secret.write_all_at(&secret.to_file(), 0)?;
    staging.secret.sync()?;
    Database::create(sys, &staging.path.join(DATABASE), &secret)?;
    // Read back as everybody will: what cannot be opened is not promised.
    drop(open(sys, &staging.path)?);
    Ok(sys.files.sync_dir(&staging.path)?)
}

/// Opens the vault at `path`.
///
/// # Errors
/// When there is none, others can read its secret, or its files are not those of a vault.
pub fn open(sys: &Sys, path: &Path) -> Result<Database> {
    let secret = secret(sys, path)?;
    let database = path.join(DATABASE);
    if !exists(sys, &database)? {
        return Err(Error::Unusable { path: database, why: "it is missing; is there a backup?".into() });
    }
    Ok(Database::open(sys, &database, secret)?)
}

fn exists(sys: &Sys, path: &Path) -> Result<bool> {
    match sys.files.stat(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

fn secret(sys: &Sys, vault: &Path) -> Result<Secret> {
    let path = vault.join(SECRET);
    let unusable = |why: &str| Error::Unusable { path: path.clone(), why: why.into() };
    if !exists(sys, &path)? {
        return Err(no_vault(sys, vault, &path)?);
    }
    let file = sys.files.open(&path, Open::Read)?;
    let stat = file.stat()?;
    if stat.kind != Kind::File {
        return Err(unusable("it is not a file"));
    }
    if stat.owner != effective_user() {
        return Err(unusable("it belongs to another user"));
    }
    if stat.mode & 0o077 != 0 {
        return Err(unusable("others may read it: if nobody has, chmod 600 it"));
    }
    Secret::from_file(&file.read_from(0, SECRET_LIMIT)?).ok_or_else(|| unusable("it holds no secret"))
}

/// A database without its secret is worth more words than no vault at all.
fn no_vault(sys: &Sys, vault: &Path, secret: &Path) -> Result<Error> {
    if !exists(sys, &vault.join(DATABASE))? {
        return Ok(Error::NoVault(PathBuf::from(vault)));
    }
    let why = "it is missing, and without it no token can be checked; is there a backup?".into();
    Ok(Error::Unusable { path: secret.to_path_buf(), why })
}
