//! Tensors in the program's memory.

use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr::null;

use shardwise_sys as sys;

use crate::{Code, Dtype, Error, Result};

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that tensors can have as elements. Elements of other dtypes, such as bf16, are
/// given as bytes: [`TensorView::from_bytes`].
pub trait Element: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// Its dtype.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Element for $type {
                const DTYPE: Dtype = Dtype::$dtype;
            }
        )*
    };
}
elements!(f32: F32, f64: F64, i8: I8, i16: I16, i32: I32, i64: I64, u8: U8);

/// The largest number of dims of a tensor.
const MAX_RANK: usize = 8;

/// A number for each dim, by value: a view does not borrow the array that it was made with.
#[derive(Clone, Copy, Debug)]
struct PerDim {
    values: [i64; MAX_RANK],
    len: usize,
}

impl PerDim {
    #[track_caller]
    fn new(given: &[i64]) -> Result<Self> {
        let len = given.len();
        if len > MAX_RANK {
            let why = format!("a tensor has at most {MAX_RANK} dims, not {len}");
            return Err(Error::new(Code::InvalidArgument, why));
        }
        let mut values = [0; MAX_RANK];
        values[..len].copy_from_slice(given);
        Ok(Self { values, len })
    }

    fn as_slice(&self) -> &[i64] {
        &self.values[..self.len]
    }
}

/// A read-only view of a whole tensor in memory that somebody else owns.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a> {
    data: *const c_void,
    dims: PerDim,
    strides: Option<PerDim>,
    dtype: Dtype,
    data_of: PhantomData<&'a [u8]>,
}

// SAFETY: a view only reads, like a shared slice.
unsafe impl Send for TensorView<'_> {}
// SAFETY: likewise.
unsafe impl Sync for TensorView<'_> {}

/// Number of elements of these sizes.
#[track_caller]
pub(crate) fn num_elements(dims: &[i64]) -> Result<usize> {
    dims.iter()
        .try_fold(1usize, |product, &size| {
            usize::try_from(size).ok().and_then(|size| product.checked_mul(size))
        })
        .ok_or_else(|| Error::new(Code::InvalidArgument, format!("{dims:?} are no sizes of a tensor")))
}

impl<'a> TensorView<'a> {
    /// A tensor whose elements lie in row-major order in `data`. `data` must have exactly as many
    /// elements as `dims` say.
    #[track_caller]
    pub fn new<T: Element>(data: &'a [T], dims: &[i64]) -> Result<Self> {
        Self::checked(data.as_ptr().cast(), data.len(), dims, T::DTYPE)
    }

    /// A tensor of a dtype that Rust has no type for: bf16, f16, 8-bit floats, bool, complex64.
    /// `data` has the bytes of its elements in row-major order.
    #[track_caller]
    pub fn from_bytes(data: &'a [u8], dtype: Dtype, dims: &[i64]) -> Result<Self> {
        let size = dtype.size();
        if size == 0 || data.len() % size != 0 {
            return Err(Error::new(
                Code::InvalidArgument,
                format!("{} bytes are no number of elements of {dtype:?}", data.len()),
            ));
        }
        Self::checked(data.as_ptr().cast(), data.len() / size, dims, dtype)
    }

    /// A tensor whose elements lie anywhere in `data`: element `i` along dim `d` is `strides[d]`
    /// elements after the one before it, the first one at the beginning of `data`.
    #[track_caller]
    pub fn strided<T: Element>(data: &'a [T], dims: &[i64], strides: &[i64]) -> Result<Self> {
        let bad = |why: String| Err(Error::new(Code::InvalidArgument, why));
        if dims.len() != strides.len() {
            return bad(format!("{} strides for {} dims", strides.len(), dims.len()));
        }
        if strides.iter().any(|&stride| stride < 0) {
            return bad(format!("strides {strides:?}: negative ones reach before the data"));
        }
        if num_elements(dims)? > 0 {
            let last = dims.iter().zip(strides).try_fold(0i64, |sum, (&size, &stride)| {
                (size - 1).checked_mul(stride).and_then(|far| sum.checked_add(far))
            });
            if last.map_or(true, |last| last as u64 >= data.len() as u64) {
                return bad(format!(
                    "dims {dims:?} with strides {strides:?} reach beyond the {} elements",
                    data.len()
                ));
            }
        }
        Ok(Self {
            data: data.as_ptr().cast(),
            dims: PerDim::new(dims)?,
            strides: Some(PerDim::new(strides)?),
            dtype: T::DTYPE,
            data_of: PhantomData,
        })
    }

    #[track_caller]
    fn checked(data: *const c_void, len: usize, dims: &[i64], dtype: Dtype) -> Result<Self> {
        let wanted = num_elements(dims)?;
        if wanted != len {
            return Err(Error::new(
                Code::InvalidArgument,
                format!("dims {dims:?} have {wanted} elements, and the data has {len}"),
            ));
        }
        Ok(Self { data, dims: PerDim::new(dims)?, strides: None, dtype, data_of: PhantomData })
    }

    /// Type of its elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Its sizes.
    pub fn dims(&self) -> &[i64] {
        self.dims.as_slice()
    }

    /// For one call, while this view stays where it is: the library reads it only, though C says `void*`.
    pub(crate) fn raw(&self) -> sys::shw_tensor {
        sys::shw_tensor {
            data: self.data as *mut c_void,
            dims: self.dims.values.as_ptr(),
            strides: self.strides.as_ref().map_or(null(), |strides| strides.values.as_ptr()),
            rank: self.dims.len as i32, // at most MAX_RANK
            dtype: self.dtype.raw(),
            device_kind: sys::SHW_DEVICE_CPU,
            device_index: 0,
        }
    }
}
