//! Whether there is a library to call.

#[cfg(feature = "runtime")]
use crate::Code;
use crate::Result;

/// Opens libshardwise by its path, in a program that was built with the feature `runtime`. Without this
/// call it is opened when the first context is made, as "libshardwise.so.0", from where the system looks
/// for libraries. Only the first of all these opens; later ones give its result.
#[cfg(feature = "runtime")]
pub fn open_library(path: &str) -> Result<()> {
    opened(shardwise_sys::open(Some(path)))
}

/// Before a call that needs no object: fails where the library cannot be opened.
#[cfg(feature = "runtime")]
pub(crate) fn ready() -> Result<()> {
    opened(shardwise_sys::open(None))
}

#[cfg(feature = "runtime")]
fn opened(result: std::result::Result<(), String>) -> Result<()> {
    result.map_err(|why| crate::Error::new(Code::Unavailable, why))
}

/// Before a call that has no way to say so.
///
/// # Panics
/// Where the library cannot be opened.
pub(crate) fn must_be_ready() {
    if let Err(why) = ready() {
        panic!("{why}");
    }
}

/// The library is linked.
#[cfg(not(feature = "runtime"))]
pub(crate) fn ready() -> Result<()> {
    Ok(())
}
