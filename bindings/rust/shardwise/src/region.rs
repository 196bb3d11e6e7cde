//! Bodies of manual regions.

use std::ffi::CString;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use shardwise_sys as sys;

use crate::convert::{c_string, slice, text};
use crate::event::PanicSlot;
use crate::group::Group;
use crate::tensor::num_elements;
use crate::{Code, Dtype, Element, Result};

type Body = dyn Fn(&mut RegionCall<'_>) -> std::result::Result<(), Code> + Send + Sync;

/// The body of all manual regions (op local_map) of one name. Clones share it.
#[derive(Clone)]
pub struct Region {
    name: CString,
    body: Arc<Body>,
}

impl Region {
    /// `body` runs on the threads of ranks, several at once. Equal inputs must give equal outputs. It
    /// must not use the executor, but it may call its groups. If it returns an error, the run fails
    /// with this code. If it panics, the run fails, and [`Event::wait`](crate::Event::wait) resumes
    /// the panic.
    pub fn new(
        name: &str,
        body: impl Fn(&mut RegionCall<'_>) -> std::result::Result<(), Code> + Send + Sync + 'static,
    ) -> Result<Self> {
        Ok(Self { name: c_string(name)?, body: Arc::new(body) })
    }
}

/// The data of a region that C has a pointer to. It stays at the same address as long as the
/// executor lives.
pub(crate) struct RegionBody {
    region: Region,
    panics: Arc<PanicSlot>,
}

impl RegionBody {
    /// Boxed: C holds their addresses.
    pub(crate) fn all(regions: Vec<Region>, panics: &Arc<PanicSlot>) -> Box<[Self]> {
        regions.into_iter().map(|region| Self { region, panics: panics.clone() }).collect()
    }

    pub(crate) fn raw(&self) -> sys::shw_region {
        sys::shw_region {
            name: self.region.name.as_ptr(),
            run: Some(on_region),
            user: self as *const Self as *mut c_void,
        }
    }
}

unsafe extern "C" fn on_region(user: *mut c_void, call: *const sys::shw_region_call) -> sys::shw_code {
    // SAFETY: `user` is a body that lives as long as its executor, and `call` is lent for the call.
    let (body, raw) = unsafe { (&*user.cast::<RegionBody>(), &*call) };
    let mut call = RegionCall { raw };
    match catch_unwind(AssertUnwindSafe(|| (body.region.body)(&mut call))) {
        Ok(Ok(())) => sys::SHW_OK,
        Ok(Err(code)) => code.raw(),
        Err(panic) => {
            body.panics.put(panic); // must not unwind through C++
            sys::SHW_INTERNAL
        }
    }
}

/// One execution of a manual region on one rank.
pub struct RegionCall<'a> {
    raw: &'a sys::shw_region_call,
}

/// This rank's piece of an operand.
#[derive(Clone, Copy)]
pub struct RegionTensor<'a> {
    raw: &'a sys::shw_tensor,
    lent: PhantomData<&'a [u8]>,
}

impl<'a> RegionCall<'a> {
    /// The region's name.
    pub fn region(&self) -> &'a str {
        // SAFETY: lent for the call.
        unsafe { text(self.raw.region) }
    }

    /// The rank.
    pub fn rank(&self) -> i32 {
        self.raw.rank
    }

    /// Its coordinates along the mesh axes.
    pub fn coordinates(&self) -> &'a [i64] {
        // SAFETY: lent for the call.
        unsafe { slice(self.raw.coordinates, self.raw.num_axes as usize) }
    }

    /// Sizes of the mesh axes.
    pub fn mesh(&self) -> &'a [i64] {
        // SAFETY: lent for the call.
        unsafe { slice(self.raw.mesh, self.raw.num_axes as usize) }
    }

    /// One of the groups of the attribute `groups`, to exchange data with; none: there are fewer.
    pub fn group(&self, index: usize) -> Option<Group<'a>> {
        // SAFETY: lent for the call.
        let groups = unsafe { slice(self.raw.groups, self.raw.num_groups) };
        groups.get(index).map(|&raw| Group::new(raw))
    }

    /// An operand; none: there is no such operand, or it is absent.
    pub fn input(&self, index: usize) -> Option<RegionTensor<'a>> {
        // SAFETY: lent for the call.
        let inputs = unsafe { slice(self.raw.inputs, self.raw.num_inputs) };
        let raw = inputs.get(index).filter(|tensor| !tensor.data.is_null())?;
        Some(RegionTensor { raw, lent: PhantomData })
    }

    /// Sizes of a result; none: there is no such result, or it is absent or not needed.
    pub fn output_dims(&self, index: usize) -> Option<&'a [i64]> {
        let raw = self.output_raw(index)?;
        // SAFETY: lent for the call.
        Some(unsafe { slice(raw.dims, raw.rank as usize) })
    }

    fn output_raw(&self, index: usize) -> Option<&'a sys::shw_tensor> {
        // SAFETY: lent for the call.
        let outputs = unsafe { slice(self.raw.outputs, self.raw.num_outputs) };
        outputs.get(index).filter(|tensor| !tensor.data.is_null())
    }

    /// The memory of a result, which the body must fill, row-major. None: there is no such result,
    /// it is absent or not needed, or its elements are of another type.
    pub fn output<T: Element>(&mut self, index: usize) -> Option<&mut [T]> {
        let raw = self.output_raw(index).filter(|raw| raw.dtype == T::DTYPE.raw())?;
        let count = num_elements(self.output_dims(index)?).ok()?;
        // SAFETY: the library lends this memory for the call, to be written by nobody else; `&mut self`
        // lends one result at a time.
        Some(unsafe { std::slice::from_raw_parts_mut(raw.data.cast(), count) })
    }
}

impl<'a> RegionTensor<'a> {
    /// Type of its elements.
    pub fn dtype(self) -> Dtype {
        Dtype::from_raw(self.raw.dtype)
    }

    /// Its sizes.
    pub fn dims(self) -> &'a [i64] {
        // SAFETY: lent for the call.
        unsafe { slice(self.raw.dims, self.raw.rank as usize) }
    }

    /// Distances of its elements along each dim; empty: row-major.
    pub fn strides(self) -> &'a [i64] {
        // SAFETY: lent for the call.
        unsafe { slice(self.raw.strides, self.raw.rank as usize) }
    }

    /// Its elements in place; none: they are of another type, or not row-major.
    pub fn as_slice<T: Element>(self) -> Option<&'a [T]> {
        if self.dtype() != T::DTYPE || !self.is_row_major() {
            return None;
        }
        // SAFETY: lent for the call, and only read.
        Some(unsafe { slice(self.raw.data.cast::<T>(), num_elements(self.dims()).ok()?) })
    }

    /// A row-major copy of its elements; none: they are of another type.
    pub fn to_vec<T: Element>(self) -> Option<Vec<T>> {
        if let Some(elements) = self.as_slice() {
            return Some(elements.to_vec());
        }
        if self.dtype() != T::DTYPE {
            return None;
        }
        let count = num_elements(self.dims()).ok()?;
        let mut out = Vec::with_capacity(count);
        let mut index = vec![0i64; self.dims().len()];
        for _ in 0..count {
            let at: i64 = index.iter().zip(self.strides()).map(|(i, stride)| i * stride).sum();
            // SAFETY: the index is within the dims, so the element is within the tensor.
            out.push(unsafe { *self.raw.data.cast::<T>().offset(at as isize) });
            for d in (0..index.len()).rev() {
                index[d] += 1;
                if index[d] < self.dims()[d] {
                    break;
                }
                index[d] = 0;
            }
        }
        Some(out)
    }

    fn is_row_major(self) -> bool {
        let mut dense = 1;
        self.strides().is_empty()
            || self.dims().iter().zip(self.strides()).rev().all(|(&size, &stride)| {
                let fits = size == 1 || stride == dense;
                dense *= size;
                fits
            })
    }
}
