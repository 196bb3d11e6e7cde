//! Graphs of other programs, and what a graph consists of.

use shardwise_sys as sys;

use crate::convert::bytes;
use crate::handle::filled;
use crate::{Blob, Context, GraphFormat, Result};

/// Converts a graph of another format to bytes of schemas/graph.fbs, and verifies it.
pub fn import_graph(context: &Context, format: GraphFormat, graph: &[u8]) -> Result<Blob> {
    // SAFETY: the bytes are valid for the call.
    Blob::create(&context.keep, |out| unsafe {
        sys::shw_graph_import(context.as_ptr(), format.raw(), bytes(graph), out)
    })
}

record! {
    /// What a graph consists of.
    GraphSummary, shw_graph_summary(raw) {
        /// Inputs and outputs included.
        num_nodes: usize,
        /// Inputs that are trained.
        num_parameters: usize,
        /// Inputs of the model that are not.
        num_buffers: usize,
        /// Gradients of results.
        num_tangents: usize,
        /// All other inputs.
        num_inputs: usize,
        /// Of inputs.
        num_gradients: usize,
        /// All other outputs.
        num_results: usize,
        /// Of whole tensors.
        parameter_bytes: i64,
    }
}

impl GraphSummary {
    /// Of a graph in bytes of schemas/graph.fbs.
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
