//! Devices.

use std::sync::Arc;

use shardwise_sys as sys;

use crate::handle::{filled, Keep};
use crate::{Context, DeviceKind, Result};

handle! {
    /// The device of C.
    RawDevice, shw_device, shw_device_destroy, { Send, Sync }
}

/// Memory and streams of one accelerator, or of the CPU. Immutable. Clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<RawDevice>);

record! {
    /// What a device is and can do.
    DeviceInfo, shw_device_info(raw) {
        /// Its name: "cpu".
        name: &'static str,
        /// Its kind.
        kind: DeviceKind,
        /// Its number among the devices of that kind.
        index: i32,
        /// False: it computes nothing, and outputs have any values. For dry runs.
        computes: bool,
        /// The host can read and write its memory.
        host_access: bool,
        /// For [`DeviceKind::Null`]: the number of kernels launched since it was created.
        num_launches: i64,
        /// For [`DeviceKind::Null`]: the number of collectives of one rank since it was created.
        num_collectives: i64,
        /// Bytes that are allocated now.
        memory_bytes: i64,
        /// The largest number of bytes that were allocated at once.
        peak_memory_bytes: i64,
    }
}

impl Device {
    /// A device of this process.
    pub fn new(context: &Context, kind: DeviceKind, index: i32) -> Result<Self> {
        // SAFETY: the context is valid.
        let device = RawDevice::create(&context.keep, |out| unsafe {
            sys::shw_device_create(context.as_ptr(), kind.raw(), index, out)
        })?;
        Ok(Self(Arc::new(device)))
    }

    /// The CPU.
    pub fn cpu(context: &Context) -> Result<Self> {
        Self::new(context, DeviceKind::Cpu, 0)
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::shw_device {
        self.0.as_ptr()
    }

    pub(crate) fn keep(&self) -> &Keep {
        &self.0.keep
    }

    /// What the device is and can do.
    pub fn info(&self) -> Result<DeviceInfo> {
        // SAFETY: the name lives as long as the library.
        unsafe {
            let get = |out: *mut _| sys::shw_device_get_info(self.as_ptr(), out);
            Ok(DeviceInfo::from_raw(filled(sys::shw_device_info_init, get)?))
        }
    }
}
