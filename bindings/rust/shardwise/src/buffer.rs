//! Tensors in a device's memory.

use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, NonNull};
use std::sync::Arc;

use shardwise_sys as sys;

use crate::convert::slice;
use crate::error::check;
use crate::handle::{make, Keep};
use crate::tensor::num_elements;
use crate::usage::Usage;
use crate::{Code, Device, Dtype, Element, Error, Result, TensorView};

/// A tensor, or one rank's piece of a tensor, in a device's memory. Several handles may have the
/// same memory: those of state, and of outputs that overwrite inputs. Read and write buffers on the
/// host only between runs. While a run uses a buffer, such calls fail with
/// [`Code::FailedPrecondition`].
pub struct Buffer {
    raw: NonNull<sys::shw_buffer>,
    usage: Arc<Usage>,
    state: bool,
    keep: Keep,
}

// SAFETY: C wants one thread at a time for each buffer when the host reads or writes it, and no run
// that uses it: the usage's lock sees to both.
unsafe impl Send for Buffer {}
// SAFETY: likewise.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the handle is ours, and destroyed once; runs keep their buffers until they end.
        unsafe { sys::shw_buffer_destroy(self.raw.as_ptr()) }
    }
}

impl Buffer {
    /// A handle of memory that no other handle has.
    pub(crate) fn own(raw: NonNull<sys::shw_buffer>, keep: &Keep) -> Self {
        Self { raw, usage: Arc::default(), state: false, keep: keep.clone() }
    }

    /// Another handle of the same memory.
    pub(crate) fn share(raw: NonNull<sys::shw_buffer>, usage: &Arc<Usage>, state: bool, keep: &Keep) -> Self {
        Self { raw, usage: usage.clone(), state, keep: keep.clone() }
    }

    /// A new buffer, row-major, filled with zeros.
    pub fn zeros(device: &Device, dtype: Dtype, dims: &[i64]) -> Result<Self> {
        let rank = i32::try_from(dims.len()).unwrap_or(i32::MAX);
        // SAFETY: the sizes live for the call.
        let raw = make(|out| unsafe {
            sys::shw_buffer_create(device.as_ptr(), dtype.raw(), dims.as_ptr(), rank, out)
        })?;
        Ok(Self::own(raw, device.keep()))
    }

    /// A row-major copy of a tensor.
    pub fn copy_of(device: &Device, tensor: TensorView<'_>) -> Result<Self> {
        let tensor = tensor.raw();
        // SAFETY: the tensor lives for the call, which copies it.
        let raw = make(|out| unsafe {
            sys::shw_buffer_import(
                device.as_ptr(),
                &tensor,
                sys::SHW_BORROW_COPY,
                None,
                std::ptr::null_mut(),
                out,
            )
        })?;
        Ok(Self::own(raw, device.keep()))
    }

    /// A buffer on the elements of `owner`, without a copy. `owner` is dropped when neither this
    /// buffer nor a run uses it any more. This may happen on any thread.
    ///
    /// ```
    /// # use shardwise::{Buffer, Context, Device};
    /// # fn main() -> shardwise::Result<()> {
    /// # let device = Device::cpu(&Context::new()?)?;
    /// let buffer = Buffer::from_owner(&device, vec![1.5f32; 6], &[2, 3])?;
    /// assert_eq!(buffer.read::<f32>()?, [1.5; 6]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_owner<T: Element, O: AsMut<[T]> + Send + 'static>(
        device: &Device,
        owner: O,
        dims: &[i64],
    ) -> Result<Self> {
        let mut owner = Box::new(owner);
        let elements = (*owner).as_mut();
        if num_elements(dims)? != elements.len() {
            let why = format!("dims {dims:?} do not have the {} elements of the owner", elements.len());
            return Err(Error::new(Code::InvalidArgument, why));
        }
        let tensor = sys::shw_tensor {
            data: elements.as_mut_ptr().cast(),
            dims: dims.as_ptr(),
            strides: null(),
            rank: i32::try_from(dims.len()).unwrap_or(i32::MAX),
            dtype: T::DTYPE.raw(),
            device_kind: sys::SHW_DEVICE_CPU,
            device_index: 0,
        };
        // One more box: a pointer of C has no room for the second half of `dyn`.
        let owner: Box<dyn Any + Send> = owner;
        let user = Box::into_raw(Box::new(owner));
        // SAFETY: the elements stay where they are until `on_release` drops their owner.
        let raw = make(|out| unsafe {
            let borrow = sys::SHW_BORROW_UNTIL_RELEASE;
            sys::shw_buffer_import(device.as_ptr(), &tensor, borrow, Some(on_release), user.cast(), out)
        });
        if raw.is_err() {
            // SAFETY: where the call fails, the library does not release.
            drop(unsafe { Box::from_raw(user) });
        }
        Ok(Self::own(raw?, device.keep()))
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::shw_buffer {
        self.raw.as_ptr()
    }

    pub(crate) fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    pub(crate) fn keep(&self) -> &Keep {
        &self.keep
    }

    pub(crate) fn is_state(&self) -> bool {
        self.state
    }

    fn tensor(&self) -> Result<sys::shw_tensor> {
        // SAFETY: all fields are numbers or pointers, for which zeros are values.
        let mut tensor = unsafe { std::mem::zeroed() };
        // SAFETY: the out-parameter is valid.
        check(unsafe { sys::shw_buffer_get_tensor(self.as_ptr(), &mut tensor) })?;
        Ok(tensor)
    }

    /// Type of its elements.
    pub fn dtype(&self) -> Result<Dtype> {
        Ok(Dtype::from_raw(self.tensor()?.dtype))
    }

    /// Its sizes.
    pub fn dims(&self) -> Result<&[i64]> {
        let tensor = self.tensor()?;
        // SAFETY: lent by the buffer, whose type never changes.
        Ok(unsafe { slice(tensor.dims, tensor.rank as usize) })
    }

    /// A copy of its elements, row-major.
    pub fn read<T: Element>(&self) -> Result<Vec<T>> {
        let mut values = vec![T::default(); num_elements(self.dims()?)?];
        self.read_into(&mut values)?;
        Ok(values)
    }

    /// Copies its elements, row-major, into memory of the caller that has exactly as many elements.
    pub fn read_into<T: Element>(&self, values: &mut [T]) -> Result<()> {
        self.check_element::<T>()?;
        let (data, size) = (values.as_mut_ptr().cast::<c_void>(), std::mem::size_of_val(values));
        let uses = self.usage.lock();
        uses.check_readable()?;
        // SAFETY: the memory is ours for the call, and every bit pattern is a value of T.
        check(unsafe { sys::shw_buffer_read(self.as_ptr(), data, size) })
    }

    /// A copy of its bytes, row-major. Use it for dtypes that Rust has no type for.
    pub fn read_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0u8; num_elements(self.dims()?)? * self.dtype()?.size()];
        let uses = self.usage.lock();
        uses.check_readable()?;
        // SAFETY: the memory is ours for the call.
        check(unsafe { sys::shw_buffer_read(self.as_ptr(), bytes.as_mut_ptr().cast(), bytes.len()) })?;
        Ok(bytes)
    }

    /// Overwrites its elements with elements in row-major order.
    pub fn write<T: Element>(&self, values: &[T]) -> Result<()> {
        self.check_element::<T>()?;
        let (data, size) = (values.as_ptr().cast::<c_void>(), std::mem::size_of_val(values));
        // SAFETY: the memory is valid for the call, and nobody uses the buffer meanwhile.
        self.while_idle(|raw| unsafe { sys::shw_buffer_write(raw, data, size) })
    }

    /// Overwrites its elements with bytes in row-major order.
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        // SAFETY: as above.
        self.while_idle(|raw| unsafe { sys::shw_buffer_write(raw, bytes.as_ptr().cast(), bytes.len()) })
    }

    fn check_element<T: Element>(&self) -> Result<()> {
        let dtype = self.dtype()?;
        if dtype == T::DTYPE {
            return Ok(());
        }
        let why = format!("the buffer's elements are {dtype:?}, not {:?}", T::DTYPE);
        Err(Error::new(Code::InvalidArgument, why))
    }

    /// Calls a closure that writes the buffer, while no run uses the buffer and none can be
    /// enqueued.
    pub(crate) fn while_idle(
        &self,
        call: impl FnOnce(*mut sys::shw_buffer) -> *mut sys::shw_status,
    ) -> Result<()> {
        let uses = self.usage.lock();
        uses.check_idle()?;
        check(call(self.as_ptr()))
    }

    /// Calls a closure that reads buffers, while nothing writes them.
    pub(crate) fn all_read<T>(buffers: &[&Buffer], call: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut usages: Vec<_> = buffers.iter().map(|buffer| &buffer.usage).collect();
        usages.sort_by_key(|usage| Arc::as_ptr(usage)); // the order in which everybody locks
        usages.dedup_by_key(|usage| Arc::as_ptr(usage));
        let uses: Vec<_> = usages.iter().map(|usage| usage.lock()).collect();
        uses.iter().try_for_each(|uses| uses.check_readable())?;
        call()
    }
}

unsafe extern "C" fn on_release(user: *mut c_void, _data: *mut c_void) {
    // SAFETY: `user` is what `from_owner` gave, and this is called once.
    let owner = unsafe { Box::from_raw(user.cast::<Box<dyn Any + Send>>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(owner)));
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.dtype(), self.dims()) {
            (Ok(dtype), Ok(dims)) => write!(f, "Buffer({dtype:?} {dims:?})"),
            _ => f.write_str("Buffer"),
        }
    }
}
