//! Contexts, and what a host program can give them: memory, a log, threads.

use std::alloc::Layout;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use shardwise_sys as sys;

use crate::convert::{c_string, text};
use crate::handle::{init, Keep};
use crate::{LogLevel, Result};

/// Memory for tensors, executors and blobs.
///
/// # Safety
/// What `allocate` returns must be NULL, or `layout.size()` bytes at a multiple of `layout.align()`
/// that nobody else uses until `free` takes them back.
pub unsafe trait Allocator: Send + Sync + 'static {
    /// Allocates memory of this size and alignment. Returns NULL if there is none.
    fn allocate(&self, layout: Layout) -> *mut u8;

    /// Frees memory that `allocate` returned.
    ///
    /// # Safety
    /// `memory` came from `allocate` with the same layout, and nobody uses it any more.
    unsafe fn free(&self, memory: *mut u8, layout: Layout);
}

type LogFn = dyn Fn(LogLevel, &str, &str, i32) + Send + Sync;
type SubmitFn = dyn Fn(Task) -> std::result::Result<(), Task> + Send + Sync;

/// The callbacks of a context. The library may call them as long as any object of the context
/// lives.
#[derive(Default)]
pub(crate) struct Hooks {
    allocator: Option<Box<dyn Allocator>>,
    log: Option<Box<LogFn>>,
    submit: Option<Box<SubmitFn>>,
}

/// Options of a context.
#[derive(Default)]
pub struct ContextOptions {
    hooks: Hooks,
    log_level: Option<LogLevel>,
    max_text_bytes: u64,
    kernel_cache: Option<String>,
    deterministic: bool,
}

impl ContextOptions {
    /// The defaults: the C++ heap, no log, threads of the library.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes memory for tensors, executors and blobs from `allocator`.
    #[must_use]
    pub fn allocator(mut self, allocator: impl Allocator) -> Self {
        self.hooks.allocator = Some(Box::new(allocator));
        self
    }

    /// A closure that receives each line of the log: level, message, source file and line. Any
    /// thread may call it, but calls do not overlap. It must not use this crate. A panic in it is
    /// ignored.
    #[must_use]
    pub fn log(
        mut self,
        lowest: LogLevel,
        log: impl Fn(LogLevel, &str, &str, i32) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.log = Some(Box::new(log));
        self.log_level = Some(lowest);
        self
    }

    /// The largest number of bytes of text that a graph or a problem may have, after inflation. The
    /// default is 512 MiB.
    #[must_use]
    pub fn max_text_bytes(mut self, bytes: u64) -> Self {
        self.max_text_bytes = bytes;
        self
    }

    /// A folder in which CUDA devices store the kernels that they have compiled, for later
    /// processes. Its files are run on the GPU, so nobody else should be able to write to it.
    #[must_use]
    pub fn kernel_cache(mut self, folder: &str) -> Self {
        self.kernel_cache = Some(folder.to_owned());
        self
    }

    /// Results on CUDA devices have the same bits in each run. The gradients of attention then take
    /// longer. Results of other devices always have the same bits.
    #[must_use]
    pub fn deterministic(mut self) -> Self {
        self.deterministic = true;
        self
    }

    /// Uses threads of the host program for the parallel work of planning. `submit` takes a
    /// [`Task`], and runs it at any time on any thread, or returns it as `Err` to refuse it. No
    /// call waits for a task that has not begun. If `submit` panics, its task is dropped, and runs
    /// at that point.
    #[must_use]
    pub fn threads(
        mut self,
        submit: impl Fn(Task) -> std::result::Result<(), Task> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.submit = Some(Box::new(submit));
        self
    }

    /// Creates the context.
    pub fn create(self) -> Result<Context> {
        crate::library::ready()?;
        let hooks = Arc::new(self.hooks);
        let user = Arc::as_ptr(&hooks) as *mut c_void;
        let mut options = init(sys::shw_context_options_init);
        options.flags = if self.deterministic { sys::SHW_CONTEXT_DETERMINISTIC } else { 0 };
        options.max_text_bytes = self.max_text_bytes;
        let folder = self.kernel_cache.as_deref().map(c_string).transpose()?;
        options.kernel_cache = folder.as_ref().map_or(null(), |f| f.as_ptr());
        if hooks.allocator.is_some() {
            options.alloc = Some(on_alloc);
            options.free = Some(on_free);
            options.alloc_user = user;
        }
        if hooks.log.is_some() {
            options.log = Some(on_log);
            options.log_user = user;
            options.log_level = self.log_level.map_or(0, LogLevel::raw);
        }
        if hooks.submit.is_some() {
            options.submit = Some(on_submit);
            options.submit_user = user;
        }
        // SAFETY: the options are valid for the call; the hooks live as long as every object that is
        // made in the context, because each holds them.
        Context::create(&Keep::of(hooks), |out| unsafe {
            sys::shw_context_create(sys::SHW_API_VERSION, &options, out)
        })
    }
}

handle! {
    /// A context. All other objects are made in one. They stay valid after the context was dropped.
    Context, shw_context, shw_context_destroy, { Send, Sync }
}

impl Context {
    /// A context with the defaults. Fails if the library that is loaded is older than this crate.
    pub fn new() -> Result<Self> {
        crate::library::ready()?;
        // SAFETY: NULL are the defaults.
        Self::create(&Keep::default(), |out| unsafe {
            sys::shw_context_create(sys::SHW_API_VERSION, std::ptr::null(), out)
        })
    }
}

/// A piece of work of the library. Run it once, on any thread. If a task is dropped, it runs at
/// that point.
pub struct Task {
    run: sys::shw_task_fn,
    task: *mut c_void,
    _hooks: Arc<Hooks>,
}

// SAFETY: "to be run on any thread".
unsafe impl Send for Task {}

impl Task {
    /// Runs the task. Returns at once if the library has done the work meanwhile.
    pub fn run(self) {}
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(run) = self.run {
            // SAFETY: called once, as this ends the task.
            unsafe { run(self.task) }
        }
    }
}

/// # Safety
/// `user` is the hooks of a context of which something still lives.
unsafe fn hooks<'a>(user: *mut c_void) -> &'a Hooks {
    // SAFETY: as the caller says.
    unsafe { &*user.cast::<Hooks>() }
}

unsafe extern "C" fn on_alloc(user: *mut c_void, size: usize, alignment: usize) -> *mut c_void {
    // SAFETY: `user` is what `create` gave.
    let hooks = unsafe { hooks(user) };
    let allocate = || match (&hooks.allocator, Layout::from_size_align(size, alignment)) {
        (Some(allocator), Ok(layout)) => allocator.allocate(layout),
        _ => null_mut(),
    };
    catch_unwind(AssertUnwindSafe(allocate)).unwrap_or(null_mut()).cast()
}

unsafe extern "C" fn on_free(user: *mut c_void, memory: *mut c_void, size: usize, alignment: usize) {
    // SAFETY: `user` is what `create` gave.
    let hooks = unsafe { hooks(user) };
    if let (Some(allocator), Ok(layout)) = (&hooks.allocator, Layout::from_size_align(size, alignment)) {
        // SAFETY: the library gives back what it got, once.
        let free = || unsafe { allocator.free(memory.cast(), layout) };
        let _ = catch_unwind(AssertUnwindSafe(free));
    }
}

unsafe extern "C" fn on_log(
    user: *mut c_void,
    level: sys::shw_log_level,
    message: *const c_char,
    file: *const c_char,
    line: i32,
) {
    // SAFETY: `user` is what `create` gave; the strings are lent for the call.
    let (hooks, message, file) = unsafe { (hooks(user), text(message), text(file)) };
    if let Some(log) = &hooks.log {
        let _ = catch_unwind(AssertUnwindSafe(|| log(LogLevel::from_raw(level), message, file, line)));
    }
}

unsafe extern "C" fn on_submit(user: *mut c_void, run: sys::shw_task_fn, task: *mut c_void) -> i32 {
    // SAFETY: `user` came from an Arc that something of the context still holds.
    let owned = unsafe {
        Arc::increment_strong_count(user.cast::<Hooks>());
        Arc::from_raw(user.cast::<Hooks>())
    };
    let task = Task { run, task, _hooks: owned };
    // SAFETY: as above.
    let hooks = unsafe { hooks(user) };
    let submit = match &hooks.submit {
        Some(submit) => submit,
        None => return refuse(task),
    };
    match catch_unwind(AssertUnwindSafe(|| submit(task))) {
        Ok(Err(task)) => refuse(task),
        _ => 0, // taken, or run by its drop while `submit` panicked
    }
}

/// A refused task must not run.
fn refuse(mut task: Task) -> i32 {
    task.run = None;
    1
}
