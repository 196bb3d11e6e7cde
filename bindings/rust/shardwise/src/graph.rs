//! Builds a graph.

use std::cell::RefCell;

use shardwise_sys as sys;

use crate::convert::Strings;
use crate::handle::{filled, init, number, Keep};
use crate::{Attr, Blob, Code, Context, Dtype, Error, NodeOptions, Phase, Result, Role, Storage, TensorView};
use crate::{Value, ValueType};

handle! {
    /// The C builder.
    Builder, shw_builder, shw_builder_destroy, { Send }
}

/// A graph under construction: inputs, operations, outputs, and entries if there is more than one
/// way to run it. [`Graph::finish`] returns the bytes that [`Plan::compile`](crate::Plan::compile)
/// takes.
///
/// One thread at a time builds a graph, so it is not `Sync`.
pub struct Graph {
    builder: Builder,
    defaults: RefCell<NodeOptions>,
}

/// An input of a graph with all its properties: [`Graph::add_input`].
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// What it is for.
    pub role: Role,
    /// Who holds its memory between runs.
    pub storage: Storage,
    /// Required for parameters, buffers, optimizer state and all state.
    pub name: Option<&'a str>,
    /// Number of the argument of the model; for a tangent, number of the output that it belongs to.
    pub position: usize,
    /// Type of its elements.
    pub dtype: Dtype,
    /// Sizes of the whole tensor.
    pub dims: &'a [i64],
    /// In place of `dims`, if a size is an expression of symbols: "\[1,2*cache\]".
    pub symbolic_dims: Option<&'a str>,
}

impl<'a> Input<'a> {
    /// An input that is passed to every run.
    pub fn new(role: Role, name: &'a str, dtype: Dtype, dims: &'a [i64]) -> Self {
        Self { role, storage: Storage::Port, name: Some(name), position: 0, dtype, dims, symbolic_dims: None }
    }

    /// An input that the executors keep between runs.
    pub fn state(role: Role, name: &'a str, dtype: Dtype, dims: &'a [i64]) -> Self {
        Self { storage: Storage::State, ..Self::new(role, name, dtype, dims) }
    }
}

/// A size that is known only at run time: [`Graph::symbol`].
#[derive(Clone, Debug)]
pub struct Symbol<'a> {
    /// Name of the symbol: "cache".
    pub name: &'a str,
    /// Smallest size.
    pub minimum: i64,
    /// Largest size.
    pub maximum: i64,
    /// Every size is a multiple of it.
    pub divisor: i64,
    /// A typical size; 0: the largest.
    pub hint: i64,
}

/// One way to run a graph: [`Graph::entry`].
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Name of the entry: "step", "decode".
    pub name: &'a str,
    /// How often it is called, relative to other entries.
    pub weight: f64,
    /// The outputs that it computes, by their numbers, ascending.
    pub outputs: &'a [usize],
    /// The entries that must run before it in the same session, by their numbers.
    pub after: &'a [usize],
}

impl Graph {
    /// An empty graph.
    pub fn new(context: &Context) -> Result<Self> {
        // SAFETY: the context is valid.
        let builder =
            Builder::create(&context.keep, |out| unsafe { sys::shw_builder_create(context.as_ptr(), out) })?;
        Ok(Self { builder, defaults: RefCell::default() })
    }

    fn keep(&self) -> &Keep {
        &self.builder.keep
    }

    /// Nodes that are added from now on are part of this phase. Inputs have none.
    pub fn set_phase(&self, phase: Phase) {
        self.defaults.borrow_mut().phase = Some(phase);
    }

    /// Nodes that are added from now on are part of this module: "layers.0.attention"; "": of no
    /// module.
    pub fn set_module(&self, path: &str) {
        self.defaults.borrow_mut().module_path = (!path.is_empty()).then(|| path.to_owned());
    }

    /// Adds an input that is passed to every run.
    #[track_caller]
    pub fn input(&self, name: &str, dtype: Dtype, dims: &[i64]) -> Result<Value<'_>> {
        self.add_input(&Input::new(Role::Input, name, dtype, dims))
    }

    /// Adds a parameter that is passed to every run.
    #[track_caller]
    pub fn parameter(&self, name: &str, dtype: Dtype, dims: &[i64]) -> Result<Value<'_>> {
        self.add_input(&Input::new(Role::Parameter, name, dtype, dims))
    }

    /// Adds a parameter that the executors keep.
    #[track_caller]
    pub fn state_parameter(&self, name: &str, dtype: Dtype, dims: &[i64]) -> Result<Value<'_>> {
        self.add_input(&Input::state(Role::Parameter, name, dtype, dims))
    }

    /// Adds an input with all its properties.
    #[track_caller]
    pub fn add_input(&self, input: &Input<'_>) -> Result<Value<'_>> {
        let mut strings = Strings::default();
        let mut raw = init(sys::shw_builder_input_init);
        raw.role = input.role.raw();
        raw.storage = if input.storage == Storage::Port { 0 } else { input.storage.raw() };
        raw.name = strings.optional(input.name)?;
        raw.position = input.position;
        raw.dtype = input.dtype.raw();
        raw.symbolic_dims = strings.optional(input.symbolic_dims)?;
        if input.symbolic_dims.is_none() {
            raw.rank = i32::try_from(input.dims.len()).unwrap_or(i32::MAX);
            raw.dims = input.dims.as_ptr();
        }
        // SAFETY: all that the struct points to lives for the call.
        let node = number(|out| unsafe {
            sys::shw_builder_add_input(self.builder.as_ptr(), &raw, std::ptr::null(), out)
        })?;
        Ok(Value { graph: self, node })
    }

    /// Adds a small tensor whose values are known now, such as a mask. The graph and its plans hold
    /// the values.
    #[track_caller]
    pub fn constant(&self, name: &str, tensor: TensorView<'_>) -> Result<Value<'_>> {
        let mut strings = Strings::default();
        let (name, tensor) = (strings.add(name)?, tensor.raw());
        // SAFETY: both are valid for the call, which copies them.
        let node = number(|out| unsafe {
            sys::shw_builder_add_constant(self.builder.as_ptr(), name, &tensor, std::ptr::null(), out)
        })?;
        Ok(Value { graph: self, node })
    }

    /// Adds a symbol. Expressions can name it from now on.
    #[track_caller]
    pub fn symbol(&self, symbol: &Symbol<'_>) -> Result<usize> {
        let mut strings = Strings::default();
        let mut raw = init(sys::shw_symbol_init);
        raw.name = strings.add(symbol.name)?;
        (raw.minimum, raw.maximum) = (symbol.minimum, symbol.maximum);
        (raw.divisor, raw.hint) = (symbol.divisor, symbol.hint);
        // SAFETY: the struct is valid for the call.
        number(|out| unsafe { sys::shw_builder_add_symbol(self.builder.as_ptr(), &raw, out) })
    }

    /// Adds an operation with any number of operands. [`Op::all`](crate::Op::all) lists operations.
    #[track_caller]
    pub fn op<'g>(
        &'g self,
        op: &str,
        operands: &[Option<Value<'g>>],
        attrs: &[(&str, Attr)],
    ) -> Result<Value<'g>> {
        let options = self.defaults.borrow().clone();
        self.op_with(op, operands, attrs, &options)
    }

    /// As [`Graph::op`], with further properties of the node. They take the place of
    /// [`Graph::set_phase`] and [`Graph::set_module`].
    #[track_caller]
    pub fn op_with<'g>(
        &'g self,
        op: &str,
        operands: &[Option<Value<'g>>],
        attrs: &[(&str, Attr)],
        options: &NodeOptions,
    ) -> Result<Value<'g>> {
        let mut strings = Strings::default();
        let mut nodes = Vec::with_capacity(operands.len());
        for operand in operands {
            nodes.push(match operand {
                Some(value) => self.own(*value)?,
                None => sys::SHW_NONE,
            });
        }
        let mut raw_attrs = Vec::with_capacity(attrs.len());
        for (name, attr) in attrs {
            raw_attrs.push(attr.raw(name, &mut strings)?);
        }
        let (op, options) = (strings.add(op)?, options.raw(&mut strings)?);
        // SAFETY: all arrays and strings live for the call.
        let node = number(|out| unsafe {
            sys::shw_builder_add_node(
                self.builder.as_ptr(),
                op,
                nodes.as_ptr(),
                nodes.len(),
                raw_attrs.as_ptr(),
                raw_attrs.len(),
                &options,
                out,
            )
        })?;
        Ok(Value { graph: self, node })
    }

    /// The number of a value, if it is of this graph.
    #[track_caller]
    fn own(&self, value: Value<'_>) -> Result<usize> {
        if std::ptr::eq(value.graph, self) {
            return Ok(value.node);
        }
        Err(Error::new(Code::InvalidArgument, format!("value {value:?} is of another graph")))
    }

    #[track_caller]
    fn output(
        &self,
        role: Role,
        name: Option<&str>,
        node: Option<Value<'_>>,
        of: Option<Value<'_>>,
        in_place: bool,
    ) -> Result<usize> {
        let mut strings = Strings::default();
        let mut raw = init(sys::shw_builder_output_init);
        raw.role = role.raw();
        raw.in_place = i32::from(in_place);
        raw.name = strings.optional(name)?;
        raw.node = node.map_or(Ok(sys::SHW_NONE), |value| self.own(value))?;
        raw.of_input = of.map_or(Ok(sys::SHW_NONE), |value| self.own(value))?;
        // SAFETY: the struct is valid for the call.
        number(|out| unsafe { sys::shw_builder_add_output(self.builder.as_ptr(), &raw, out) })
    }

    /// Adds an output that is a result. Returns its number, like the methods for other outputs.
    #[track_caller]
    pub fn result(&self, name: &str, value: Value<'_>) -> Result<usize> {
        self.output(Role::Result, Some(name), Some(value), None, false)
    }

    /// Adds an output that is the gradient of an input; none: the input has no gradient.
    #[track_caller]
    pub fn gradient(&self, of_input: Value<'_>, value: Option<Value<'_>>) -> Result<usize> {
        self.output(Role::Gradient, None, value, Some(of_input), false)
    }

    /// Adds an output that is the new value of an input.
    #[track_caller]
    pub fn update(&self, of_input: Value<'_>, value: Value<'_>) -> Result<usize> {
        self.output(Role::Update, None, Some(value), Some(of_input), false)
    }

    /// Adds an output that is the new value of an input and overwrites the input's memory. For
    /// state, this is always the case.
    #[track_caller]
    pub fn update_in_place(&self, of_input: Value<'_>, value: Value<'_>) -> Result<usize> {
        self.output(Role::Update, None, Some(value), Some(of_input), true)
    }

    /// Adds an entry. A graph without entries gets one, "step", with all inputs and outputs.
    #[track_caller]
    pub fn entry(&self, entry: &Entry<'_>) -> Result<usize> {
        let mut strings = Strings::default();
        let mut raw = init(sys::shw_builder_entry_init);
        raw.name = strings.add(entry.name)?;
        raw.weight = entry.weight;
        (raw.outputs, raw.num_outputs) = (entry.outputs.as_ptr(), entry.outputs.len());
        (raw.after, raw.num_after) = (entry.after.as_ptr(), entry.after.len());
        // SAFETY: the struct is valid for the call.
        number(|out| unsafe { sys::shw_builder_add_entry(self.builder.as_ptr(), &raw, out) })
    }

    /// The inferred type of one result of a node.
    #[track_caller]
    pub fn value_type(&self, value: Value<'_>, result: usize) -> Result<ValueType> {
        let node = self.own(value)?;
        // SAFETY: the struct is valid for the call.
        let raw = filled(sys::shw_result_type_init, |out| unsafe {
            sys::shw_builder_get_type(self.builder.as_ptr(), node, result, out)
        })?;
        Ok(ValueType {
            present: raw.present != 0,
            dtype: Dtype::from_raw(raw.dtype),
            dims: raw.dims[..usize::try_from(raw.rank).unwrap_or(0)].to_vec(),
            num_results: raw.num_results,
        })
    }

    /// The graph so far, as bytes of schemas/graph.fbs.
    #[track_caller]
    pub fn finish(&self) -> Result<Blob> {
        // SAFETY: the builder is valid.
        Blob::create(self.keep(), |out| unsafe { sys::shw_builder_finish(self.builder.as_ptr(), out) })
    }
}
