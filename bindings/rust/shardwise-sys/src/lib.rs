//! The C interface of Shardwise, declared in Rust: what `capi/include/shardwise` says, and nothing
//! more. The crate `shardwise` is the safe way to use it.
//!
//! The declarations are generated from the headers (`generate.py`), and tested against the layout
//! that the C compiler gives every struct. Names are those of C. Structs that grow start with
//! `struct_size`: zero them with their `_init` function, as C's `_INIT` macros are not here.
#![allow(non_camel_case_types)]

#[cfg(not(feature = "runtime"))]
macro_rules! functions {
    ($($(#[$note:meta])* pub fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        extern "C" {
            $($(#[$note])* pub fn $name($($argument: $type),*) $(-> $result)?;)*
        }
    };
}
#[cfg(feature = "runtime")]
#[macro_use]
mod runtime;

#[rustfmt::skip]
mod declarations;

pub use declarations::*;
#[cfg(feature = "runtime")]
pub use runtime::open;
