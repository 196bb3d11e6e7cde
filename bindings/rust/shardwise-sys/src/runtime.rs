//! The library opened at run time: every function asks a table, which is filled once.

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::sync::Once;

/// Declares the functions as calls through the table.
macro_rules! functions {
    ($($(#[$note:meta])* pub fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// All functions of the library.
        pub(crate) struct Table {
            $($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Table {
            pub(crate) fn load(library: &crate::runtime::Library) -> Result<Self, String> {
                // SAFETY: the library's functions have the types of its headers; Context::create compares versions.
                unsafe {
                    Ok(Self {
                        $($name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(
                            library.symbol(stringify!($name))?,
                        ),)*
                    })
                }
            }
        }

        $(
            $(#[$note])*
            ///
            /// # Safety
            /// As in C.
            pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                (crate::runtime::table().$name)($($argument),*)
            }
        )*
    };
}

#[link(name = "dl")]
extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}
const RTLD_NOW: c_int = 2;

static ONCE: Once = Once::new();
static mut TABLE: Option<Result<crate::declarations::Table, String>> = None;

/// An open library, which is never closed.
pub(crate) struct Library(*mut c_void);

impl Library {
    fn open(path: &str) -> Result<Self, String> {
        let c_path = CString::new(path).map_err(|_| format!("'{path}' has a zero byte"))?;
        // SAFETY: the path is a string of C.
        let handle = unsafe { dlopen(c_path.as_ptr(), RTLD_NOW) };
        if handle.is_null() {
            return Err(said());
        }
        Ok(Self(handle))
    }

    pub(crate) fn symbol(&self, name: &str) -> Result<*mut c_void, String> {
        let c_name = CString::new(name).map_err(|_| name.to_owned())?;
        // SAFETY: the library is open.
        let symbol = unsafe { dlsym(self.0, c_name.as_ptr()) };
        if symbol.is_null() {
            return Err(said());
        }
        Ok(symbol)
    }
}

/// Why the last call failed.
fn said() -> String {
    // SAFETY: the string is this thread's until its next call.
    unsafe {
        let why = dlerror();
        if why.is_null() {
            return "the library cannot be opened".into();
        }
        CStr::from_ptr(why).to_string_lossy().into_owned()
    }
}

/// Opens the library, by its path or by its name; None: "libshardwise.so.0", where the system looks for
/// libraries. Only the first call of a process opens: the others give its result.
pub fn open(path: Option<&str>) -> Result<(), String> {
    ONCE.call_once(|| {
        let library = Library::open(path.unwrap_or("libshardwise.so.0"));
        let table = library.and_then(|library| crate::declarations::Table::load(&library));
        // SAFETY: written once, before anybody reads it.
        unsafe { TABLE = Some(table) }
    });
    match result() {
        Ok(_) => Ok(()),
        Err(why) => Err(why.clone()),
    }
}

fn result() -> &'static Result<crate::declarations::Table, String> {
    // SAFETY: never written again after ONCE.
    let table = unsafe { &*std::ptr::addr_of!(TABLE) };
    table.as_ref().expect("open() has written it")
}

pub(crate) fn table() -> &'static crate::declarations::Table {
    if let Err(why) = open(None) {
        panic!("{why}");
    }
    match result() {
        Ok(table) => table,
        Err(why) => panic!("{why}"),
    }
}
