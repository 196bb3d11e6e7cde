//! What repeats for every handle, enumeration and record of the interface.

/// An enumeration of C: numbers that this version does not know are kept in `Other`.
macro_rules! c_enum {
    ($(#[$note:meta])* $name:ident { $($(#[$item_note:meta])* $item:ident = $value:ident,)* }) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$item_note])* $item,)*
            /// A number that this version of the crate does not name.
            Other(i32),
        }

        impl $name {
            /// The number in C.
            pub const fn raw(self) -> i32 {
                match self {
                    $(Self::$item => shardwise_sys::$value,)*
                    Self::Other(number) => number,
                }
            }

            /// The value for a number in C.
            pub const fn from_raw(number: i32) -> Self {
                match number {
                    $(shardwise_sys::$value => Self::$item,)*
                    other => Self::Other(other),
                }
            }
        }

        impl crate::convert::FromC<i32> for $name {
            unsafe fn from_c(number: i32) -> Self {
                Self::from_raw(number)
            }
        }
    };
}

/// An owned handle of C. It keeps the callbacks of its context, which the library may still call.
macro_rules! handle {
    ($(#[$note:meta])* $name:ident, $raw:ident, $destroy:ident, { $($auto:ident),* }) => {
        $(#[$note])*
        pub struct $name {
            pub(crate) raw: std::ptr::NonNull<shardwise_sys::$raw>,
            #[allow(dead_code)]
            pub(crate) keep: crate::handle::Keep,
        }

        $(
            // SAFETY: the C headers say of each function that takes this handle on which threads it may be
            // called; methods that are bound to one thread at a time take `&mut self`.
            unsafe impl $auto for $name {}
        )*

        impl $name {
            #[allow(dead_code)]
            pub(crate) fn create(
                keep: &crate::handle::Keep,
                call: impl FnOnce(*mut *mut shardwise_sys::$raw) -> *mut shardwise_sys::shw_status,
            ) -> crate::Result<Self> {
                Ok(Self { raw: crate::handle::make(call)?, keep: keep.clone() })
            }

            #[allow(dead_code)]
            pub(crate) fn as_ptr(&self) -> *mut shardwise_sys::$raw {
                self.raw.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle is ours, and destroyed once.
                unsafe { shardwise_sys::$destroy(self.raw.as_ptr()) }
            }
        }
    };
}

/// A struct that a getter of C fills, with the fields that Rust shows. `raw` names the C struct in
/// fields that are converted by an expression of their own.
macro_rules! record {
    ($(#[$note:meta])* $name:ident $(<$life:lifetime>)?, $raw_type:ident($raw:ident) {
        $($(#[$field_note:meta])* $field:ident: $type:ty $(= $value:expr)?,)*
    }) => {
        $(#[$note])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name $(<$life>)? {
            $($(#[$field_note])* pub $field: $type,)*
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// # Safety
            /// What the struct points to must live as long as the result.
            #[allow(unused_unsafe)]
            pub(crate) unsafe fn from_raw($raw: shardwise_sys::$raw_type) -> Self {
                // SAFETY: as the caller says.
                unsafe { Self { $($field: record!(@field $raw $field $($value)?),)* } }
            }
        }
    };
    (@field $raw:ident $field:ident) => { crate::convert::FromC::from_c($raw.$field) };
    (@field $raw:ident $field:ident $value:expr) => { $value };
}

/// A method that returns bytes or text that the library makes: `_to_json` and similar functions.
macro_rules! texts {
    ($($(#[$note:meta])* $name:ident = $function:ident;)*) => {
        $(
            $(#[$note])*
            pub fn $name(&self) -> crate::Result<String> {
                // SAFETY: the handle is valid.
                let blob = crate::Blob::create(&self.keep, |out| unsafe { shardwise_sys::$function(self.as_ptr(), out) })?;
                Ok(blob.to_text())
            }
        )*
    };
}

/// Methods that return all rows of a table. C has functions for the number of rows and for one row.
macro_rules! rows {
    ($($(#[$note:meta])* $name:ident: $record:ident $(<$life:lifetime>)? = $count:ident, $get:ident, $init:ident;)*) => {
        $(
            $(#[$note])*
            pub fn $name(&self) -> crate::Result<Vec<$record $(<$life>)?>> {
                // SAFETY: the handle is valid, and what it lends lives as long as `self`.
                unsafe {
                    (0..shardwise_sys::$count(self.as_ptr()))
                        .map(|index| {
                            let raw = crate::handle::filled(shardwise_sys::$init, |out| {
                                shardwise_sys::$get(self.as_ptr(), index, out)
                            })?;
                            Ok($record::from_raw(raw))
                        })
                        .collect()
                }
            }
        )*
    };
}
