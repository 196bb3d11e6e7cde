//! Handles and structs of C: how they are made and filled.

use std::mem::MaybeUninit;
use std::ptr::{null_mut, NonNull};
use std::sync::Arc;

use shardwise_sys as sys;

use crate::context::Hooks;
use crate::error::check;
use crate::Result;

/// The callbacks of an object's contexts: allocators, log functions, threads. The library may call
/// them as long as the object lives.
#[derive(Clone, Default)]
pub(crate) struct Keep(Vec<Arc<Hooks>>);

impl Keep {
    pub(crate) fn of(hooks: Arc<Hooks>) -> Self {
        Self(vec![hooks])
    }

    pub(crate) fn add(&mut self, other: &Keep) {
        for hooks in &other.0 {
            if !self.0.iter().any(|mine| Arc::ptr_eq(mine, hooks)) {
                self.0.push(hooks.clone());
            }
        }
    }

    pub(crate) fn and(&self, other: &Keep) -> Self {
        let mut both = self.clone();
        both.add(other);
        both
    }
}

/// Calls a function of C that creates a handle.
#[track_caller]
pub(crate) fn make<T>(call: impl FnOnce(*mut *mut T) -> *mut sys::shw_status) -> Result<NonNull<T>> {
    let mut out = null_mut();
    check(call(&mut out))?;
    Ok(NonNull::new(out).expect("a call that succeeds gives a handle"))
}

/// Calls a function of C that returns a number by an out-parameter.
#[track_caller]
pub(crate) fn number(call: impl FnOnce(*mut usize) -> *mut sys::shw_status) -> Result<usize> {
    let mut out = sys::SHW_NONE;
    check(call(&mut out))?;
    Ok(out)
}

/// A C struct with its default values.
pub(crate) fn init<T>(init: unsafe extern "C" fn(*mut T, usize)) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: init writes all bytes of the struct.
    unsafe {
        init(value.as_mut_ptr(), std::mem::size_of::<T>());
        value.assume_init()
    }
}

/// A C struct, filled by a getter.
#[track_caller]
pub(crate) fn filled<T>(
    initialise: unsafe extern "C" fn(*mut T, usize),
    get: impl FnOnce(*mut T) -> *mut sys::shw_status,
) -> Result<T> {
    let mut value = init(initialise);
    check(get(&mut value))?;
    Ok(value)
}
