//! Machines, and fitting their description to measurements.

use std::os::raw::c_char;
use std::ptr::null;

use shardwise_sys as sys;

use crate::convert::{bytes, c_string, text, Strings};
use crate::handle::{filled, init};
use crate::{Blob, Context, Result};

/// Names of the machines that the library has cost tables for.
pub fn hardware_names() -> Vec<&'static str> {
    crate::library::must_be_ready();
    // SAFETY: the strings live as long as the library.
    unsafe { (0..sys::shw_hardware_count()).map(|index| text(sys::shw_hardware_name(index))).collect() }
}

/// A machine: one of [`hardware_names`], or a description in JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hardware<'a> {
    /// Its name: "h100".
    Named(&'a str),
    /// JSON, as [`Hardware::to_json`] gives it.
    Described(&'a str),
}

record! {
    /// The main figures of a machine.
    HardwareInfo, shw_hardware_info(raw) {
        /// Memory bandwidth of one device. The next five fields are of one device too.
        memory_bytes_per_s: f64,
        /// Operations per second in f64; 0: unknown.
        flops_f64: f64,
        /// Likewise in f32.
        flops_f32: f64,
        /// Likewise in f16.
        flops_f16: f64,
        /// Likewise in bf16.
        flops_bf16: f64,
        /// Likewise in i8.
        flops_i8: f64,
        /// The share of these rates that kernels reach.
        efficiency: f64,
        /// The least time of a kernel.
        launch_us: f64,
        /// Number of devices of a host.
        devices_per_node: i64,
        /// Bandwidth of one device to the others of its node.
        intra_bytes_per_s: f64,
        /// Bandwidth of one device to other nodes.
        inter_bytes_per_s: f64,
        /// True: prices come from NCCL's cost model. False: from a simple ring.
        nccl_model: bool,
        /// Number of collectives whose price is measured, not modelled.
        num_measured: usize,
        /// Operations per second in 8-bit floats; 0: unknown.
        flops_f8: f64,
    }
}

impl Hardware<'_> {
    fn with<T>(self, call: impl FnOnce(*const c_char, sys::shw_bytes) -> Result<T>) -> Result<T> {
        crate::library::ready()?;
        match self {
            Self::Named(name) => call(c_string(name)?.as_ptr(), bytes(&[])),
            Self::Described(json) => call(null(), bytes(json.as_bytes())),
        }
    }

    /// The main figures.
    pub fn info(self) -> Result<HardwareInfo> {
        self.with(|name, description| {
            // SAFETY: the string and the bytes live for the call.
            unsafe {
                let get = |out: *mut _| sys::shw_hardware_get_info(name, description, out);
                Ok(HardwareInfo::from_raw(filled(sys::shw_hardware_info_init, get)?))
            }
        })
    }

    /// The complete description in JSON. Edit it to describe another machine.
    pub fn to_json(self, context: &Context) -> Result<String> {
        self.with(|name, description| {
            // SAFETY: the string and the bytes live for the call.
            let blob = Blob::create(&context.keep, |out| unsafe {
                sys::shw_hardware_to_json(context.as_ptr(), name, description, out)
            })?;
            Ok(blob.to_text())
        })
    }
}

/// Output of a program of nccl-tests or rccl-tests.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationFile<'a> {
    /// Name of the file, for messages.
    pub name: &'a str,
    /// What the program printed.
    pub output: &'a [u8],
    /// The collective: "all_gather", "reduce_scatter", "all_reduce", "all_to_all"; none: the output
    /// names it.
    pub collective: Option<&'a str>,
}

/// Options of [`Calibration::new`].
#[derive(Clone, Copy, Debug, Default)]
pub struct CalibrationOptions<'a> {
    /// The machine to start from; none: "h100".
    pub hardware: Option<Hardware<'a>>,
    /// Name of the result; none: the name of the base with "-calibrated"; with a device "cpu-measured" or
    /// "cuda-measured".
    pub name: Option<&'a str>,
    /// "cpu", "cuda": measure this machine, without files and hardware; none: fit the hardware to files.
    pub device: Option<&'a str>,
}

handle! {
    /// A description fitted to measurements. Immutable.
    Calibration, shw_calibration, shw_calibration_destroy, { Send, Sync }
}

record! {
    /// One run of a file, and how far prices are from its times. Errors are factors minus 1.
    CalibrationCollective<'a>, shw_calibration_collective(raw) {
        /// Name of the file.
        file: &'a str,
        /// The line of the file at which the run begins.
        line: usize,
        /// The collective: "all_gather", …
        collective: &'a str,
        /// Number of nodes of the group.
        num_nodes: i64,
        /// Number of devices of the group on each node.
        devices_per_node: i64,
        /// Number of message sizes.
        num_sizes: usize,
        /// Mean error of the machine that the fit started from.
        base_error_mean: f64,
        /// Largest error of that machine.
        base_error_max: f64,
        /// Mean error of the model with fitted figures.
        model_error_mean: f64,
        /// Largest error of that model.
        model_error_max: f64,
        /// Mean error of the result.
        lines_error_mean: f64,
        /// Largest error of the result.
        lines_error_max: f64,
    }
}

record! {
    /// A figure of the cost model.
    CalibrationFigure<'a>, shw_calibration_figure(raw) {
        /// Its name in descriptions: "nccl.inter_gb_per_s".
        name: &'a str,
        /// Its value for the machine that the fit started from.
        before: f64,
        /// Its value in the result.
        after: f64,
        /// False: no price of the runs depends on it.
        determined: bool,
    }
}

impl Calibration {
    /// Fits a machine's links to measured collectives, or measures this machine. A measurement
    /// takes seconds.
    pub fn new(
        context: &Context,
        files: &[CalibrationFile<'_>],
        options: &CalibrationOptions<'_>,
    ) -> Result<Self> {
        let mut strings = Strings::default();
        let mut lent = Vec::with_capacity(files.len());
        for file in files {
            lent.push(sys::shw_calibration_file {
                name: strings.add(file.name)?,
                output: bytes(file.output),
                collective: strings.optional(file.collective)?,
            });
        }
        let mut raw = init(sys::shw_calibration_options_init);
        match options.hardware {
            None => {}
            Some(Hardware::Named(name)) => raw.hardware = strings.add(name)?,
            Some(Hardware::Described(json)) => raw.hardware_description = bytes(json.as_bytes()),
        }
        raw.name = strings.optional(options.name)?;
        raw.device = strings.optional(options.device)?;
        // SAFETY: all that is pointed to lives for the call.
        Self::create(&context.keep, |out| unsafe {
            sys::shw_calibration_create(context.as_ptr(), lent.as_ptr(), lent.len(), &raw, out)
        })
    }

    rows! {
        /// The runs, in the order of the files.
        collectives: CalibrationCollective<'_> =
            shw_calibration_num_collectives, shw_calibration_get_collective, shw_calibration_collective_init;
        /// The figures of the cost model, before and after.
        figures: CalibrationFigure<'_> =
            shw_calibration_num_figures, shw_calibration_get_figure, shw_calibration_figure_init;
    }

    texts! {
        /// The machine that was fitted, for [`CompileOptions::hardware_description`](crate::CompileOptions::hardware_description).
        to_description = shw_calibration_to_description;
        /// The calibration as one JSON object.
        to_json = shw_calibration_to_json;
        /// The calibration as text for a person.
        to_text = shw_calibration_to_text;
    }
}
