//! Groups of ranks that bodies of manual regions exchange data with.

use std::ffi::CString;
use std::marker::PhantomData;

use shardwise_sys as sys;

use crate::convert::c_string;
use crate::error::check;
use crate::{Code, Element, Error, Result};

/// Ranks that the body of a manual region exchanges data with. It is lent for the call of the body.
///
/// Methods return when the exchange is done. Blocks of several members lie one after another, in
/// the order of the members' numbers. All members must call the same methods, with the same sizes
/// and types, in the same order. If a method fails, the run ends on every rank. The body must
/// return the error, with `?`.
pub struct Group<'a> {
    raw: *mut sys::shw_group,
    lent: PhantomData<&'a mut sys::shw_group>,
}

impl Group<'_> {
    pub(crate) fn new(raw: *mut sys::shw_group) -> Self {
        Self { raw, lent: PhantomData }
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        // SAFETY: lent for the call.
        unsafe { sys::shw_group_size(self.raw) as usize }
    }

    /// This rank's number among the members.
    pub fn member(&self) -> usize {
        // SAFETY: lent for the call.
        unsafe { sys::shw_group_member(self.raw) as usize }
    }

    /// Gathers `send` of all members into `receive`, one block after another.
    #[track_caller]
    pub fn all_gather<T: Element>(&mut self, send: &[T], receive: &mut [T]) -> Result<()> {
        same("received", receive.len(), send.len() * self.size())?;
        let count = send.len() as i64;
        let (from, to) = (send.as_ptr().cast(), receive.as_mut_ptr().cast());
        // SAFETY: the slices are as long as the call reads and writes.
        check(unsafe { sys::shw_group_all_gather(self.raw, from, to, count, T::DTYPE.raw()) })
    }

    /// Sends a block to each member, and receives a block from each member. All blocks are equally
    /// long.
    #[track_caller]
    pub fn all_to_all<T: Element>(&mut self, send: &[T], receive: &mut [T]) -> Result<()> {
        same("received", receive.len(), send.len())?;
        let count = send.len() / self.size();
        same("sent", send.len(), count * self.size())?;
        let (from, to) = (send.as_ptr().cast(), receive.as_mut_ptr().cast());
        // SAFETY: the slices are as long as the call reads and writes.
        check(unsafe { sys::shw_group_all_to_all(self.raw, from, to, count as i64, T::DTYPE.raw()) })
    }

    /// As [`Group::all_to_all`] with blocks of different sizes: counts of elements, by member.
    #[track_caller]
    pub fn all_to_all_v<T: Element>(
        &mut self,
        send: &[T],
        send_counts: &[i64],
        receive: &mut [T],
        receive_counts: &[i64],
    ) -> Result<()> {
        same("sent", send.len(), total(send_counts, self.size())?)?;
        same("received", receive.len(), total(receive_counts, self.size())?)?;
        let (from, to) = (send.as_ptr().cast(), receive.as_mut_ptr().cast());
        let (sends, expects) = (send_counts.as_ptr(), receive_counts.as_ptr());
        // SAFETY: the slices are as long as the call reads and writes.
        check(unsafe { sys::shw_group_all_to_all_v(self.raw, from, sends, to, expects, T::DTYPE.raw()) })
    }

    /// `send` has a block for each member. `receive` gets this member's block, reduced over the
    /// blocks that all members send. `reduction` is "sum", "avg", "max", "min" or "product".
    #[track_caller]
    pub fn reduce_scatter<T: Element>(
        &mut self,
        send: &[T],
        receive: &mut [T],
        reduction: &str,
    ) -> Result<()> {
        same("sent", send.len(), receive.len() * self.size())?;
        let reduction: CString = c_string(reduction)?;
        let (count, dtype) = (receive.len() as i64, T::DTYPE.raw());
        let (from, to) = (send.as_ptr().cast(), receive.as_mut_ptr().cast());
        // SAFETY: the slices are as long as the call reads and writes.
        check(unsafe { sys::shw_group_reduce_scatter(self.raw, from, to, count, dtype, reduction.as_ptr()) })
    }

    /// Reduces `values` of all members, element by element, in place. Reductions are those of
    /// [`Group::reduce_scatter`].
    #[track_caller]
    pub fn all_reduce<T: Element>(&mut self, values: &mut [T], reduction: &str) -> Result<()> {
        let reduction: CString = c_string(reduction)?;
        let (count, dtype) = (values.len() as i64, T::DTYPE.raw());
        let memory = values.as_mut_ptr().cast::<std::os::raw::c_void>();
        // SAFETY: the slice is as long as the call reads and writes.
        check(unsafe {
            sys::shw_group_all_reduce(self.raw, memory, memory, count, dtype, reduction.as_ptr())
        })
    }
}

#[track_caller]
fn same(what: &str, given: usize, wanted: usize) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    let why = format!("{given} elements to be {what}, not {wanted}");
    Err(Error::new(Code::InvalidArgument, why))
}

#[track_caller]
fn total(counts: &[i64], members: usize) -> Result<usize> {
    if counts.len() == members && counts.iter().all(|&count| count >= 0) {
        let sum = counts.iter().try_fold(0i64, |sum, &count| sum.checked_add(count));
        if let Some(sum) = sum {
            return Ok(sum as usize);
        }
    }
    Err(Error::new(Code::InvalidArgument, format!("counts {counts:?} for {members} members")))
}
