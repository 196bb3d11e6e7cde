//! Bytes that the library owns.

use std::ops::Deref;

use shardwise_sys as sys;

use crate::convert::slice;

handle! {
    /// Bytes that the library made: a graph, a plan, a document. Immutable.
    Blob, shw_blob, shw_blob_destroy, { Send, Sync }
}

impl Blob {
    /// The bytes as text, for documents. Documents of the library are UTF-8.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(self).into_owned()
    }
}

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes live as long as the blob, and never change.
        unsafe { slice(sys::shw_blob_data(self.as_ptr()).cast(), sys::shw_blob_size(self.as_ptr())) }
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Blob({} bytes)", self.len())
    }
}
