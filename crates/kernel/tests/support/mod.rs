//! What the kernel's tests share. It must never compute what a test expects.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod encode;
pub(crate) mod files;
pub(crate) mod json;
pub(crate) mod make;
pub(crate) mod paths;
