//! The kernel's random numbers.

use std::path::Path;

use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::uninterrupted;
use crate::{Entropy, Error, Result};

/// The machine's source of randomness.
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn nonce(&self) -> Result<u128> {
        let mut bytes = [0; 16];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            filled += uninterrupted(|| {
                getrandom(&mut *rest, GetRandomFlags::empty())
                    .map_err(|error| Error::new("read", Path::new("random numbers"), error))
            })?;
        }
        Ok(u128::from_ne_bytes(bytes))
    }
}
