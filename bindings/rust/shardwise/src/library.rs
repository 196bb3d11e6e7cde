//! Opens the library and checks that it can be called.

#[cfg(feature = "runtime")]
use crate::Code;
use crate::Result;

/// Opens libshardwise by its path, in a program that was built with the feature `runtime`. Without
/// this call, the first context opens "libshardwise.so.0" in the system's search path for
/// libraries. The library is opened only once; later calls return the result of the first one.
#[cfg(feature = "runtime")]
pub fn open_library(path: &str) -> Result<()> {
    opened(shardwise_sys::open(Some(path)))
}

/// To be called before a call that needs no object. Fails if the library cannot be opened.
#[cfg(feature = "runtime")]
pub(crate) fn ready() -> Result<()> {
    opened(shardwise_sys::open(None))
}

#[cfg(feature = "runtime")]
fn opened(result: std::result::Result<(), String>) -> Result<()> {
    result.map_err(|why| crate::Error::new(Code::Unavailable, why))
}

/// To be called before a call that cannot return an error.
///
/// # Panics
/// If the library cannot be opened.
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
