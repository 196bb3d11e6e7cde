//! Graphs by calls, in text, and what is refused.

mod common;

use shardwise::{
    import_graph, import_onnx, Attr, Code, Context, Dtype, Entry, Graph, GraphFormat, GraphSummary, Input,
    NodeOptions, OnnxOptions, Op, ParamKind, Role, Storage, Symbol, TensorView,
};

#[test]
fn a_wrong_shape_is_an_error_of_the_line_that_makes_it() {
    let graph = Graph::new(&Context::new().unwrap()).unwrap();
    let x = graph.input("x", Dtype::F32, &[4, 8]).unwrap();
    let error = x.matmul(x).unwrap_err();
    let line = line!() - 1;
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!((error.caller().file(), error.caller().line()), (file!(), line));
    assert!(error.message().contains("mm"), "{error}");
    assert!(error.library_location().unwrap().1 > 0);
    // The graph is as before.
    graph.result("y", x.relu().unwrap()).unwrap();
    graph.finish().unwrap();
}

#[test]
fn operators_take_values_and_numbers() {
    let graph = Graph::new(&Context::new().unwrap()).unwrap();
    let x = graph.input("x", Dtype::F64, &[4, 8]).unwrap();
    let mask = vec![1.0f64; 8];
    let mask = graph.constant("mask", TensorView::new(&mask, &[8]).unwrap()).unwrap();
    let sum = ((x + mask).unwrap() * 2.0).unwrap();
    let ratio = ((-x).unwrap() / (sum - 1.0).unwrap()).unwrap();
    assert_eq!(ratio.value_type().unwrap().dims, [4, 8]);
    assert_eq!(ratio.value_type().unwrap().dtype, Dtype::F64);
    assert_eq!(ratio.sum(&[0]).unwrap().value_type().unwrap().dims, [8]);
    assert!(ratio.mean(&[]).unwrap().value_type().unwrap().dims.is_empty());
}

#[test]
fn values_of_another_graph_are_refused() {
    let context = Context::new().unwrap();
    let (one, other) = (Graph::new(&context).unwrap(), Graph::new(&context).unwrap());
    let x = one.input("x", Dtype::F32, &[4]).unwrap();
    let y = other.input("y", Dtype::F32, &[4]).unwrap();
    let error = (x + y).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("another graph"), "{error}");
    assert_eq!(one.result("y", y).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn unknown_operations_attributes_and_names_with_zeros_are_refused() {
    let graph = Graph::new(&Context::new().unwrap()).unwrap();
    let x = graph.input("x", Dtype::F32, &[4]).unwrap();
    assert_eq!(x.op("no_such_op", &[]).unwrap_err().code(), Code::NotFound);
    let error = x.op("softmax", &[("dimension", 0.into())]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(graph.input("a\0b", Dtype::F32, &[4]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(graph.input("big", Dtype::F32, &[-1]).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn every_operation_is_listed_with_its_parameters() {
    let softmax = Op::find("softmax").unwrap();
    let params = softmax.params().unwrap();
    assert_eq!((params[0].kind, params[0].required), (ParamKind::Tensor, true));
    assert_eq!((params[1].name, params[1].kind, params[1].default_value), ("dim", ParamKind::Int, None));
    assert!(Op::all().count() > 100);
    assert!(Op::all().any(|op| op == softmax && op.name() == "softmax"));
    assert_eq!(Op::find("softmaks").unwrap_err().code(), Code::NotFound);
}

#[test]
fn symbols_entries_and_what_is_known_of_nodes() {
    let context = Context::new().unwrap();
    let graph = Graph::new(&context).unwrap();
    graph.symbol(&Symbol { name: "cache", minimum: 1, maximum: 64, divisor: 1, hint: 16 }).unwrap();
    let shape = Input { symbolic_dims: Some("[2*cache,8]"), ..Input::new(Role::Input, "x", Dtype::F32, &[]) };
    let x = graph.add_input(&shape).unwrap();
    assert_eq!(x.value_type().unwrap().dims, [32, 8]);
    let counter = graph.add_input(&Input::state(Role::Buffer, "seen", Dtype::F32, &[8])).unwrap();
    let options = NodeOptions {
        name: Some("activation".into()),
        module_path: Some("layers.0".into()),
        source: Some("model.rs:12".into()),
        ..NodeOptions::default()
    };
    let y = graph.op_with("relu", &[Some(x)], &[], &options).unwrap();
    let y = graph.result("y", y).unwrap();
    let next = (counter + x.sum(&[0]).unwrap()).unwrap();
    let seen = graph.update(counter, next).unwrap();
    let sum = x.op("sum", &[("dims", Attr::Ints(vec![1])), ("keepdim", true.into())]).unwrap();
    let z = graph.result("z", sum).unwrap();
    graph.entry(&Entry { name: "both", weight: 1.0, outputs: &[y, seen], after: &[] }).unwrap();
    graph.entry(&Entry { name: "sum", weight: 2.0, outputs: &[z], after: &[] }).unwrap();

    let bytes = graph.finish().unwrap();
    let summary = GraphSummary::of(&bytes).unwrap();
    assert_eq!((summary.num_buffers, summary.num_inputs, summary.num_results), (1, 1, 3));
    let text = bytes.graph_text(&context).unwrap();
    assert!(text.contains("activation") && text.contains("layers.0"), "{text}");
    let again = import_graph(&context, GraphFormat::Text, text.as_bytes()).unwrap();
    assert_eq!(again.graph_text(&context).unwrap(), text);
    assert_ne!(Storage::State, Storage::Port);
}

#[test]
fn codes_have_the_names_of_c() {
    for number in 1..40 {
        // SAFETY: takes any number; the string lives as long as the library.
        let in_c = unsafe { std::ffi::CStr::from_ptr(shardwise_sys::shw_status_code_name(number)) };
        assert_eq!(Code::from_raw(number).name(), in_c.to_str().unwrap());
        assert_eq!(Code::from_raw(number).raw(), number);
    }
    assert_eq!(Code::Other(99).name(), "UNRECOGNISED");
}

#[test]
fn bytes_that_are_no_graph_are_refused() {
    let context = Context::new().unwrap();
    for bad in [&b""[..], b"SWGR", &[0; 64]] {
        assert_eq!(GraphSummary::of(bad).unwrap_err().code(), Code::InvalidArgument);
    }
    let absent = OnnxOptions { plugin: Some("/nowhere.so"), ..OnnxOptions::default() };
    assert_eq!(import_onnx(&context, b"model", &absent).unwrap_err().code(), Code::Unavailable);
    let error = import_graph(&context, GraphFormat::FxJson, b"{").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(
        import_graph(&context, GraphFormat::Other(99), b"").unwrap_err().code(),
        Code::InvalidArgument
    );
}
