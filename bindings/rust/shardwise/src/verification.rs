//! Judges whether the results of a run are right.

use std::ptr::null;
use std::sync::Arc;

use shardwise_sys as sys;

use crate::event::PanicSlot;
use crate::handle::{filled, init};
use crate::region::RegionBody;
use crate::{Cancel, Plan, Region, Result, TensorView, Verdict};

handle! {
    /// How the results of one run were judged, by the rounding error of their own computation. Immutable.
    Verification, shw_verification, shw_verification_destroy, { Send, Sync }
}

/// Options of [`Verification::new`]. Tensors are whole, and in the order of the entry's ports.
#[derive(Default)]
pub struct VerificationOptions<'a> {
    /// Number of the entry that was run: [`Plan::find_entry`].
    pub entry: usize,
    /// Inputs of the run.
    pub inputs: Vec<TensorView<'a>>,
    /// Outputs of the run; none for each port that is not present.
    pub outputs: Vec<Option<TensorView<'a>>>,
    /// Results of another program for the same inputs: none at all, or as many as outputs.
    pub expected: Vec<Option<TensorView<'a>>>,
    /// Bodies of manual regions. They must also work in f64 and on whole tensors.
    pub regions: Vec<Region>,
    /// All state of the plan: for each port, its number, its value before the run, and its value
    /// after it.
    pub state: Vec<(usize, TensorView<'a>, TensorView<'a>)>,
    /// A flag that ends the call when it is raised.
    pub cancel: Option<Cancel>,
}

record! {
    /// How many results are wrong.
    VerificationSummary, shw_verification_summary(raw) {
        /// Number of results of the run that are not right.
        num_wrong: usize,
        /// Number of expected tensors that are not right.
        num_expected_wrong: usize,
        /// The tensor of the run with the largest error relative to its limit.
        worst: Option<usize>,
        /// The expected tensor with the largest error relative to its limit.
        worst_expected: Option<usize>,
        /// Number of runs at inputs that differ by rounding, to measure its effect.
        num_samples: usize,
    }
}

record! {
    /// How one result was judged. Distances are relative to `scale`.
    VerificationTensor<'a>, shw_verification_tensor(raw) {
        /// Name of the output.
        name: &'a str,
        /// Norm of the result in f64, or the noise if that is larger.
        scale: f64,
        /// Distance of the unsharded run from the run in f64.
        unsharded_error: f64,
        /// The largest such distance of all samples.
        noise: f64,
        /// Distance of the plan when it is run in f64.
        plan_error: f64,
        /// Number of elements that are not compared, because rounding decides them.
        num_undecided: usize,
        /// Distance of the run.
        error: f64,
        /// The largest `error` that rounding explains.
        limit: f64,
        /// The part of `error` that scales the whole tensor.
        gain: f64,
        /// The largest `gain` that rounding explains.
        gain_limit: f64,
        /// Number of elements that differ: [`Verdict::Different`].
        num_different: usize,
        /// Verdict on the result of the run.
        verdict: Verdict,
        /// Verdict on the expected tensor. `Other(0)`: no tensor was expected, and the rest is 0.
        expected_verdict: Verdict,
        /// `error` of the expected tensor.
        expected_error: f64,
        /// `limit` of the expected tensor.
        expected_limit: f64,
        /// `gain` of the expected tensor.
        expected_gain: f64,
        /// `gain_limit` of the expected tensor.
        expected_gain_limit: f64,
        /// `num_different` of the expected tensor.
        num_expected_different: usize,
    }
}

/// A tensor that is absent.
fn raw_or_absent(tensor: &Option<TensorView<'_>>) -> sys::shw_tensor {
    match tensor {
        Some(tensor) => tensor.raw(),
        // SAFETY: all fields are numbers or pointers, for which zeros are values.
        None => unsafe { std::mem::zeroed() },
    }
}

impl Verification {
    /// Judges the results of one run. This takes about a dozen runs of the entry on the CPU.
    pub fn new(plan: &Plan, options: VerificationOptions<'_>) -> Result<Self> {
        let panics = Arc::new(PanicSlot::default());
        let inputs: Vec<_> = options.inputs.iter().map(TensorView::raw).collect();
        let outputs: Vec<_> = options.outputs.iter().map(raw_or_absent).collect();
        let expected: Vec<_> = options.expected.iter().map(raw_or_absent).collect();
        let bodies = RegionBody::all(options.regions, &panics);
        let regions: Vec<_> = bodies.iter().map(RegionBody::raw).collect();
        let state: Vec<_> = options
            .state
            .iter()
            .map(|(port, before, after)| sys::shw_verification_state {
                port: *port,
                before: before.raw(),
                after: after.raw(),
            })
            .collect();
        let mut raw = init(sys::shw_verification_options_init);
        raw.entry = options.entry;
        (raw.inputs, raw.num_inputs) = (inputs.as_ptr(), inputs.len());
        (raw.outputs, raw.num_outputs) = (outputs.as_ptr(), outputs.len());
        (raw.expected, raw.num_expected) =
            (if expected.is_empty() { null() } else { expected.as_ptr() }, expected.len());
        (raw.regions, raw.num_regions) = (regions.as_ptr(), regions.len());
        (raw.state, raw.num_state) = (state.as_ptr(), state.len());
        raw.cancel = options.cancel.as_ref().map_or(null(), Cancel::as_ptr);
        // SAFETY: all that is pointed to lives for the call.
        let made =
            Self::create(&plan.keep, |out| unsafe { sys::shw_verification_create(plan.as_ptr(), &raw, out) });
        if let Some(panic) = panics.take() {
            std::panic::resume_unwind(panic)
        }
        made
    }

    /// How many results are wrong.
    pub fn summary(&self) -> Result<VerificationSummary> {
        // SAFETY: the handle is valid.
        unsafe {
            let get = |out: *mut _| sys::shw_verification_get_summary(self.as_ptr(), out);
            Ok(VerificationSummary::from_raw(filled(sys::shw_verification_summary_init, get)?))
        }
    }

    rows! {
        /// Every result: the outputs that are present, then the state.
        tensors: VerificationTensor<'_> =
            shw_verification_num_tensors, shw_verification_get_tensor, shw_verification_tensor_init;
    }

    texts! {
        /// The verification as one JSON object.
        to_json = shw_verification_to_json;
        /// The verification as text for a person.
        to_text = shw_verification_to_text;
    }
}
