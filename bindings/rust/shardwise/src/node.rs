//! Nodes of a graph: values that operators and named operations combine.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use shardwise_sys as sys;

use crate::convert::Strings;
use crate::handle::init;
use crate::{Dtype, Graph, Phase, Recompute, Result};

/// An argument of an operation that is not a tensor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Attr {
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A dtype.
    Dtype(Dtype),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A text.
    String(String),
    /// Sizes made of symbols: "cache", "\[1,2*cache\]".
    Expr(String),
}

macro_rules! attr_from {
    ($($type:ty => |$value:ident| $attr:expr;)*) => {
        $(impl From<$type> for Attr {
            fn from($value: $type) -> Self {
                $attr
            }
        })*
    };
}
attr_from! {
    i64 => |value| Self::Int(value);
    i32 => |value| Self::Int(value.into());
    f64 => |value| Self::Float(value);
    bool => |value| Self::Bool(value);
    Dtype => |value| Self::Dtype(value);
    Vec<i64> => |value| Self::Ints(value);
    &[i64] => |value| Self::Ints(value.to_vec());
    &str => |value| Self::String(value.to_owned());
    String => |value| Self::String(value);
}

impl<const N: usize> From<[i64; N]> for Attr {
    fn from(value: [i64; N]) -> Self {
        Self::Ints(value.to_vec())
    }
}

impl Attr {
    /// The argument as a C struct, lent by `self` and `strings`.
    #[track_caller]
    pub(crate) fn raw(&self, name: &str, strings: &mut Strings) -> Result<sys::shw_attr> {
        let mut raw = sys::shw_attr {
            name: strings.add(name)?,
            kind: 0,
            reserved: 0,
            int_value: 0,
            float_value: 0.0,
            ints: std::ptr::null(),
            num_ints: 0,
            string: std::ptr::null(),
        };
        match self {
            Self::Int(value) => (raw.kind, raw.int_value) = (sys::SHW_ATTR_KIND_INT, *value),
            Self::Float(value) => (raw.kind, raw.float_value) = (sys::SHW_ATTR_KIND_FLOAT, *value),
            Self::Bool(value) => (raw.kind, raw.int_value) = (sys::SHW_ATTR_KIND_BOOL, i64::from(*value)),
            Self::Dtype(value) => {
                (raw.kind, raw.int_value) = (sys::SHW_ATTR_KIND_DTYPE, i64::from(value.raw()))
            }
            Self::Ints(values) => {
                raw.kind = sys::SHW_ATTR_KIND_INTS;
                (raw.ints, raw.num_ints) = (values.as_ptr(), values.len());
            }
            Self::String(value) => (raw.kind, raw.string) = (sys::SHW_ATTR_KIND_STRING, strings.add(value)?),
            Self::Expr(value) => (raw.kind, raw.string) = (sys::SHW_ATTR_KIND_EXPR, strings.add(value)?),
        }
        Ok(raw)
    }
}

/// Properties of a node that the planner and its reports use, besides its operation. The default
/// sets none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeOptions {
    /// Name, for people and messages; none: "%" and the node's number.
    pub name: Option<String>,
    /// Phase of the node; none: forward.
    pub phase: Option<Phase>,
    /// How activation checkpointing tagged the result.
    pub recompute: Option<Recompute>,
    /// Module that the node is part of: "layers.0.attention.wq".
    pub module_path: Option<String>,
    /// File and line of the program, for people.
    pub source: Option<String>,
    /// Number from autograd that links a backward node to its forward node.
    pub sequence_nr: Option<i64>,
    /// Number of the activation checkpointing region.
    pub region: Option<i32>,
}

impl NodeOptions {
    #[track_caller]
    pub(crate) fn raw(&self, strings: &mut Strings) -> Result<sys::shw_node_options> {
        let mut raw = init(sys::shw_node_options_init);
        raw.name = strings.optional(self.name.as_deref())?;
        raw.phase = self.phase.map_or(0, Phase::raw);
        raw.recompute = self.recompute.map_or(0, Recompute::raw);
        raw.module_path = strings.optional(self.module_path.as_deref())?;
        raw.source = strings.optional(self.source.as_deref())?;
        if let Some(number) = self.sequence_nr {
            raw.flags |= sys::SHW_NODE_HAS_SEQUENCE_NR;
            raw.sequence_nr = number;
        }
        if let Some(number) = self.region {
            raw.flags |= sys::SHW_NODE_HAS_REGION;
            raw.region = number;
        }
        Ok(raw)
    }
}

/// Inferred type of a node's result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueType {
    /// False: the result is an element of a tuple that is absent.
    pub present: bool,
    /// Type of its elements.
    pub dtype: Dtype,
    /// Its sizes. A size that depends on symbols is given at their hints.
    pub dims: Vec<i64>,
    /// Number of results of the node. If there are several, operation "get_item" extracts one.
    pub num_results: usize,
}

/// A node of a graph under construction. Operators and methods add nodes. An error, such as shapes
/// that do not fit, names the line that made the call: [`Error::caller`](crate::Error::caller).
///
/// ```
/// # use shardwise::{Context, Dtype, Graph};
/// # fn main() -> shardwise::Result<()> {
/// # let graph = Graph::new(&Context::new()?)?;
/// let x = graph.input("x", Dtype::F32, &[4, 8])?;
/// let y = graph.input("y", Dtype::F32, &[4, 8])?;
/// let mean = ((x + y)? * 0.5)?;
/// let soft = mean.op("softmax", &[("dim", 1.into())])?;
/// assert_eq!(soft.value_type()?.dims, [4, 8]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Value<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) node: usize,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.node)
    }
}

impl<'g> Value<'g> {
    /// The node's number in the graph.
    pub fn node(self) -> usize {
        self.node
    }

    /// The inferred type of its first result.
    pub fn value_type(self) -> Result<ValueType> {
        self.graph.value_type(self, 0)
    }

    /// Adds an operation whose only operand is this node.
    #[track_caller]
    pub fn op(self, op: &str, attrs: &[(&str, Attr)]) -> Result<Value<'g>> {
        self.graph.op(op, &[Some(self)], attrs)
    }

    /// Adds an operation of this operand and another.
    #[track_caller]
    pub fn op2(self, op: &str, other: Value<'g>, attrs: &[(&str, Attr)]) -> Result<Value<'g>> {
        self.graph.op(op, &[Some(self), Some(other)], attrs)
    }

    /// Matrix product: "mm" of two matrices, "bmm" of two batches of them.
    #[track_caller]
    pub fn matmul(self, other: Value<'g>) -> Result<Value<'g>> {
        let batched = self.value_type()?.dims.len() == 3;
        self.op2(if batched { "bmm" } else { "mm" }, other, &[])
    }

    /// Transposes a matrix.
    #[track_caller]
    pub fn t(self) -> Result<Value<'g>> {
        self.op("t", &[])
    }

    /// max(x, 0)
    #[track_caller]
    pub fn relu(self) -> Result<Value<'g>> {
        self.op("relu", &[])
    }

    /// Sum over `dims`; over all elements if `dims` is empty.
    #[track_caller]
    pub fn sum(self, dims: &[i64]) -> Result<Value<'g>> {
        self.reduce("sum", dims)
    }

    /// Mean over `dims`; over all elements if `dims` is empty.
    #[track_caller]
    pub fn mean(self, dims: &[i64]) -> Result<Value<'g>> {
        self.reduce("mean", dims)
    }

    #[track_caller]
    fn reduce(self, op: &str, dims: &[i64]) -> Result<Value<'g>> {
        if dims.is_empty() {
            return self.op(op, &[]);
        }
        self.op(op, &[("dims", dims.into())])
    }

    /// One result of a node that has several.
    #[track_caller]
    pub fn item(self, index: i64) -> Result<Value<'g>> {
        self.op("get_item", &[("index", index.into())])
    }
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $op:literal;)*) => {
        $(
            impl<'g> $trait for Value<'g> {
                type Output = Result<Value<'g>>;

                #[track_caller]
                fn $method(self, other: Value<'g>) -> Self::Output {
                    self.op2($op, other, &[])
                }
            }

            impl<'g> $trait<f64> for Value<'g> {
                type Output = Result<Value<'g>>;

                #[track_caller]
                fn $method(self, other: f64) -> Self::Output {
                    self.op($op, &[("other", other.into())])
                }
            }
        )*
    };
}
operators! {
    Add, add, "add";
    Sub, sub, "sub";
    Mul, mul, "mul";
    Div, div, "div";
}

impl<'g> Neg for Value<'g> {
    type Output = Result<Value<'g>>;

    #[track_caller]
    fn neg(self) -> Self::Output {
        self.op("neg", &[])
    }
}
