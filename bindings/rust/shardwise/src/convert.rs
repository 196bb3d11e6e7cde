//! Values of C as values of Rust, and back.

use std::ffi::CStr;
use std::ffi::CString;
use std::os::raw::{c_char, c_void};
use std::ptr::null;

use shardwise_sys as sys;

use crate::{Code, Error, Result};

/// A field of a struct that the library filled.
pub(crate) trait FromC<C> {
    /// # Safety
    /// Pointers are NULL or valid for as long as the result lives.
    unsafe fn from_c(value: C) -> Self;
}

macro_rules! same {
    ($($type:ty),*) => {
        $(impl FromC<$type> for $type {
            unsafe fn from_c(value: $type) -> Self {
                value
            }
        })*
    };
}
same!(f64, i32, i64, u32, u64, usize);

impl FromC<i32> for bool {
    unsafe fn from_c(value: i32) -> Self {
        value != 0
    }
}

impl FromC<usize> for Option<usize> {
    unsafe fn from_c(value: usize) -> Self {
        some_index(value)
    }
}

impl FromC<*const c_char> for &str {
    unsafe fn from_c(value: *const c_char) -> Self {
        // SAFETY: as the caller says.
        unsafe { text(value) }
    }
}

impl FromC<*const c_char> for Option<&str> {
    unsafe fn from_c(value: *const c_char) -> Self {
        // SAFETY: as the caller says.
        (!value.is_null()).then(|| unsafe { text(value) })
    }
}

pub(crate) fn some_index(value: usize) -> Option<usize> {
    (value != sys::SHW_NONE).then_some(value)
}

/// A string of the library, which is UTF-8; "" for NULL.
///
/// # Safety
/// It must be NULL or valid for `'a`.
pub(crate) unsafe fn text<'a>(value: *const c_char) -> &'a str {
    if value.is_null() {
        return "";
    }
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(value) }.to_str().unwrap_or("(not UTF-8)")
}

/// An array of the library; empty for NULL.
///
/// # Safety
/// It must be NULL or valid for `'a`.
pub(crate) unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if data.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(data, size) }
}

/// A string for the library.
#[track_caller]
pub(crate) fn c_string(value: &str) -> Result<CString> {
    CString::new(value).map_err(|_| {
        Error::new(Code::InvalidArgument, format!("'{}' has a zero byte", value.replace('\0', "\\0")))
    })
}

pub(crate) fn bytes(value: &[u8]) -> sys::shw_bytes {
    sys::shw_bytes { data: value.as_ptr().cast::<c_void>(), size: value.len() }
}

/// A rank or another number that is int32_t in C.
#[track_caller]
pub(crate) fn int32(what: &str, value: usize) -> Result<i32> {
    i32::try_from(value)
        .map_err(|_| Error::new(Code::OutOfRange, format!("{what} is {value}, more than fits")))
}

/// C strings for one call. They live as long as this object.
#[derive(Default)]
pub(crate) struct Strings(Vec<CString>);

impl Strings {
    #[track_caller]
    pub(crate) fn add(&mut self, value: &str) -> Result<*const c_char> {
        let owned = c_string(value)?;
        let pointer = owned.as_ptr(); // of the heap: moving the CString leaves it where it is
        self.0.push(owned);
        Ok(pointer)
    }

    #[track_caller]
    pub(crate) fn optional(&mut self, value: Option<&str>) -> Result<*const c_char> {
        value.map_or(Ok(null()), |value| self.add(value))
    }
}
