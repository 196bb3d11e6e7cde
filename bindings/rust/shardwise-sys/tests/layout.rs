//! Every struct has the size and the offsets that the C compiler gives it.

use std::mem::{size_of, MaybeUninit};
use std::ptr::addr_of;

use shardwise_sys::*;

struct Layout {
    name: &'static str,
    size: (usize, usize),
    fields: Vec<(&'static str, usize, usize)>,
}

macro_rules! layout {
    ($name:ident, $size:expr, $($field:ident: $at:expr),*) => {{
        let value = MaybeUninit::<$name>::uninit();
        let base = value.as_ptr();
        Layout {
            name: stringify!($name),
            size: (size_of::<$name>(), $size),
            // SAFETY: the field's address is computed within `value`, and nothing is read.
            fields: vec![$((stringify!($field), unsafe { addr_of!((*base).$field) } as usize - base as usize, $at)),*],
        }
    }};
}

#[test]
fn structs_are_laid_out_as_in_c() {
    let structs = include!("layout.in");
    assert!(structs.len() >= 45, "{} structs only", structs.len());
    for Layout { name, size, fields } in structs {
        assert_eq!(size.0, size.1, "size of {name}");
        for (field, here, in_c) in fields {
            assert_eq!(here, in_c, "{name}.{field}");
        }
    }
}

#[test]
fn library_is_the_one_that_the_declarations_are_of() {
    // SAFETY: takes nothing.
    let loaded = unsafe { shw_api_version() };
    assert_eq!(loaded, SHW_API_VERSION);
}
