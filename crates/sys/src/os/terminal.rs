//! The terminal that answers are shown on. Whoever writes to a file or a pipe has none.

/// How many columns the terminal on standard output has; none if there is none, or it does not say.
#[must_use]
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
