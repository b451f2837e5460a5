//! A vault: a directory with the database and the secret. It appears whole or not at all, and whoever may
//! not read the secret cannot use it.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::os::effective_user;
use holdfast_sys::{Kind, Open, Sys};

use crate::error::{Error, Result};
use crate::medium::Database;
use crate::secret::Secret;

const DATABASE: &str = "lineage.sqlite3";
const SECRET: &str = "secret";

/// The length of the secret's file, and one byte more to notice a longer one.
const SECRET_LIMIT: usize = 66;

/// Makes a vault at `path`, durably, unless there is one; says whether it did.
///
/// # Errors
/// When something else has the name, or the vault cannot be made. There is no half-made one then.
pub fn init(sys: &Sys, path: &Path) -> Result<bool> {
    if exists(sys, path)? {
        return there_already(sys, path);
    }
    let nameless = || Error::Unusable { path: path.to_path_buf(), why: "it names no directory".into() };
    let name = path.file_name().ok_or_else(nameless)?.to_string_lossy();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = parent.join(format!(".{name}.new-{:032x}", sys.entropy.nonce()?));
    sys.files.create_dir(&beside, 0o700)?;
    let made = fill(sys, &beside).and_then(|()| Ok(sys.files.rename_new(&beside, path)?));
    if let Err(error) = made {
        // Nobody knows of it yet, so nobody misses it; the first failure is the one to report.
        for file in [DATABASE, SECRET] {
            let _ = sys.files.remove_file(&beside.join(file));
        }
        let _ = sys.files.remove_dir(&beside);
        return if exists(sys, path)? { there_already(sys, path) } else { Err(error) };
    }
    sys.files.sync_dir(parent)?;
    Ok(true)
}

/// Somebody was faster, or it was there all along.
fn there_already(sys: &Sys, path: &Path) -> Result<bool> {
    match open(sys, path) {
        Err(Error::NoVault(path)) => Err(Error::Taken(path)),
        opened => opened.map(|_| false),
    }
}

fn fill(sys: &Sys, directory: &Path) -> Result<()> {
    let secret = Secret::random(&*sys.entropy)?;
    let file = sys.files.open(&directory.join(SECRET), Open::New { mode: 0o600 })?;
    file.write_all_at(&secret.to_file(), 0)?;
    file.sync()?;
    Database::create(sys, &directory.join(DATABASE), &secret)?;
    Ok(sys.files.sync_dir(directory)?)
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
        return Err(no_vault(sys, vault, &path));
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
fn no_vault(sys: &Sys, vault: &Path, secret: &Path) -> Error {
    match exists(sys, &vault.join(DATABASE)) {
        Ok(true) => {
            let why = "it is missing, and without it no token can be checked; is there a backup?".into();
            Error::Unusable { path: secret.to_path_buf(), why }
        }
        _ => Error::NoVault(PathBuf::from(vault)),
    }
}
