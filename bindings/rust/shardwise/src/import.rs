//! Imports graphs of other programs, and summarizes graphs.

use std::ptr::null_mut;

use shardwise_sys as sys;

use crate::convert::{bytes, Strings};
use crate::handle::{filled, init};
use crate::{Blob, Context, GraphFormat, Result};

/// Converts a graph of another format to bytes of schemas/graph.fbs, and verifies it.
pub fn import_graph(context: &Context, format: GraphFormat, graph: &[u8]) -> Result<Blob> {
    // SAFETY: the bytes are valid for the call.
    Blob::create(&context.keep, |out| unsafe {
        sys::shw_graph_import(context.as_ptr(), format.raw(), bytes(graph), out)
    })
}

/// Options of [`import_onnx`].
#[derive(Clone, Debug, Default)]
pub struct OnnxOptions<'a> {
    /// The sizes that the model leaves open: "batch=8,sequence=1..512". A range makes a symbol of the graph.
    pub sizes: Option<&'a str>,
    /// Bytes of a safetensors file: inputs of the model, by their names, that become constants of
    /// the graph.
    pub constants: &'a [u8],
    /// Path of libshardwise_onnx.so; none: in the folder of the library.
    pub plugin: Option<&'a str>,
}

/// The result of [`import_onnx`].
#[derive(Debug)]
pub struct OnnxModel {
    /// The graph, as bytes of schemas/graph.fbs.
    pub graph: Blob,
    /// The values of the model's parameters, as a safetensors file.
    pub values: Blob,
}

/// Converts an ONNX model to a graph, and verifies it.
pub fn import_onnx(context: &Context, model: &[u8], options: &OnnxOptions<'_>) -> Result<OnnxModel> {
    let mut strings = Strings::default();
    let mut raw = init(sys::shw_onnx_options_init);
    raw.sizes = strings.optional(options.sizes)?;
    raw.constants = bytes(options.constants);
    raw.plugin = strings.optional(options.plugin)?;
    let mut second = null_mut();
    // SAFETY: the bytes and texts are valid for the call.
    let graph = Blob::create(&context.keep, |out| unsafe {
        sys::shw_graph_import_onnx(context.as_ptr(), bytes(model), &raw, out, &mut second)
    })?;
    let values = Blob::create(&context.keep, |out| {
        // SAFETY: it is a local of `create`.
        unsafe { *out = second };
        null_mut()
    })?;
    Ok(OnnxModel { graph, values })
}

record! {
    /// What a graph consists of.
    GraphSummary, shw_graph_summary(raw) {
        /// Number of nodes, inputs and outputs included.
        num_nodes: usize,
        /// Number of inputs that are trained.
        num_parameters: usize,
        /// Number of inputs that are tensors of the model but not trained.
        num_buffers: usize,
        /// Number of gradients of results, given by the caller.
        num_tangents: usize,
        /// Number of all other inputs.
        num_inputs: usize,
        /// Number of outputs that are gradients of inputs.
        num_gradients: usize,
        /// Number of all other outputs.
        num_results: usize,
        /// Bytes of all parameters, as whole tensors.
        parameter_bytes: i64,
    }
}

impl GraphSummary {
    /// Summarizes a graph in bytes of schemas/graph.fbs.
    pub fn of(graph: &[u8]) -> Result<Self> {
        crate::library::ready()?;
        // SAFETY: the bytes are valid for the call.
        let raw = filled(sys::shw_graph_summary_init, |out| unsafe {
            sys::shw_graph_get_summary(bytes(graph), out)
        })?;
        // SAFETY: it has no pointers.
        Ok(unsafe { Self::from_raw(raw) })
    }
}

impl Blob {
    /// A graph for a person: a line for each input, node and output. [`import_graph`] reads it again.
    pub fn graph_text(&self, context: &Context) -> Result<String> {
        // SAFETY: the bytes are valid for the call.
        let text = Blob::create(&context.keep, |out| unsafe {
            sys::shw_graph_to_text(context.as_ptr(), bytes(self), out)
        })?;
        Ok(text.to_text())
    }
}
