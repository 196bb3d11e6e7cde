//! Worlds: the ranks that communicate with each other.

use std::time::Duration;

use shardwise_sys as sys;

use crate::convert::{int32, Strings};
use crate::error::check;
use crate::handle::init;
use crate::{Context, Result};

handle! {
    /// The ranks that communicate with each other, in one process or in several.
    World, shw_world, shw_world_destroy, { Send, Sync }
}

/// Identifies a world while its parts are made.
#[derive(Clone, Copy)]
pub struct WorldId(sys::shw_world_id);

/// Options of worlds.
#[derive(Clone, Debug, Default)]
pub struct WorldOptions<'a> {
    /// Time limit of each wait for another rank; none: 10 minutes.
    pub timeout: Option<Duration>,
    /// MPI only: path of libshardwise_mpi.so; none: in the folder of the library.
    pub mpi_plugin: Option<&'a str>,
}

impl WorldOptions<'_> {
    fn raw(&self, strings: &mut Strings) -> Result<sys::shw_world_options> {
        let mut raw = init(sys::shw_world_options_init);
        raw.timeout_ns = self.timeout.map_or(0, nanoseconds);
        raw.mpi_plugin = strings.optional(self.mpi_plugin)?;
        Ok(raw)
    }
}

pub(crate) fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

impl World {
    /// A world whose ranks are all in this process, on the CPU.
    pub fn virtual_ranks(context: &Context, num_ranks: usize, options: &WorldOptions<'_>) -> Result<Self> {
        let (mut strings, ranks) = (Strings::default(), int32("num_ranks", num_ranks)?);
        let raw = options.raw(&mut strings)?;
        // SAFETY: the options live for the call.
        Self::create(&context.keep, |out| unsafe {
            sys::shw_world_create_virtual(context.as_ptr(), ranks, &raw, out)
        })
    }

    /// A new id, for [`World::from_id`].
    pub fn make_id(context: &Context) -> Result<WorldId> {
        let mut id = sys::shw_world_id { bytes: [0; 128] };
        // SAFETY: the out-parameter is valid.
        check(unsafe { sys::shw_world_make_id(context.as_ptr(), &mut id) })?;
        Ok(WorldId(id))
    }

    /// One part of a virtual world, with some of its ranks.
    pub fn from_id(
        context: &Context,
        id: &WorldId,
        num_ranks: usize,
        local_ranks: &[i32],
        options: &WorldOptions<'_>,
    ) -> Result<Self> {
        let (mut strings, ranks) = (Strings::default(), int32("num_ranks", num_ranks)?);
        let raw = options.raw(&mut strings)?;
        // SAFETY: all arguments live for the call.
        Self::create(&context.keep, |out| unsafe {
            let (local, count) = (local_ranks.as_ptr(), local_ranks.len());
            sys::shw_world_create_from_id(context.as_ptr(), &id.0, ranks, local, count, &raw, out)
        })
    }

    /// A world of the processes of MPI_COMM_WORLD, one rank each.
    pub fn mpi(context: &Context, options: &WorldOptions<'_>) -> Result<Self> {
        let mut strings = Strings::default();
        let raw = options.raw(&mut strings)?;
        // SAFETY: the options live for the call.
        Self::create(&context.keep, |out| unsafe { sys::shw_world_create_mpi(context.as_ptr(), &raw, out) })
    }

    /// Number of ranks, in all processes.
    pub fn num_ranks(&self) -> usize {
        // SAFETY: the world is valid.
        unsafe { sys::shw_world_num_ranks(self.as_ptr()) as usize }
    }

    /// The ranks of this process, ascending.
    pub fn local_ranks(&self) -> Vec<usize> {
        // SAFETY: the world is valid.
        unsafe {
            (0..sys::shw_world_num_local_ranks(self.as_ptr()))
                .map(|index| sys::shw_world_local_rank(self.as_ptr(), index) as usize)
                .collect()
        }
    }

    /// Ok if the world works. Otherwise the error with which all its runs fail.
    pub fn status(&self) -> Result<()> {
        // SAFETY: the world is valid.
        check(unsafe { sys::shw_world_status(self.as_ptr()) })
    }

    /// Stops all runs, under way or queued, on all ranks in all processes. The world cannot be used
    /// afterwards.
    pub fn abort(&self) {
        // SAFETY: any thread may call it.
        unsafe { sys::shw_world_abort(self.as_ptr()) }
    }
}
