//! Errors.

use std::fmt;
use std::panic::Location;

use shardwise_sys as sys;

use crate::convert::{some_index, text};
use crate::Code;

/// The result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a call of the library, or of this crate before the call.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: Code,
    message: String,
    node: Option<(usize, String)>,
    conflicts: Vec<String>,
    source: Option<(String, i32)>,
    caller: &'static Location<'static>,
}

impl Error {
    #[track_caller]
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            node: None,
            conflicts: Vec::new(),
            source: None,
            caller: Location::caller(),
        }))
    }

    /// The kind of error.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message, for a person: the cause, then the node of the graph if one is at fault.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Index of the node at fault in the graph that was given.
    pub fn node_index(&self) -> Option<usize> {
        self.0.node.as_ref().and_then(|node| some_index(node.0))
    }

    /// Name of that node. For an error of a run: the kernel.
    pub fn node_name(&self) -> Option<&str> {
        self.0.node.as_ref().map(|node| node.1.as_str()).filter(|name| !name.is_empty())
    }

    /// If no placement satisfies all options: a minimal set of constraints that cannot hold
    /// together, as [`CompileOptions::without`](crate::CompileOptions::without) takes them.
    pub fn conflicts(&self) -> &[String] {
        &self.0.conflicts
    }

    /// File and line of the library that gave the error, for bug reports.
    pub fn library_location(&self) -> Option<(&str, i32)> {
        self.0.source.as_ref().map(|source| (source.0.as_str(), source.1))
    }

    /// The line of the program that made the call. Known for calls that build graphs.
    pub fn caller(&self) -> &'static Location<'static> {
        self.0.caller
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code().name(), self.message())?;
        self.conflicts().iter().try_for_each(|name| write!(f, "\n  in conflict: {name}"))
    }
}

impl std::error::Error for Error {}

/// For bodies of manual regions, whose errors are codes.
impl From<Error> for Code {
    fn from(error: Error) -> Self {
        error.code()
    }
}

/// Takes ownership of a status: NULL is success.
#[track_caller]
pub(crate) fn check(status: *mut sys::shw_status) -> Result<()> {
    if status.is_null() {
        return Ok(());
    }
    // SAFETY: a status that is not NULL is ours until destroyed, and what it lends lives as long.
    unsafe {
        let error = Error(Box::new(Inner {
            code: Code::from_raw(sys::shw_status_code(status)),
            message: text(sys::shw_status_message(status)).to_owned(),
            node: Some((
                sys::shw_status_node_index(status),
                text(sys::shw_status_node_name(status)).to_owned(),
            )),
            conflicts: (0..sys::shw_status_num_conflicts(status))
                .map(|index| text(sys::shw_status_conflict(status, index)).to_owned())
                .collect(),
            source: Some((
                text(sys::shw_status_source_file(status)).to_owned(),
                sys::shw_status_source_line(status),
            )),
            caller: Location::caller(),
        }));
        sys::shw_status_destroy(status);
        Err(error)
    }
}
