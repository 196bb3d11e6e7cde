//! Where the library is opened at run time, and is not there: an error, and no crash.
#![cfg(feature = "runtime")]

use shardwise::{open_library, Cancel, Code, Context, Op};

#[test]
fn a_library_that_is_missing_is_unavailable() {
    let error = open_library("/nowhere/libshardwise.so").unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
    assert!(error.message().contains("/nowhere/libshardwise.so"), "{}", error.message());
    assert_eq!(Context::new().err().unwrap().code(), Code::Unavailable);
    assert_eq!(Cancel::new().err().unwrap().code(), Code::Unavailable);
    assert_eq!(Op::find("mm").err().unwrap().code(), Code::Unavailable);
    assert!(error.to_string().starts_with("UNAVAILABLE"), "{error}");
}
