//! Finds libshardwise, in this order:
//!
//! 1. `SHARDWISE_LIB_DIR`: the folder that it lies in;
//! 2. `SHARDWISE_DIR`: the prefix that it is installed in;
//! 3. `SHARDWISE_BUILD=1`: built by CMake from the repository that this crate lies in;
//! 4. pkg-config.
//!
//! With the feature `runtime` nothing is linked and nothing looked for.
//!
//! `SHARDWISE_STATIC=1` links the static library of 1 to 3 and what that needs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

fn main() {
    for name in [
        "SHARDWISE_LIB_DIR",
        "SHARDWISE_DIR",
        "SHARDWISE_BUILD",
        "SHARDWISE_STATIC",
        "PKG_CONFIG_PATH",
        "PKG_CONFIG",
    ] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("DOCS_RS").is_some() || env::var_os("CARGO_FEATURE_RUNTIME").is_some() {
        return; // documentation links nothing, and nor does what is opened at run time
    }
    let folders = match find() {
        Ok(folders) => folders,
        Err(why) => {
            eprintln!("shardwise-sys: {why}");
            exit(1);
        }
    };
    for folder in &folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    if is_set("SHARDWISE_STATIC") {
        link_static(&folders);
    } else {
        println!("cargo:rustc-link-lib=dylib=shardwise");
        lend_to_cargo(&folders);
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).map_or(false, |value| !value.is_empty() && value != "0")
}

/// Folders to search for the library; none: where the linker searches anyway.
fn find() -> Result<Vec<PathBuf>, String> {
    if let Some(folder) = env::var_os("SHARDWISE_LIB_DIR") {
        return holding(vec![PathBuf::from(folder)], "SHARDWISE_LIB_DIR");
    }
    if let Some(prefix) = env::var_os("SHARDWISE_DIR") {
        return holding(library_folders(Path::new(&prefix)), "SHARDWISE_DIR");
    }
    if is_set("SHARDWISE_BUILD") {
        return holding(library_folders(&build()?), "the build");
    }
    pkg_config()
}

/// Where installations under a prefix have their libraries.
fn library_folders(prefix: &Path) -> Vec<PathBuf> {
    let target = env::var("TARGET").unwrap_or_default().replace("-unknown", "");
    vec![prefix.join("lib"), prefix.join("lib64"), prefix.join("lib").join(target)]
}

fn library_file() -> &'static str {
    if is_set("SHARDWISE_STATIC") {
        "libshardwise.a"
    } else if cfg!(target_os = "macos") {
        "libshardwise.dylib"
    } else {
        "libshardwise.so"
    }
}

/// Those of the folders that have the library.
fn holding(folders: Vec<PathBuf>, whose: &str) -> Result<Vec<PathBuf>, String> {
    let found: Vec<_> = folders.iter().filter(|f| f.join(library_file()).exists()).cloned().collect();
    if found.is_empty() {
        return Err(format!("{whose}: there is no {} in {folders:?}", library_file()));
    }
    Ok(found)
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|why| format!("{command:?}: {why}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Builds and installs the library of the enclosing repository; answers the prefix.
fn build() -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    if !source.join("capi/CMakeLists.txt").exists() {
        return Err(format!("SHARDWISE_BUILD: {} is not the repository of Shardwise", source.display()));
    }
    for part in ["src", "capi", "schemas", "CMakeLists.txt"] {
        println!("cargo:rerun-if-changed={}", source.join(part).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let (tree, prefix) = (out.join("build"), out.join("installed"));
    run(Command::new("cmake").arg("-S").arg(&source).arg("-B").arg(&tree).args([
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_TESTING=OFF",
        "-DSHARDWISE_BUILD_TOOL=OFF",
    ]))?;
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "2".into());
    run(Command::new("cmake").arg("--build").arg(&tree).args(["-j", &jobs]))?;
    run(Command::new("cmake").arg("--install").arg(&tree).arg("--prefix").arg(&prefix))?;
    Ok(prefix)
}

fn pkg_config() -> Result<Vec<PathBuf>, String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let flags = run(Command::new(program).args(["--libs-only-L", "--keep-system-libs", "shardwise >= 0.2"])).map_err(|why| {
        format!(
            "libshardwise was not found. Set SHARDWISE_DIR to the prefix that it is installed in, \
             PKG_CONFIG_PATH to the folder of shardwise.pc, or SHARDWISE_BUILD=1 to build it with CMake.\n{why}"
        )
    })?;
    Ok(flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-L")).map(PathBuf::from).collect())
}

/// What libshardwise.a needs is said by shardwise.pc beside it: oneDNN is there or not.
fn link_static(folders: &[PathBuf]) {
    println!("cargo:rustc-link-lib=static=shardwise");
    let mut needed = vec!["stdc++", "z", "dl", "m"];
    let says_dnnl = |folder: &PathBuf| {
        std::fs::read_to_string(folder.join("pkgconfig/shardwise.pc"))
            .map_or(false, |text| text.contains("-ldnnl"))
    };
    if folders.iter().any(says_dnnl) {
        needed.extend(["dnnl", "gomp"]);
    }
    for library in needed {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
}

/// Links to the library from a folder that `cargo run` and `cargo test` let programs search: those
/// below the target folder. Programs that are started without cargo have an rpath, or the library
/// lies where the system searches.
fn lend_to_cargo(folders: &[PathBuf]) {
    let out = match env::var_os("OUT_DIR") {
        Some(out) => PathBuf::from(out),
        None => return,
    };
    let lent = out.join("lib");
    if std::fs::create_dir_all(&lent).is_err() {
        return;
    }
    #[cfg(unix)]
    for folder in folders {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("libshardwise") {
                let link = lent.join(entry.file_name());
                let _ = std::fs::remove_file(&link);
                let _ = std::os::unix::fs::symlink(entry.path(), link);
            }
        }
    }
    println!("cargo:rustc-link-search=native={}", lent.display());
}
